//! What can go wrong with an image, beside what a program does wrong.

use store::StoreError;

#[derive(Debug, thiserror::Error)]
pub enum ImageError {
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The program ended without a value; what it wrote was taken back.
    #[error(transparent)]
    Program(#[from] language::Error),
    /// An object could not be loaded; what was written was taken back.
    #[error("the image is damaged: {0}")]
    Damaged(String),
    #[error("the program brought the machine down ({0}); what it wrote was taken back")]
    Panicked(String),
    #[error("the image has no root: it was never completely born")]
    Unborn,
    #[error("commit {0} is not in the history")]
    NoCommit(u64),
    /// Somebody set the machine's interrupt while it was looking through the history.
    #[error("interrupted; nothing was changed")]
    Interrupted,
    #[error("the commit cannot be taken back: {0}")]
    NotReverted(String),
    #[error("the dream cannot be merged: {0}")]
    NotMerged(String),
    /// The image has other commits than the one that the merge was planned for.
    #[error("the merge was planned for commit {planned}, and the image is at commit {now}")]
    MovedOn { planned: u64, now: u64 },
    /// What was to be committed changes something that the guard holds; nothing was changed.
    #[error("{0} is locked, and changes only with a person's token; nothing was done")]
    Locked(String),
    #[error("the conflict cannot be resolved: {0}")]
    NotResolved(String),
}
