//! What a run wrote, read from the layers that its writes went to, after its end.
//!
//! All of it is hostile: nothing is followed, nothing is entered that another file system is mounted on, and no more is read
//! than the run could have written.

use crate::outcome::{ChangeKind, Changed};
use rustix::fs::{
    AtFlags, Dir, FileType, Mode, OFlags, ResolveFlags, Stat, chmodat, fgetxattr, openat2, readlinkat, statat,
};
use rustix::io::{Errno, Result as Answer};
use std::ffi::{CStr, CString, OsStr};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// No run can have written more where nobody set a limit.
const MOST_BYTES: u64 = 4 << 30;
/// Directories in directories.
const MOST_DEPTH: usize = 512;
/// Says that a directory hides the one below it.
pub const OPAQUE: &CStr = c"user.overlay.opaque";

/// Reads layers, all of them together within one bound.
pub struct Reader {
    pub changes: Vec<Changed>,
    left_bytes: u64,
}

impl Reader {
    /// `most_bytes` is what the run could have written; holes in files take no room there, but would here.
    pub fn new(most_bytes: Option<u64>) -> Reader {
        Reader { changes: Vec::new(), left_bytes: most_bytes.unwrap_or(MOST_BYTES) }
    }

    pub fn read(&mut self, grant: usize, upper: &OwnedFd) {
        // Each with its place among the changes.
        let mut waiting = vec![(None, PathBuf::new())];
        while let Some((number, directory)) = waiting.pop() {
            let names = match names(upper, &directory) {
                Ok(names) if names.is_empty() || directory.components().count() < MOST_DEPTH => names,
                Ok(_) => self.give_up(number, grant, "it is deeper than directories may be"),
                Err(errno) => self.give_up(number, grant, &format!("what is in it is not known: {errno}")),
            };
            for name in names {
                let path = directory.join(OsStr::from_bytes(name.as_bytes()));
                let kind = self.look(upper, &path).unwrap_or_else(|errno| unreadable(&errno.to_string()));
                if matches!(kind, ChangeKind::Directory { .. }) {
                    waiting.push((Some(self.changes.len()), path.clone()));
                }
                self.changes.push(Changed { grant, path, kind });
            }
        }
    }

    /// Whoever is told of a directory must know that not all that is in it was told.
    fn give_up(&mut self, number: Option<usize>, grant: usize, why: &str) -> Vec<CString> {
        match number.and_then(|number| self.changes.get_mut(number)) {
            Some(directory) => directory.kind = unreadable(why),
            None => self.changes.push(Changed { grant, path: PathBuf::new(), kind: unreadable(why) }),
        }
        Vec::new()
    }

    fn look(&mut self, upper: &OwnedFd, path: &Path) -> Answer<ChangeKind> {
        let parent = open(upper, path.parent().unwrap_or(Path::new("")), OFlags::PATH | OFlags::DIRECTORY)?;
        let name = path.file_name().ok_or(Errno::INVAL)?;
        let about = statat(&parent, name, AtFlags::SYMLINK_NOFOLLOW)?;
        let mode = about.st_mode & 0o7777;
        Ok(match FileType::from_raw_mode(about.st_mode) {
            FileType::RegularFile => self.file(&parent, name, &about, mode)?,
            FileType::Directory => {
                let opened = self.open_own(&parent, name, &about, OFlags::RDONLY | OFlags::DIRECTORY)?;
                let mut value = [0u8; 4];
                let replaces =
                    fgetxattr(&opened, OPAQUE, &mut value[..]).is_ok_and(|count| count == 1 && value[0] == b'y');
                ChangeKind::Directory { mode, replaces }
            }
            FileType::Symlink => {
                let target = readlinkat(&parent, name, Vec::new())?;
                ChangeKind::Link { target: OsStr::from_bytes(target.as_bytes()).into() }
            }
            FileType::CharacterDevice if about.st_rdev == 0 => ChangeKind::Removed,
            other => unreadable(&format!("it is neither a file nor a directory nor a link but a {other:?}")),
        })
    }

    fn file(&mut self, parent: &OwnedFd, name: &OsStr, about: &Stat, mode: u32) -> Answer<ChangeKind> {
        let size = about.st_size as u64;
        if size > self.left_bytes {
            return Ok(unreadable("it and the files before it are larger than what may be written"));
        }
        let file = self.open_own(parent, name, about, OFlags::RDONLY | OFlags::NONBLOCK)?;
        let mut bytes = Vec::with_capacity(size as usize);
        rustix::io::retry_on_intr(|| read_to_end(&file, &mut bytes, size as usize))?;
        self.left_bytes -= bytes.len() as u64;
        Ok(ChangeKind::File { bytes, mode })
    }

    /// What is ours can be opened whatever the run made of its permissions: nobody looks at them any more.
    fn open_own(&self, parent: &OwnedFd, name: &OsStr, about: &Stat, flags: OFlags) -> Answer<OwnedFd> {
        let path = Path::new(name);
        match open(parent, path, flags) {
            Err(Errno::ACCESS) => {
                let mode = Mode::from_raw_mode(about.st_mode & 0o777 | 0o500);
                chmodat(parent, path, mode, AtFlags::empty())?;
                open(parent, path, flags)
            }
            answer => answer,
        }
    }
}

fn unreadable(why: &str) -> ChangeKind {
    ChangeKind::Unreadable { why: why.into() }
}

fn read_to_end(file: &OwnedFd, bytes: &mut Vec<u8>, size: usize) -> Answer<()> {
    while bytes.len() < size {
        let old = bytes.len();
        bytes.resize(size, 0);
        let count = rustix::io::read(file, bytes.get_mut(old..).unwrap_or_default());
        bytes.truncate(old + count.unwrap_or(0));
        if count? == 0 {
            break;
        }
    }
    Ok(())
}

fn open(directory: impl AsFd, path: &Path, flags: OFlags) -> Answer<OwnedFd> {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_XDEV;
    openat2(directory, path, flags | OFlags::CLOEXEC | OFlags::NOFOLLOW, Mode::empty(), resolve)
}

/// In the order of their bytes, so that the same run tells the same.
fn names(upper: &OwnedFd, directory: &Path) -> Answer<Vec<CString>> {
    let opened = open(upper, directory, OFlags::RDONLY | OFlags::DIRECTORY)?;
    let mut names = Vec::new();
    for entry in Dir::read_from(&opened)? {
        let entry = entry?;
        let name = entry.file_name();
        if name != c"." && name != c".." {
            names.push(name.to_owned());
        }
    }
    names.sort();
    Ok(names)
}
