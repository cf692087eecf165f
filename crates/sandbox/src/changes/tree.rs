//! A directory of the host that a program was let into, reached through one descriptor. Paths come from the sandbox and
//! are hostile: the kernel resolves them below that directory, without links and without other file systems.

use super::digest::{self, Digest};
use crate::error::SandboxError;
use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, ResolveFlags, Stat, openat2, readlinkat, statat};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

pub struct Tree {
    root: OwnedFd,
    device: u64,
    /// For words only.
    pub host: PathBuf,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    File,
    Link,
    Directory,
    /// A socket, a pipe or a device: never touched.
    Other,
}

/// What tells whether something is still what it was.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fingerprint {
    pub kind: Kind,
    pub mode: u32,
    pub owner: (u32, u32),
    device: u64,
    inode: u64,
    pub size: u64,
    modified: (i64, u64),
    changed: (i64, u64),
    /// Of what it holds, where the times alone cannot tell.
    pub content: Option<Digest>,
}

impl Tree {
    pub fn open(host: &Path) -> Result<Tree, SandboxError> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let opened = rustix::fs::open(host, flags, Mode::empty())
            .and_then(|root| rustix::fs::fstat(&root).map(|details| (root, details.st_dev)));
        let (root, device) = opened
            .map_err(|errno| SandboxError::Grant { path: host.into(), why: io::Error::from(errno).to_string() })?;
        Ok(Tree { root, device, host: host.to_path_buf() })
    }

    /// The same where no link may be on the way: somebody may have put one there since the directory was named.
    pub fn open_exactly(host: &Path) -> Result<Tree, SandboxError> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let opened = openat2(CWD, host, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS)
            .and_then(|root| rustix::fs::fstat(&root).map(|details| (root, details.st_dev)));
        let (root, device) = opened.map_err(|errno| {
            let why = match errno {
                Errno::LOOP => "a link is on the way there that was not there before".into(),
                errno => io::Error::from(errno).to_string(),
            };
            SandboxError::Grant { path: host.into(), why }
        })?;
        Ok(Tree { root, device, host: host.to_path_buf() })
    }

    pub fn root(&self) -> BorrowedFd<'_> {
        self.root.as_fd()
    }

    /// The directory that holds it, and its name there.
    pub fn parent<'p>(&self, path: &'p Path) -> Result<(OwnedFd, &'p OsStr), Errno> {
        let name = path.file_name().ok_or(Errno::INVAL)?;
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Ok((self.open_below(parent, OFlags::PATH | OFlags::DIRECTORY)?, name))
    }

    fn open_below(&self, path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_XDEV;
        openat2(&self.root, path, flags | OFlags::CLOEXEC | OFlags::NOFOLLOW, Mode::empty(), resolve)
    }

    /// What is there now; none if nothing is.
    pub fn look(&self, path: &Path) -> Result<Option<Fingerprint>, Errno> {
        let found = self.parent(path).and_then(|(parent, name)| statat(&parent, name, AtFlags::SYMLINK_NOFOLLOW));
        match found {
            Ok(details) => Ok(Some(Fingerprint::new(&details))),
            Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// What a file holds, or where a link leads.
    pub fn content(&self, path: &Path, kind: Kind, limit_bytes: u64) -> io::Result<Vec<u8>> {
        if kind == Kind::Link {
            return Ok(self.target(path)?);
        }
        let mut bytes = Vec::new();
        self.file(path)?.take(limit_bytes + 1).read_to_end(&mut bytes)?;
        match bytes.len() as u64 <= limit_bytes {
            true => Ok(bytes),
            false => Err(io::Error::other(format!("it is longer than {limit_bytes} bytes"))),
        }
    }

    /// Of what a file holds, or of where a link leads; a file of any length takes no more memory than a piece of it.
    pub fn digest(&self, path: &Path, kind: Kind) -> io::Result<Digest> {
        const PIECE_BYTES: usize = 256 << 10;
        if kind == Kind::Link {
            return Ok(digest::of(&self.target(path)?));
        }
        let (mut file, mut digest, mut piece) = (self.file(path)?, Digest::default(), vec![0; PIECE_BYTES]);
        loop {
            match file.read(&mut piece) {
                Ok(0) => return Ok(digest),
                Ok(count) => digest.add(&piece[..count]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn target(&self, path: &Path) -> Result<Vec<u8>, Errno> {
        let (parent, name) = self.parent(path)?;
        Ok(readlinkat(&parent, name, Vec::new())?.into_bytes())
    }

    /// A pipe must not be waited for, nor a device read.
    fn file(&self, path: &Path) -> io::Result<File> {
        let file = File::from(self.open_below(path, OFlags::RDONLY | OFlags::NONBLOCK)?);
        match file.metadata()?.is_file() {
            true => Ok(file),
            false => Err(io::Error::other("it is no file any more")),
        }
    }

    /// Adds what it holds to a fingerprint; one without is never equal to one with it.
    pub fn with_content(&self, path: &Path, mut print: Fingerprint) -> Fingerprint {
        if matches!(print.kind, Kind::File | Kind::Link) {
            print.content = self.digest(path, print.kind).ok();
        }
        print
    }

    /// The names in a directory of this file system; none for one that may not be read.
    pub fn names(&self, path: &Path) -> Vec<PathBuf> {
        let here = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        let Ok(directory) = self.open_below(here, OFlags::RDONLY | OFlags::DIRECTORY).and_then(Dir::new) else {
            return Vec::new();
        };
        let names = directory.flatten().map(|entry| OsStr::from_bytes(entry.file_name().to_bytes()).to_os_string());
        names.filter(|name| name != "." && name != "..").map(|name| path.join(name)).collect()
    }

    /// Whether a directory is walked into.
    pub fn is_own(&self, print: &Fingerprint) -> bool {
        print.kind == Kind::Directory && print.device == self.device
    }
}

impl Fingerprint {
    pub fn new(details: &Stat) -> Fingerprint {
        let kind = match FileType::from_raw_mode(details.st_mode) {
            FileType::RegularFile => Kind::File,
            FileType::Symlink => Kind::Link,
            FileType::Directory => Kind::Directory,
            _ => Kind::Other,
        };
        Fingerprint {
            kind,
            mode: details.st_mode & 0o7777,
            owner: (details.st_uid, details.st_gid),
            device: details.st_dev,
            inode: details.st_ino,
            size: details.st_size as u64,
            modified: (details.st_mtime, details.st_mtime_nsec),
            changed: (details.st_ctime, details.st_ctime_nsec),
            content: None,
        }
    }

    /// Whether the kernel's clock may not have ticked since it was changed: then another change could look the same.
    pub fn is_fresh(&self, now: (i64, u64)) -> bool {
        const TICK_NS: i128 = 50_000_000;
        let nanoseconds = |(seconds, rest): (i64, u64)| i128::from(seconds) * 1_000_000_000 + i128::from(rest);
        nanoseconds(now) - nanoseconds(self.changed) < TICK_NS
    }

    /// Whether something is what it was. Of a directory only that it is the same one: what is in it has its own.
    pub fn is_still(&self, tree: &Tree, path: &Path, now: &Fingerprint) -> bool {
        if self.kind == Kind::Directory {
            return (now.kind, now.mode, now.device, now.inode) == (self.kind, self.mode, self.device, self.inode);
        }
        match self.content {
            Some(_) => *self == tree.with_content(path, now.clone()),
            None => self == now,
        }
    }

    /// The same after it was moved, which changes nothing but a time.
    pub fn is_moved(&self, now: &Fingerprint) -> bool {
        let same = |print: &Fingerprint| (print.kind, print.device, print.inode, print.size, print.modified);
        same(self) == same(now)
    }
}

/// Whether a path stays below the directory that it is counted from.
pub fn is_below(path: &Path) -> bool {
    let mut parts = path.components().peekable();
    parts.peek().is_some() && parts.all(|part| matches!(part, Component::Normal(_)))
}

/// Whether a link leads nowhere outside, as it is written: relative, never above the top, and up only at its beginning. What
/// stands before a later `..` may be a link itself, so that nobody knows where that leads.
pub fn leads_below(path: &Path, target: &Path) -> bool {
    let mut depth = path.components().count().saturating_sub(1);
    let mut has_name = false;
    target.components().all(|part| match part {
        Component::Normal(_) => {
            has_name = true;
            true
        }
        Component::CurDir => true,
        Component::ParentDir => !has_name && depth.checked_sub(1).map(|less| depth = less).is_some(),
        Component::RootDir | Component::Prefix(_) => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_links_that_lead_out_are_known() {
        for path in ["", "..", "a/../b", "/a", "./a/.."] {
            assert!(!is_below(Path::new(path)), "{path}");
        }
        assert!(is_below(Path::new("a/b")));
        for (path, target, is_inside) in [
            ("a", "b", true),
            ("a", "b/../c", false),
            ("leak", "d/d/d/d/../../../etc/hostname", false),
            ("x/z", "y/up/../out", false),
            ("x/y/up", "../..", true),
            ("d/a", "../b", true),
            ("a", "../b", false),
            ("d/a", "../../b", false),
            ("a", "/etc/passwd", false),
            ("d/a", "x/../../../b", false),
        ] {
            assert_eq!(leads_below(Path::new(path), Path::new(target)), is_inside, "{path} -> {target}");
        }
    }

    #[test]
    fn nothing_is_reached_through_a_link() {
        let (outside, inside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::fs::write(outside.path().join("secret"), "x").unwrap();
        std::os::unix::fs::symlink(outside.path(), inside.path().join("way")).unwrap();
        std::os::unix::fs::symlink(outside.path().join("secret"), inside.path().join("file")).unwrap();
        let tree = Tree::open(inside.path()).unwrap();
        assert_eq!(tree.look(Path::new("way/secret")), Ok(None));
        assert!(tree.content(Path::new("way/secret"), Kind::File, 100).is_err());
        assert!(tree.content(Path::new("file"), Kind::File, 100).is_err());
        assert_eq!(tree.names(Path::new("way")), Vec::<PathBuf>::new());
        assert_eq!(tree.look(Path::new("file")).unwrap().unwrap().kind, Kind::Link);
    }
}
