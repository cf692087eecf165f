//! Locks that say who holds them. They are on what a name leads to and not on the name, so that whoever comes by another
//! name, or after the name was given to something else, finds the same lock.

use super::FILE_MODE;
use crate::error::SystemError;
use rustix::fs::{FlockOperation, flock, major, minor};
use rustix::io::Errno;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

/// A lock on a file, held until dropped or until the process ends, however it ends. A forked child shares it, and must not
/// drop it.
pub struct Lock {
    file: File,
    /// Whether the file says who holds it.
    is_noted: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Hold {
    /// Nobody else, neither writer nor reader.
    Alone,
    /// Together with other readers.
    Shared,
}

impl Lock {
    /// Of a file that is there for this only, and says who holds it; made if there is none. Fails at once if somebody else
    /// holds it, and never follows a link: what that leads to would be written over.
    pub fn take(path: &Path) -> Result<Lock, SystemError> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).mode(FILE_MODE).custom_flags(libc::O_NOFOLLOW);
        let file = options.open(path).map_err(|error| match error.raw_os_error() {
            Some(libc::ELOOP) => SystemError::Link(path.into()),
            _ => SystemError::file("open", path)(error),
        })?;
        hold_file(&file, path, Hold::Alone, |file| noted(file).or_else(|| holder(file)))?;
        note(&file, Some(std::process::id())).map_err(SystemError::file("write", path))?;
        Ok(Lock { file, is_noted: true })
    }

    /// Of a file that is there for something else, or of a directory; nothing is written. Fails at once if somebody else
    /// holds it.
    pub fn of(path: &Path, hold: Hold) -> Result<Lock, SystemError> {
        let file = File::open(path).map_err(SystemError::file("open", path))?;
        hold_file(&file, path, hold, holder)?;
        Ok(Lock { file, is_noted: false })
    }

    pub(super) fn is_on(&self, path: &Path) -> bool {
        let place = |metadata: io::Result<std::fs::Metadata>| metadata.map(|found| (found.dev(), found.ino())).ok();
        place(self.file.metadata()).is_some_and(|ours| place(path.metadata()) == Some(ours))
    }
}

impl Drop for Lock {
    /// Closing is not enough: a process that another thread is just starting still has a copy of the descriptor.
    fn drop(&mut self) {
        if self.is_noted {
            // While it is still ours: the next one writes its own name.
            let _ = note(&self.file, None);
        }
        let _ = flock(&self.file, FlockOperation::Unlock);
    }
}

fn hold_file(file: &File, path: &Path, hold: Hold, ask: impl Fn(&File) -> Option<u32>) -> Result<(), SystemError> {
    let operation = match hold {
        Hold::Alone => FlockOperation::NonBlockingLockExclusive,
        Hold::Shared => FlockOperation::NonBlockingLockShared,
    };
    // Who is nobody has just let go of it, mostly.
    for is_last in [false, true] {
        match flock(file, operation) {
            Ok(()) => return Ok(()),
            Err(Errno::WOULDBLOCK) => {}
            Err(error) => return Err(SystemError::file("lock", path)(error.into())),
        }
        let holder = ask(file);
        if holder.is_some() || is_last {
            return Err(SystemError::Locked { path: path.into(), holder });
        }
    }
    unreachable!("the last attempt returns")
}

/// The process that holds a lock on what a path leads to, as the kernel tells; none if nobody does, or the kernel does not
/// say. Takes no lock, and so is in nobody's way.
pub fn holder_of(path: &Path) -> Option<u32> {
    holder(&File::open(path).ok()?)
}

fn holder(file: &File) -> Option<u32> {
    let found = file.metadata().ok()?;
    let place = format!("{:02x}:{:02x}:{}", major(found.dev()), minor(found.dev()), found.ino());
    let locks = std::fs::read_to_string("/proc/locks").ok()?;
    locks.lines().find_map(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        match fields[..] {
            [_, "FLOCK", _, _, process, at, ..] if at == place => process.parse().ok(),
            _ => None,
        }
    })
}

/// The digits of the longest number of a process, and a line end.
const NOTE_BYTES: usize = 11;

/// Always over the same bytes: to change a file's size is to wait for the journal of the file system.
fn note(file: &File, holder: Option<u32>) -> io::Result<()> {
    let text = holder.map(|holder| holder.to_string()).unwrap_or_default();
    file.write_all_at(format!("{text:<width$}\n", width = NOTE_BYTES - 1).as_bytes(), 0)
}

fn noted(file: &File) -> Option<u32> {
    let mut bytes = [0; NOTE_BYTES];
    let read = file.read_at(&mut bytes, 0).unwrap_or(0);
    String::from_utf8_lossy(&bytes[..read]).trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_is_told_who_holds_the_lock() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("lock");
        let told = format!("in use by process {}", std::process::id());
        let held = Lock::take(&path).unwrap();
        let refused = Lock::take(&path).err().unwrap().to_string();
        assert!(refused.ends_with(&told), "{refused}");
        drop(held);
        let _one = Lock::of(&path, Hold::Shared).unwrap();
        let _two = Lock::of(&path, Hold::Shared).unwrap();
        let refused = Lock::of(&path, Hold::Alone).err().unwrap().to_string();
        assert!(refused.ends_with(&told), "{refused}");
        assert_eq!(holder_of(&path), Some(std::process::id()));
        assert_eq!(holder_of(directory.path()), None);
    }

    #[test]
    fn a_lock_is_on_what_all_names_of_a_file_lead_to() {
        let directory = tempfile::tempdir().unwrap();
        let [path, hard, soft] = ["file", "hard", "soft"].map(|name| directory.path().join(name));
        std::fs::write(&path, "data").unwrap();
        std::fs::hard_link(&path, &hard).unwrap();
        std::os::unix::fs::symlink(&path, &soft).unwrap();
        let held = Lock::of(&path, Hold::Alone).unwrap();
        for name in [&hard, &soft] {
            assert!(matches!(Lock::of(name, Hold::Shared), Err(SystemError::Locked { .. })));
        }
        drop(held);
        assert_eq!(std::fs::read(&path).unwrap(), b"data");
    }

    #[test]
    fn who_held_it_last_is_written_over_and_the_file_keeps_its_size() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("lock");
        for left in ["4194304", "123\n", "7         \n", ""] {
            // As one that was killed leaves it, of this version or an older one.
            std::fs::write(&path, left).unwrap();
            let writer = Lock::take(&path).unwrap();
            let held = std::fs::read_to_string(&path).unwrap();
            assert_eq!((held.trim(), held.len()), (std::process::id().to_string().as_str(), NOTE_BYTES));
            drop(writer);
            let freed = std::fs::read_to_string(&path).unwrap();
            assert_eq!((freed.trim(), freed.len()), ("", NOTE_BYTES));
        }
    }

    /// The story: whatever the name of the lock led to was written over.
    #[test]
    fn a_lock_that_says_who_holds_it_is_never_a_link() {
        let directory = tempfile::tempdir().unwrap();
        let [precious, path] = ["precious", "lock"].map(|name| directory.path().join(name));
        std::fs::write(&precious, "a letter that is kept").unwrap();
        std::os::unix::fs::symlink(&precious, &path).unwrap();
        let refused = Lock::take(&path).err().unwrap().to_string();
        assert!(refused.contains("symbolic link"), "{refused}");
        assert_eq!(std::fs::read(&precious).unwrap(), b"a letter that is kept");
    }
}
