//! What the standard library does not offer for files: names that survive a crash, files that are their owner's alone, and
//! write-back in pieces. `lock`: locks that say who holds them; `unnamed`: directories that get their name when they are whole.

mod lock;
mod unnamed;

pub use lock::{Hold, Lock, holder_of};
pub use unnamed::Unnamed;

use crate::error::SystemError;
use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io;
use std::ops::Range;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

/// An image is as private as what is said to it.
const FILE_MODE: u32 = 0o600;
const DIRECTORY_MODE: u32 = 0o700;

/// Makes new names in a directory survive a crash.
pub fn flush_directory(path: &Path) -> Result<(), SystemError> {
    let synced = File::open(path).and_then(|directory| directory.sync_all());
    synced.map_err(SystemError::file("flush directory", path))
}

/// Makes a directory and those above it that are missing, their owner's alone, with names that survive a crash.
pub fn make_directory(path: &Path) -> Result<(), SystemError> {
    let parent = directory_of(path);
    if let Some(parent) = parent.filter(|parent| !parent.exists()) {
        make_directory(parent)?;
    }
    match DirBuilder::new().mode(DIRECTORY_MODE).create(path) {
        Ok(()) => parent.map_or(Ok(()), flush_directory),
        Err(_) if path.is_dir() => Ok(()),
        Err(error) => Err(SystemError::file("make", path)(error)),
    }
}

/// Gives a file its name, in the same directory, so that a crash leaves the file with one of its names, and the new one only
/// together with all names that were made before.
pub fn give_name(from: &Path, to: &Path) -> Result<(), SystemError> {
    let directory = directory_of(to).unwrap_or(to);
    flush_directory(directory)?;
    std::fs::rename(from, to).map_err(SystemError::file("make", to))?;
    flush_directory(directory)
}

/// Where a name stands; none for the root.
fn directory_of(path: &Path) -> Option<&Path> {
    path.parent().map(|parent| if parent == Path::new("") { Path::new(".") } else { parent })
}

/// An empty file that is its owner's alone, in the place of one that may be there already.
pub fn create_private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    let file = options.read(true).write(true).create(true).truncate(true).mode(FILE_MODE).open(path)?;
    // The mode above is for new ones.
    file.set_permissions(Permissions::from_mode(FILE_MODE))?;
    Ok(file)
}

/// Sends what is dirty in a range of a file. Errors are left to the flush, which reports them too.
#[cfg(target_os = "linux")]
pub(crate) fn push(file: &File, range: Range<u64>) {
    use std::os::fd::AsRawFd;
    let flags = libc::SYNC_FILE_RANGE_WAIT_BEFORE | libc::SYNC_FILE_RANGE_WRITE | libc::SYNC_FILE_RANGE_WAIT_AFTER;
    let (start, length) = (range.start as libc::off64_t, (range.end - range.start) as libc::off64_t);
    // SAFETY: the call takes numbers only, and the descriptor is open for as long as the file is borrowed.
    unsafe { libc::sync_file_range(file.as_raw_fd(), start, length, flags) };
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn push(_file: &File, _range: Range<u64>) {}

#[cfg(test)]
mod names;
