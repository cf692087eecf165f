//! A directory that is filled beside its place and gets its name when it is whole: under that name there is all of it or
//! nothing, whatever happens meanwhile. What is left of an attempt that was killed, the next one removes.

use super::lock::{Hold, Lock};
use super::{directory_of, flush_directory, give_name, make_directory};
use crate::error::SystemError;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

/// Removed again unless it is given its name.
pub struct Unnamed {
    path: PathBuf,
    target: PathBuf,
    is_named: bool,
    /// Says to other attempts that somebody is at it.
    _lock: Lock,
}

impl Unnamed {
    /// Where a directory is filled that shall have this name.
    pub fn place_for(target: &Path) -> Result<PathBuf, SystemError> {
        let nameless = || SystemError::file("make", target)(io::ErrorKind::InvalidInput.into());
        let mut name = OsString::from(".");
        name.push(target.file_name().ok_or_else(nameless)?);
        name.push(".unfinished");
        Ok(directory_of(target).ok_or_else(nameless)?.join(name))
    }

    /// Empty, whatever an earlier attempt left. Refused while another attempt is under way.
    pub fn beside(target: &Path) -> Result<Unnamed, SystemError> {
        let path = Unnamed::place_for(target)?;
        make_directory(&path)?;
        let lock = Lock::of(&path, Hold::Alone)?;
        if !lock.is_on(&path) {
            // Another attempt has just come to its end.
            return Err(SystemError::Locked { path, holder: None });
        }
        let unnamed = Unnamed { path, target: target.into(), is_named: false, _lock: lock };
        unnamed.clear().map_err(SystemError::file("clear", &unnamed.path))?;
        Ok(unnamed)
    }

    fn clear(&self) -> io::Result<()> {
        for entry in std::fs::read_dir(&self.path)? {
            let entry = entry?;
            match entry.file_type()?.is_dir() {
                true => std::fs::remove_dir_all(entry.path())?,
                false => std::fs::remove_file(entry.path())?,
            }
        }
        Ok(())
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The files in it are flushed; now their names are, and then it gets its own, also in the place of an empty directory.
    pub fn give_name(mut self) -> Result<(), SystemError> {
        flush_directory(&self.path)?;
        give_name(&self.path, &self.target)?;
        self.is_named = true;
        Ok(())
    }
}

impl Drop for Unnamed {
    fn drop(&mut self) {
        if !self.is_named {
            // What stays behind the next attempt removes.
            let _ = std::fs::remove_dir_all(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_has_its_name_when_it_is_whole_and_leaves_nothing_otherwise() {
        let parent = tempfile::tempdir().unwrap();
        let target = parent.path().join("whole");
        let given_up = Unnamed::beside(&target).unwrap();
        std::fs::write(given_up.path().join("half"), "x").unwrap();
        assert!(matches!(Unnamed::beside(&target), Err(SystemError::Locked { .. })), "one attempt at a time");
        drop(given_up);
        assert_eq!(std::fs::read_dir(parent.path()).unwrap().count(), 0);
        // As an attempt leaves it that was killed.
        std::fs::create_dir_all(Unnamed::place_for(&target).unwrap().join("left/behind")).unwrap();
        let whole = Unnamed::beside(&target).unwrap();
        std::fs::write(whole.path().join("file"), "x").unwrap();
        assert!(!target.exists());
        whole.give_name().unwrap();
        assert_eq!(std::fs::read_dir(&target).unwrap().count(), 1);
        assert_eq!(std::fs::read_dir(parent.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_directory_with_something_in_it_is_not_replaced() {
        let parent = tempfile::tempdir().unwrap();
        let target = parent.path().join("full");
        std::fs::create_dir(&target).unwrap();
        std::fs::write(target.join("letter"), "x").unwrap();
        assert!(Unnamed::beside(&target).unwrap().give_name().is_err());
        assert!(target.join("letter").exists());
    }
}
