//! Files of dreams: plain files below directories of the house. The kernel is told to stay beneath and to follow no
//! link, so nobody who moves things meanwhile can lead us elsewhere.

use super::{Writing, failure, listed, read_all, write_all};
use crate::call::Call;
use crate::error::Refusal;
use crate::house::House;
use crate::value::Value;
use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, ResolveFlags, openat, openat2, statat, unlinkat};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};

const BYTES_MAX: u64 = 8 << 20;

pub fn beneath(house: &House, call: &Call) -> Result<Vec<Value>, Refusal> {
    let path = call.path(0)?;
    let find = |directories: &[PathBuf], list| Place::find(call, path, directories, list);
    let readable = || find(&house.readable, "read");
    let writable = || find(&house.writable, "write");
    match call.name.as_str() {
        "File.read" => read_all(call, readable()?.plain_file(OFlags::RDONLY)?, BYTES_MAX),
        "File.exists" => readable()?.exists(),
        "Directory.list" => readable()?.names(),
        "File.write" => writable()?.write(Writing::Anew),
        "File.append" => writable()?.write(Writing::AtEnd),
        "File.remove" => writable()?.remove(),
        other => Err(Refusal::failed(format!("`{other}` is no call of files"))),
    }
}

/// Something below a directory of the house, or such a directory itself.
struct Place<'a> {
    call: &'a Call,
    root: OwnedFd,
    /// From there; `.` for the directory itself.
    path: &'a Path,
}

impl<'a> Place<'a> {
    fn find(call: &'a Call, path: &'a Path, directories: &[PathBuf], list: &str) -> Result<Place<'a>, Refusal> {
        let is_plain = |part: Component<'_>| matches!(part, Component::RootDir | Component::Normal(_));
        if !path.is_absolute() || !path.components().all(is_plain) {
            return Err(Refusal::blocked("a path of a dream begins with / and is without `..`; write it so"));
        }
        let below = directories.iter().filter_map(|directory| Some((directory, path.strip_prefix(directory).ok()?)));
        let nearest = below.min_by_key(|(_, rest)| rest.components().count());
        let (directory, rest) = nearest.ok_or_else(|| {
            Refusal::blocked(format!(
                "the house does not let dreams {list} there; `{list}` of [files] in broker.toml names directories"
            ))
        })?;
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let root = openat(CWD, directory, flags, Mode::empty()).map_err(|error| failure(call, &error.into()))?;
        let path = if rest.as_os_str().is_empty() { Path::new(".") } else { rest };
        Ok(Place { call, root, path })
    }

    fn open(&self, path: &Path, flags: OFlags, mode: Mode) -> Result<OwnedFd, Errno> {
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS | ResolveFlags::NO_SYMLINKS;
        // The kernel takes these only where something is really opened.
        let careful = OFlags::NOCTTY | OFlags::NONBLOCK;
        let careful = if flags.contains(OFlags::PATH) { OFlags::empty() } else { careful };
        openat2(&self.root, path, flags | careful | OFlags::CLOEXEC, mode, resolve)
    }

    fn failed(&self, errno: Errno) -> Refusal {
        match errno {
            Errno::LOOP | Errno::XDEV => Refusal::blocked("a link stands in this path, and dreams follow none"),
            _ => failure(self.call, &errno.into()),
        }
    }

    fn not_plain(&self) -> Refusal {
        Refusal::blocked(format!("`{}` of a dream is for plain files only, and this is none", self.call.name))
    }

    /// Looked at before it is opened: opening a device can do something.
    fn kind(&self, path: &Path) -> Result<FileType, Errno> {
        let found = self.open(path, OFlags::PATH | OFlags::NOFOLLOW, Mode::empty())?;
        Ok(FileType::from_raw_mode(rustix::fs::fstat(found)?.st_mode))
    }

    fn plain_file(&self, flags: OFlags) -> Result<File, Refusal> {
        match self.kind(self.path) {
            Ok(FileType::RegularFile) => {}
            Ok(FileType::Symlink) => return Err(self.failed(Errno::LOOP)),
            Ok(_) => return Err(self.not_plain()),
            Err(Errno::NOENT) if flags.contains(OFlags::CREATE) => {}
            Err(errno) => return Err(self.failed(errno)),
        }
        let mode = if flags.contains(OFlags::CREATE) { Mode::from_raw_mode(0o644) } else { Mode::empty() };
        let file = File::from(self.open(self.path, flags, mode).map_err(|errno| self.failed(errno))?);
        if super::is_plain(&file) { Ok(file) } else { Err(self.not_plain()) }
    }

    fn exists(&self) -> Result<Vec<Value>, Refusal> {
        match self.kind(self.path) {
            Ok(_) => Ok(vec![Value::Number(1.0)]),
            Err(Errno::NOENT | Errno::NOTDIR) => Ok(vec![Value::Number(0.0)]),
            Err(errno) => Err(self.failed(errno)),
        }
    }

    fn names(&self) -> Result<Vec<Value>, Refusal> {
        let directory = self.open(self.path, OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty());
        let directory = Dir::new(directory.map_err(|errno| self.failed(errno))?).map_err(|errno| self.failed(errno))?;
        let names = directory.map(|entry| Ok(entry?.file_name().to_bytes().to_vec()));
        listed(self.call, names.filter(|name| !matches!(name.as_deref(), Ok(b"." | b".."))))
    }

    fn write(&self, writing: Writing) -> Result<Vec<Value>, Refusal> {
        let bytes = self.call.bytes(1, "what is written")?;
        let too_big = || {
            let limit_mib = BYTES_MAX >> 20;
            Refusal::failed(format!("`{}`: a file of a dream has at most {limit_mib} MiB", self.call.name))
        };
        if bytes.len() as u64 > BYTES_MAX {
            return Err(too_big());
        }
        let end = if writing == Writing::AtEnd { OFlags::APPEND } else { OFlags::empty() };
        let file = self.plain_file(OFlags::WRONLY | OFlags::CREATE | end)?;
        let held = file.metadata().map_err(|error| failure(self.call, &error))?.len();
        if writing == Writing::AtEnd && held.saturating_add(bytes.len() as u64) > BYTES_MAX {
            return Err(too_big());
        }
        write_all(self.call, file, writing, bytes)
    }

    fn remove(&self) -> Result<Vec<Value>, Refusal> {
        let (Some(parent), Some(name)) = (self.path.parent(), self.path.file_name()) else {
            return Err(self.not_plain());
        };
        let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
        let flags = OFlags::PATH | OFlags::DIRECTORY;
        let parent = self.open(parent, flags, Mode::empty()).map_err(|errno| self.failed(errno))?;
        self.unlink(&parent, name)
    }

    fn unlink(&self, parent: &OwnedFd, name: &OsStr) -> Result<Vec<Value>, Refusal> {
        let details = statat(parent, name, AtFlags::SYMLINK_NOFOLLOW).map_err(|errno| self.failed(errno))?;
        if FileType::from_raw_mode(details.st_mode) != FileType::RegularFile {
            return Err(self.not_plain());
        }
        unlinkat(parent, name, AtFlags::empty()).map_err(|errno| self.failed(errno))?;
        Ok(vec![Value::Nil])
    }
}
