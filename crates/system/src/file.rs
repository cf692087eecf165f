//! What the standard library does not offer for files: names that survive a crash, files that are their owner's alone, locks
//! that say who holds them, and write-back in pieces.

use crate::error::SystemError;
use rustix::fs::{FlockOperation, flock};
use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io;
use std::ops::Range;
use std::os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt, PermissionsExt};
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

/// A lock on a file, held until dropped or until the process ends, however it ends. The file says who holds it. A forked
/// child shares it, and must not drop it.
pub struct Lock {
    file: File,
    hold: Hold,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Hold {
    /// Nobody else, neither writer nor reader.
    Alone,
    /// Together with other readers.
    Shared,
}

impl Lock {
    /// Fails at once if somebody else holds it.
    pub fn take(path: &Path, hold: Hold) -> Result<Lock, SystemError> {
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).create(true).truncate(false).mode(FILE_MODE).open(path);
        let file = file.map_err(SystemError::file("open", path))?;
        let operation = match hold {
            Hold::Alone => FlockOperation::NonBlockingLockExclusive,
            Hold::Shared => FlockOperation::NonBlockingLockShared,
        };
        match flock(&file, operation) {
            Ok(()) => {}
            Err(rustix::io::Errno::WOULDBLOCK) => {
                return Err(SystemError::Locked { path: path.into(), holder: holder(&file) });
            }
            Err(error) => return Err(SystemError::file("lock", path)(error.into())),
        }
        // Who reads is one of many, and must not leave the name of a writer that was killed.
        let holder = if hold == Hold::Alone { Some(std::process::id()) } else { None };
        if holder.is_some() || !is_blank(&file) {
            write_holder(&file, holder).map_err(SystemError::file("write", path))?;
        }
        Ok(Lock { file, hold })
    }
}

impl Drop for Lock {
    /// Closing is not enough: a process that another thread is just starting still has a copy of the descriptor.
    fn drop(&mut self) {
        if self.hold == Hold::Alone {
            // While it is still ours: the next one writes its own name.
            let _ = write_holder(&self.file, None);
        }
        let _ = flock(&self.file, FlockOperation::Unlock);
    }
}

/// The digits of the longest number of a process, and a line end.
const HOLDER_BYTES: usize = 11;

/// Always over the same bytes: to change a file's size is to wait for the journal of the file system.
fn write_holder(file: &File, holder: Option<u32>) -> io::Result<()> {
    let text = holder.map(|holder| holder.to_string()).unwrap_or_default();
    file.write_all_at(format!("{text:<width$}\n", width = HOLDER_BYTES - 1).as_bytes(), 0)
}

/// The number of the process that holds a lock alone; `SystemError::NOBODY` if none does.
fn holder(file: &File) -> String {
    let mut bytes = [0; HOLDER_BYTES];
    let read = file.read_at(&mut bytes, 0).unwrap_or(0);
    match String::from_utf8_lossy(&bytes[..read]).trim() {
        "" => SystemError::NOBODY.into(),
        text => text.into(),
    }
}

fn is_blank(file: &File) -> bool {
    holder(file) == SystemError::NOBODY
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
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_is_told_who_holds_the_lock() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("lock");
        let held = Lock::take(&path, Hold::Alone).unwrap();
        let refused = Lock::take(&path, Hold::Shared).err().unwrap().to_string();
        assert!(refused.ends_with(&format!("in use by process {}", std::process::id())), "{refused}");
        drop(held);
        let _one = Lock::take(&path, Hold::Shared).unwrap();
        let _two = Lock::take(&path, Hold::Shared).unwrap();
        let refused = Lock::take(&path, Hold::Alone).err().unwrap().to_string();
        assert!(refused.ends_with("in use by a process that only reads"), "{refused}");
    }

    /// The story: whoever came while somebody read was told the process that had written last, which was long dead.
    #[test]
    fn a_holder_that_is_gone_is_not_named() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("lock");
        for left in ["4194304", "123\n", "7         \n", ""] {
            // As one that was killed leaves it, of this version or an older one.
            std::fs::write(&path, left).unwrap();
            let reader = Lock::take(&path, Hold::Shared).unwrap();
            let refused = Lock::take(&path, Hold::Alone).err().unwrap().to_string();
            assert!(refused.ends_with("in use by a process that only reads"), "{left:?}: {refused}");
            drop(reader);
            std::fs::write(&path, left).unwrap();
            let writer = Lock::take(&path, Hold::Alone).unwrap();
            let held = std::fs::read_to_string(&path).unwrap();
            assert_eq!((held.trim(), held.len()), (std::process::id().to_string().as_str(), HOLDER_BYTES));
            drop(writer);
            let freed = std::fs::read_to_string(&path).unwrap();
            assert_eq!((freed.trim(), freed.len()), ("", HOLDER_BYTES), "the file keeps its size");
        }
    }
}
