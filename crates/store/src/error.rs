//! What can go wrong with a store, each with the file or the object it is about.

use object::change::{ChangeError, ChangeId, ObjectId};
use std::io;
use std::path::{Path, PathBuf};
use system::SystemError;

/// What is left to do when a file is damaged.
const ADVICE: &str = "; restore it from a backup";

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error(transparent)]
    System(#[from] SystemError),
    #[error("cannot {action} {}: {source}", path.display())]
    File { action: &'static str, path: PathBuf, source: io::Error },
    #[error("{} is damaged: {what}{ADVICE}", path.display())]
    Corrupt { path: PathBuf, what: String },
    #[error("object {object} in {} is damaged: {source}{ADVICE}", path.display())]
    CorruptObject { object: ObjectId, path: PathBuf, source: ChangeError },
    #[error("{} has format {found}, newer than the {known} that this program understands", path.display())]
    Version { path: PathBuf, found: u32, known: u32 },
    #[error("{} holds a store already", .0.display())]
    Exists(PathBuf),
    #[error("{} holds no store", .0.display())]
    Missing(PathBuf),
    #[error("{} has an image but no log, and the log has its last commits; restore it from a backup", .0.display())]
    LogLost(PathBuf),
    #[error("{} has a log but no image; restore it from a backup", .0.display())]
    ImageLost(PathBuf),
    #[error("{} is not empty; a backup needs a directory of its own", .0.display())]
    NotEmpty(PathBuf),
    /// A write or flush failed earlier. Nobody knows what is on the medium, so nothing is written until it is opened again.
    #[error(
        "the store takes no commits since a failure: {0}; see to that (make room, if there is none), then stop the image and start it again: what was acknowledged is not lost"
    )]
    Latched(String),
    #[error("the store is open for reading only")]
    ReadOnly,
    #[error("a commit of {bytes} bytes exceeds the log, which takes {most}")]
    TooLarge { bytes: u64, most: u64 },
    #[error("the log is full: {used} of {most} bytes wait for the checkpoint")]
    Full { used: u64, most: u64 },
    #[error("the commit begins with change {found}, but the next one is {expected}")]
    Order { expected: ChangeId, found: ChangeId },
    #[error("commit {commit} does not fit object {object}: {source}")]
    Unfit { commit: u64, object: ObjectId, source: ChangeError },
    #[error("commit {commit} changes object {object}, which does not exist")]
    Unknown { commit: u64, object: ObjectId },
    #[error("commit {0} is not in the history any more, so that what was before it cannot be made again")]
    Forgotten(u64),
    #[error("the process cannot be copied: {0}; there may be too many processes, or too little memory")]
    Fork(io::Error),
    #[error(transparent)]
    Change(#[from] ChangeError),
}

impl StoreError {
    pub(crate) fn file<'p>(action: &'static str, path: &'p Path) -> impl FnOnce(io::Error) -> StoreError + 'p {
        move |source| StoreError::File { action, path: path.into(), source }
    }

    /// Without advice, for whoever tells many at once.
    pub(crate) fn finding(&self) -> String {
        let words = self.to_string();
        words.strip_suffix(ADVICE).map(String::from).unwrap_or(words)
    }

    pub(crate) fn corrupt(path: &Path, what: impl Into<String>) -> StoreError {
        StoreError::Corrupt { path: path.into(), what: what.into() }
    }
}
