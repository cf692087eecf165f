//! What can go wrong with kept dreams, each with the file that it is about and what to do.

use crate::journal::JournalError;
use std::io;
use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum DreamError {
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error("cannot {action} {}: {source}", path.display())]
    File { action: &'static str, path: PathBuf, source: io::Error },
    #[error("{0:?} names no dream; names are such as d7, and `telos dream list` has them all")]
    NoName(String),
    #[error("there is no dream {0}; `telos dream list` has them all")]
    Missing(String),
    #[error("{} is there already; where an image was restored from a backup, move the dreams of later days away", .0.display())]
    Exists(PathBuf),
    #[error("{} is no kept dream: {why}; move it away", path.display())]
    Foreign { path: PathBuf, why: &'static str },
    #[error("{} has format {found}, newer than the {known} that this program understands", path.display())]
    Version { path: PathBuf, found: u32, known: u32 },
    #[error("{} is a dream of another image", .0.display())]
    OtherImage(PathBuf),
    #[error("{} is damaged at byte {at}: {what}; discard it, or restore it from a backup", path.display())]
    Damaged { path: PathBuf, at: u64, what: String },
    #[error("the dream could not be sealed: {0}")]
    Seal(sandbox::SandboxError),
    #[error("{id} is {most} dreams deep already: no other may be begun inside of it")]
    TooDeep { id: String, most: usize },
    #[error("dream {id} could not be made: {why}")]
    Unmade { id: String, why: String },
    #[error("dream {0} is running; end it first")]
    Running(String),
    #[error("the {what} of a dream has {bytes} bytes, more than the {most} that are allowed")]
    TooLong { what: &'static str, bytes: usize, most: usize },
}

impl DreamError {
    pub(crate) fn file<'p, E: Into<io::Error>>(
        action: &'static str,
        path: &'p Path,
    ) -> impl FnOnce(E) -> DreamError + 'p {
        move |source| DreamError::File { action, path: path.into(), source: source.into() }
    }
}
