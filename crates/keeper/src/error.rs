//! What can go wrong between a client, the keeper and the image process. Each says what to do about it.

use std::io;
use std::path::{Path, PathBuf};
use system::shell::quoted;

#[derive(Debug, thiserror::Error)]
pub enum KeeperError {
    #[error("no image is up in {}; start it with `telos up {}`", .0.display(), quoted(.0))]
    NotUp(PathBuf),
    #[error("the image in {} is up already, as process {pid}; `telos send` talks to it, `kill {pid}` stops it", directory.display())]
    IsUp { directory: PathBuf, pid: i32 },
    #[error("another process is starting or stopping the image in {}; try again in a moment", .0.display())]
    Changing(PathBuf),
    #[error("process {pid} has the image in {} and nobody can reach it: it is starting or stopping, or its socket was removed; try again in a moment, or end it with `kill {pid}`", directory.display())]
    Unreachable { directory: PathBuf, pid: u32 },
    #[error("{} belongs to another user: only they and root may talk to it", .0.display())]
    NotYours(PathBuf),
    #[error("{} is not a socket; move it away, the keeper's socket belongs there", .0.display())]
    NotASocket(PathBuf),
    #[error("cannot {action} {}: {source}", path.display())]
    File { action: &'static str, path: PathBuf, source: io::Error },
    #[error("cannot {action}: {source}")]
    System { action: &'static str, source: io::Error },
    #[error("the keeper refused: {0}")]
    Refused(String),
    #[error("the keeper went away; whether the request was committed is not known, look with `telos log`")]
    KeeperGone,
    #[error(
        "the keeper ({keeper}) does not answer: it was halted, or the system is overloaded; `kill -CONT` lets a halted process go on. Whether what was sent will be done is not known"
    )]
    Silent { keeper: String },
    #[error("not what this protocol says: {0}")]
    Protocol(String),
    #[error("{message}")]
    ImageFailed { message: String },
    #[error("the image process {pid} ended: {cause}")]
    ImageLost { pid: u32, cause: String },
    #[error(
        "the image process {pid} did not stop in the time that it was given, and its keeper killed it; nothing acknowledged is lost"
    )]
    ImageStuck { pid: u32 },
    #[error("the image process is started by `telos up`, not by hand")]
    NoPair,
    #[error("the image in {} has no token; `telos token new` makes one", .0.display())]
    NoToken(PathBuf),
    #[error("{0}")]
    NotAllowed(String),
    #[error("that is not the token of the image in {}", .0.display())]
    WrongToken(PathBuf),
    #[error("cannot go by {}: {why}", path.display())]
    Token { path: PathBuf, why: String },
}

impl KeeperError {
    pub(crate) fn file<'p>(action: &'static str, path: &'p Path) -> impl FnOnce(io::Error) -> KeeperError + 'p {
        move |source| KeeperError::File { action, path: path.into(), source }
    }

    pub(crate) fn system<E: Into<io::Error>>(action: &'static str) -> impl FnOnce(E) -> KeeperError {
        move |source| KeeperError::System { action, source: source.into() }
    }
}
