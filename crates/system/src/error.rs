//! What the kernel and LMDB may answer.

use std::io;
use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum SystemError {
    #[error("cannot {action} {}: {source}", path.display())]
    File { action: &'static str, path: PathBuf, source: io::Error },
    /// By a process, if it is known which.
    #[error("{} is in use by {}", path.display(), named(*holder))]
    Locked { path: PathBuf, holder: Option<u32> },
    #[error("{} is a symbolic link, and what it leads to would be written over; remove the link", .0.display())]
    Link(PathBuf),
    #[error("{} is no file; move it away, the table of the image's readers belongs there", .0.display())]
    NotAFile(PathBuf),
    /// What the B+tree library says, by its number.
    #[error("cannot {action} {}: {message}", path.display())]
    Tree { action: &'static str, path: PathBuf, message: String, code: i32 },
    #[error("{} is no image: {reason}; restore it from a backup", path.display())]
    NoImage { path: PathBuf, reason: &'static str },
}

fn named(holder: Option<u32>) -> String {
    holder.map_or("another process".into(), |number| format!("process {number}"))
}

impl SystemError {
    pub(crate) fn file<'p>(
        action: &'static str,
        path: &'p std::path::Path,
    ) -> impl FnOnce(io::Error) -> SystemError + 'p {
        move |source| SystemError::File { action, path: path.into(), source }
    }

    /// Whether the disk, or what the process may use of it, is full.
    pub fn is_full(&self) -> bool {
        match self {
            SystemError::File { source, .. } => source.kind() == io::ErrorKind::StorageFull,
            SystemError::Tree { code, .. } => *code == libc::ENOSPC || *code == lmdb_master_sys::MDB_MAP_FULL,
            _ => false,
        }
    }
}
