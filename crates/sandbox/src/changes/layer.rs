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
/// What is read of a file at once.
const PIECE_BYTES: usize = 1 << 20;
/// Directories in directories.
const MOST_DEPTH: usize = 512;
/// Says that a directory hides the one below it.
pub const OPAQUE: &CStr = c"user.overlay.opaque";

/// The same, as a file in it, and what fuse-overlayfs puts beside that.
const OPAQUE_FILES: [&CStr; 2] = [c".wh..wh..opq", c".wh..opq"];

/// How a layer says that a directory hides the one below it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Marks {
    /// As the kernel's overlay does for users.
    Attributes,
    /// As fuse-overlayfs does, which nobody inside can: it has no files of such names for them.
    Files,
}

impl Marks {
    fn has(self, name: &CStr) -> bool {
        self == Marks::Files && OPAQUE_FILES.contains(&name)
    }
}

/// Reads layers, all of them together within one bound.
pub struct Reader {
    pub changes: Vec<Changed>,
    left_bytes: u64,
    marks: Marks,
}

impl Reader {
    /// `most_bytes` is what the run could have written; holes in files take no room there, but would here.
    pub fn new(most_bytes: Option<u64>, marks: Marks) -> Reader {
        Reader { changes: Vec::new(), left_bytes: most_bytes.unwrap_or(MOST_BYTES), marks }
    }

    pub fn read(&mut self, grant: usize, upper: &OwnedFd) {
        // Each with its place among the changes.
        let mut waiting = vec![(None, PathBuf::new())];
        while let Some((number, directory)) = waiting.pop() {
            let names = match names(upper, &directory) {
                Ok(names) if names.is_empty() || directory.components().count() < MOST_DEPTH => names,
                Ok(_) => self.give_up(number, grant, &format!("it lies in {MOST_DEPTH} directories or more")),
                Err(errno) => self.give_up(number, grant, &format!("what is in it is not known: {errno}")),
            };
            let marks = self.marks;
            for name in names.into_iter().filter(|name| !marks.has(name)) {
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
                ChangeKind::Directory { mode, replaces: self.is_opaque(&opened) }
            }
            FileType::Symlink => {
                let target = readlinkat(&parent, name, Vec::new())?;
                ChangeKind::Link { target: OsStr::from_bytes(target.as_bytes()).into() }
            }
            FileType::CharacterDevice if about.st_rdev == 0 => ChangeKind::Removed,
            other => unreadable(&format!("it is neither a file nor a directory nor a link but a {other:?}")),
        })
    }

    fn is_opaque(&self, directory: &OwnedFd) -> bool {
        let mut value = [0u8; 4];
        match self.marks {
            Marks::Attributes => {
                fgetxattr(directory, OPAQUE, &mut value[..]).is_ok_and(|count| count == 1 && value[0] == b'y')
            }
            Marks::Files => OPAQUE_FILES.iter().any(|mark| statat(directory, *mark, AtFlags::SYMLINK_NOFOLLOW).is_ok()),
        }
    }

    fn file(&mut self, parent: &OwnedFd, name: &OsStr, about: &Stat, mode: u32) -> Answer<ChangeKind> {
        let size = about.st_size as u64;
        if size > self.left_bytes {
            return Ok(unreadable("it and the files before it are larger than what may be written"));
        }
        let file = self.open_own(parent, name, about, OFlags::RDONLY | OFlags::NONBLOCK)?;
        let bytes = read_to_end(&file, size as usize)?;
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

/// Piece by piece: a file with holes says that it is as long as it likes, and memory may end before.
fn read_to_end(file: &OwnedFd, size: usize) -> Answer<Vec<u8>> {
    let mut bytes = Vec::new();
    while bytes.len() < size {
        let old = bytes.len();
        let piece = PIECE_BYTES.min(size - old);
        bytes.try_reserve(piece).map_err(|_| Errno::NOMEM)?;
        bytes.resize(old + piece, 0);
        let place = bytes.get_mut(old..).unwrap_or_default();
        let count = rustix::io::retry_on_intr(|| rustix::io::read(file, &mut *place))?;
        bytes.truncate(old + count);
        if count == 0 {
            break;
        }
    }
    Ok(bytes)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_too_deep_is_told_and_not_left_out() {
        let ground = tempfile::tempdir().unwrap();
        let deep = PathBuf::from(vec!["d"; MOST_DEPTH + 8].join("/"));
        std::fs::create_dir_all(ground.path().join(&deep)).unwrap();
        std::fs::write(ground.path().join(&deep).join("lost"), "x").unwrap();
        let mut reader = Reader::new(None, Marks::Attributes);
        reader.read(7, &OwnedFd::from(std::fs::File::open(ground.path()).unwrap()));
        let last = reader.changes.last().unwrap();
        assert!(last.path.components().count() == MOST_DEPTH && reader.changes.len() == MOST_DEPTH);
        assert!(matches!(&last.kind, ChangeKind::Unreadable { why } if why.contains("512")), "{:?}", last.kind);
    }

    #[test]
    fn a_directory_that_cannot_be_listed_is_told() {
        let file = tempfile::tempfile().unwrap();
        let mut reader = Reader::new(None, Marks::Attributes);
        reader.read(0, &OwnedFd::from(file));
        assert!(matches!(&reader.changes[..], [Changed { kind: ChangeKind::Unreadable { .. }, .. }]));
    }

    #[test]
    fn a_file_with_holes_is_read_as_long_as_it_is() {
        let ground = tempfile::tempdir().unwrap();
        let file = std::fs::File::create(ground.path().join("holes")).unwrap();
        file.set_len(3 * PIECE_BYTES as u64 + 5).unwrap();
        let mut reader = Reader::new(None, Marks::Attributes);
        reader.read(0, &OwnedFd::from(std::fs::File::open(ground.path()).unwrap()));
        let ChangeKind::File { bytes, .. } = &reader.changes[0].kind else { panic!("{:?}", reader.changes) };
        assert!(bytes.len() == 3 * PIECE_BYTES + 5 && bytes.iter().all(|byte| *byte == 0));
    }
}
