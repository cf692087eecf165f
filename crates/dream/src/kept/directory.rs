//! All kept dreams of one image: the directory `dreams` beside its files. Reached through one descriptor, and no link is
//! followed, neither to it nor in it.
//!
//! Long because all ways to a file of it, and what two of them may do to each other, are to be seen in one place.

use super::layout::{MAGIC, RECEIPT_BYTES};
use super::scan::Scan;
use super::{DreamId, End, FileChange, Header, Recording, Retention, Status, layout};
use crate::error::DreamError;
use crate::journal::{HEADER_BYTES, Intake, Journal, Kind};
use crate::layers::Written;
use rustix::fs::{AtFlags, Dir, FlockOperation, Mode, OFlags, RenameFlags, Stat};
use rustix::io::Errno;
use std::collections::BTreeMap;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

const DIRECTORY: &str = "dreams";
const ORIGINALS: &str = "originals";
/// Files of dreams that went, for dreams to come; no more than go at once.
const SPARES: u64 = 512;

pub struct Dreams {
    directory: OwnedFd,
    /// For words only.
    path: PathBuf,
    store: [u8; 16],
}

/// A dream, without what it did.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Summary {
    pub header: Header,
    /// None while it runs, and after a crash until [`Dreams::recover`] was called.
    pub end: Option<End>,
    /// Somebody writes it down.
    pub is_open: bool,
    pub file_bytes: u64,
}

/// What is in the directory.
#[derive(Debug, Default)]
pub struct Listed {
    /// The oldest first.
    pub dreams: Vec<Summary>,
    /// Of files that are there and cannot be read as dreams.
    pub problems: Vec<DreamError>,
}

/// All of a dream but the files that it changed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KeptDream {
    pub header: Header,
    pub journal: Journal,
    /// Bytes of the journal's frames.
    pub journal_bytes: u64,
    pub changed_files: usize,
    pub end: Option<End>,
    /// Somebody writes it down.
    pub is_open: bool,
}

impl Dreams {
    /// The dreams of the image in this directory, whose store has this id.
    pub fn open(image: &Path, store: [u8; 16]) -> Result<Dreams, DreamError> {
        Dreams::open_in(image, DIRECTORY, store)
    }

    /// What was in the place of the files that merged dreams changed, each under the name of the dream and in the form of one: as
    /// changes that take it back.
    pub fn open_originals(image: &Path, store: [u8; 16]) -> Result<Dreams, DreamError> {
        Dreams::open_in(image, ORIGINALS, store)
    }

    fn open_in(image: &Path, directory: &str, store: [u8; 16]) -> Result<Dreams, DreamError> {
        let path = image.join(directory);
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::RDONLY;
        match rustix::fs::mkdir(&path, Mode::RWXU) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(DreamError::file("make", &path)(error)),
        }
        let directory = rustix::fs::open(&path, flags, Mode::empty()).map_err(|error| match error {
            Errno::LOOP | Errno::NOTDIR => DreamError::Foreign { path: path.clone(), why: "it must be a directory" },
            error => DreamError::file("open", &path)(error),
        })?;
        Ok(Dreams { directory, path, store })
    }

    /// Begins the file of a dream. When this returns the header of one that is to be kept is on the disk.
    pub fn begin(&self, header: &Header) -> Result<Recording, DreamError> {
        let id = header.id();
        let (name, path) = (id.to_string(), self.path(id));
        if header.store != self.store {
            return Err(DreamError::OtherImage(path));
        }
        let unnamed = format!(".{name}.new");
        let failed = |action| DreamError::file::<Errno>(action, &path);
        let file = self.file_for(id, &unnamed).map_err(failed("make"))?;
        let recording = Recording::begin(file, &path, header)?;
        match self.give_name(&unnamed, &name) {
            Ok(()) => {}
            Err(Errno::EXIST) => return Err(DreamError::Exists(path)),
            Err(error) => return Err(failed("name")(error)),
        }
        if header.is_kept {
            self.flush()?;
        }
        Ok(recording)
    }

    /// An empty file of this name that nobody else holds: a spare one, if there is such, else a new one. In the place of one that was
    /// left by who had this name before, and never got so far.
    fn file_for(&self, id: DreamId, name: &str) -> Result<File, Errno> {
        let directory = &self.directory;
        let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        if rustix::fs::renameat(directory, spare_for(id), directory, name).is_ok() {
            let opened = rustix::fs::openat(directory, name, flags, Mode::empty()).map(File::from);
            let is_empty = |file: &File| file.metadata().is_ok_and(|found| found.is_file() && found.len() == 0);
            let is_free = |file: &File| rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive).is_ok();
            if let Some(spare) = opened.ok().filter(|file| is_free(file) && is_empty(file)) {
                return Ok(spare);
            }
        }
        let new = flags | OFlags::CREATE | OFlags::EXCL;
        let make = || rustix::fs::openat(directory, name, new, Mode::RUSR | Mode::WUSR);
        let made = match make() {
            Err(Errno::EXIST) => {
                rustix::fs::unlinkat(directory, name, AtFlags::empty())?;
                make()
            }
            made => made,
        };
        let file = File::from(made?);
        rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive)?;
        Ok(file)
    }

    /// In the place of nothing.
    fn give_name(&self, from: &str, to: &str) -> Result<(), Errno> {
        let directory = &self.directory;
        match rustix::fs::renameat_with(directory, from, directory, to, RenameFlags::NOREPLACE) {
            // Not every file system can; nobody else makes names here.
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
                match rustix::fs::statat(directory, to, AtFlags::SYMLINK_NOFOLLOW) {
                    Err(Errno::NOENT) => rustix::fs::renameat(directory, from, directory, to),
                    Err(error) => Err(error),
                    Ok(_) => Err(Errno::EXIST),
                }
            }
            renamed => renamed,
        }
    }

    /// Whether there is such a dream, of this image.
    pub fn check(&self, id: DreamId) -> Result<(), DreamError> {
        self.summary(id).map(drop)
    }

    /// All of a dream. A torn tail is left out.
    pub fn read(&self, id: DreamId) -> Result<KeptDream, DreamError> {
        let (file, path) = self.open_file(id, OFlags::RDONLY)?;
        let read = self
            .scan_at_rest(&file, &path, id)
            .and_then(|(scan, is_open)| self.read_all(&scan, &path).map(|(dream, _)| KeptDream { is_open, ..dream }));
        self.check_still(id, &file).and(read)
    }

    /// Adds changed files to what is kept under a name, or begins it. When this returns all of it is on the disk.
    pub fn add_files(&self, header: &Header, changes: &Written) -> Result<(), DreamError> {
        let header = Header { is_kept: true, ..header.clone() };
        let known = match self.written(header.id()) {
            Err(DreamError::Missing(_)) => Written::new(),
            known => known?,
        };
        let mut recording = match self.resume(header.id()) {
            Err(DreamError::Missing(_)) => self.begin(&header)?,
            resumed => resumed?.0,
        };
        for change in changes.iter().filter(|(key, change)| known.get(*key) != Some(*change)).map(|(_, change)| change)
        {
            recording.append_file(change)?;
        }
        recording.end(&crate::ended(Status::Ended, String::new()))
    }

    /// The files that a dream changed, without what they hold.
    pub fn told_files(&self, id: DreamId) -> Result<Written, DreamError> {
        let mut written = Written::new();
        self.walk_files(id, layout::decode_file_told, &mut |change| {
            written.insert((change.directory.clone(), change.path.clone()), change);
        })?;
        written.retain(|_, change| !change.is_none());
        Ok(written)
    }

    /// Shows each file that a dream changed, in the order in which they were written down.
    pub fn files(&self, id: DreamId, show: &mut dyn FnMut(FileChange)) -> Result<(), DreamError> {
        self.walk_files(id, layout::decode_file, show)
    }

    fn walk_files(
        &self,
        id: DreamId,
        decode: impl Fn(&[u8]) -> Result<FileChange, String>,
        show: &mut dyn FnMut(FileChange),
    ) -> Result<(), DreamError> {
        let (file, path) = self.open_file(id, OFlags::RDONLY)?;
        let walked = self.scan(&file, &path, id).and_then(|scan| {
            scan.walk(&mut |kind, position, payload| {
                if kind == Kind::File {
                    let damaged = |what| DreamError::Damaged { path: path.clone(), at: scan.start + position, what };
                    show(decode(payload).map_err(damaged)?);
                }
                Ok(())
            })
        });
        self.check_still(id, &file).and(walked.map(drop))
    }

    /// What a dream changed in directories, all in all.
    pub fn written(&self, id: DreamId) -> Result<Written, DreamError> {
        let mut written = Written::new();
        self.files(id, &mut |change| {
            written.insert((change.directory.clone(), change.path.clone()), change);
        })?;
        written.retain(|_, change| !change.is_none());
        Ok(written)
    }

    /// Header and end of every dream; what is between them is not read.
    pub fn list(&self) -> Result<Listed, DreamError> {
        let mut listed = Listed::default();
        for name in self.names()? {
            match name.parse().and_then(|id| self.summary(id)) {
                Ok(summary) => listed.dreams.push(summary),
                // A dream that was begun just now, or was not when the system went down.
                Err(DreamError::NoName(name)) if is_unnamed(&name) || is_spare(&name) => {}
                Err(DreamError::NoName(name)) => {
                    let path = self.path.join(name);
                    listed.problems.push(DreamError::Foreign { path, why: "dreams have names such as d7" });
                }
                // Removed since the names were read.
                Err(DreamError::Missing(_)) => {}
                Err(problem) => listed.problems.push(problem),
            }
        }
        listed.dreams.sort_by_key(|dream| dream.header.id());
        Ok(listed)
    }

    pub(super) fn summary(&self, id: DreamId) -> Result<Summary, DreamError> {
        let (file, path) = self.open_file(id, OFlags::RDONLY)?;
        let summary = self.scan_at_rest(&file, &path, id).and_then(|(scan, is_open)| {
            let file_bytes = file.metadata().map_err(DreamError::file("read", &path))?.len();
            Ok(Summary { end: scan.end().cloned(), header: scan.header, is_open, file_bytes })
        });
        self.check_still(id, &file).and(summary)
    }

    /// Goes on with a dream, whether it ended or was left by a crash: what is torn is cut off.
    pub fn resume(&self, id: DreamId) -> Result<(Recording, KeptDream), DreamError> {
        let (file, path) = self.open_file(id, OFlags::RDWR)?;
        lock(&file, id, &path)?;
        let (dream, start, length) = {
            let scan = self.scan(&file, &path, id)?;
            let (dream, length) = self.read_all(&scan, &path)?;
            (dream, scan.start, length)
        };
        file.set_len(length).map_err(DreamError::file("cut", &path))?;
        let mut recording = Recording::at(file, &path, &dream.header, start, length);
        if dream.end.as_ref().is_some_and(|end| end.is_kept) {
            recording.keep();
        }
        Ok((recording, dream))
    }

    /// Whether a dream that is over shall stay until somebody discards it.
    pub fn set_kept(&self, id: DreamId, is_kept: bool) -> Result<(), DreamError> {
        let (mut recording, dream) = self.resume(id)?;
        let Some(end) = dream.end else { return Err(DreamError::Running(id.to_string())) };
        if end.is_kept == is_kept {
            return Ok(());
        }
        recording.write_end(&End { is_kept, ..end })?;
        // Nobody may have cared for its name so far.
        if is_kept { self.flush() } else { Ok(()) }
    }

    /// Removes a dream, also one that is damaged.
    pub fn remove(&self, id: DreamId) -> Result<(), DreamError> {
        self.unlink(id)?;
        self.flush()
    }

    fn unlink(&self, id: DreamId) -> Result<(), DreamError> {
        let (_file, path) = self.open_to_remove(id)?;
        let removed = rustix::fs::unlinkat(&self.directory, id.to_string(), AtFlags::empty());
        removed.map_err(DreamError::file("remove", &path))
    }

    /// Removes a dream that nobody looks for any more, and waits for no disk: if it came back, it would go again. Its file is emptied and
    /// kept for another. Whoever makes a file where many were removed lately waits for ext4, which looks at each of them: a
    /// seventh of what a dream costs, where they come and go.
    pub fn put_aside(&self, id: DreamId) -> Result<(), DreamError> {
        let (file, path) = self.open_to_remove(id)?;
        let directory = &self.directory;
        let (name, spare) = (id.to_string(), spare_for(id));
        if rustix::fs::renameat_with(directory, &name, directory, spare, RenameFlags::NOREPLACE).is_ok() {
            // Whoever takes one that is not empty removes it.
            return file.set_len(0).map_err(DreamError::file("empty", &path));
        }
        // There is one already.
        let removed = rustix::fs::unlinkat(directory, name, AtFlags::empty());
        removed.map_err(DreamError::file("remove", &path))
    }

    /// The file of a dream that nobody writes down, for as long as it is not dropped.
    fn open_to_remove(&self, id: DreamId) -> Result<(File, PathBuf), DreamError> {
        let (file, path) = self.open_file(id, OFlags::RDWR)?;
        lock(&file, id, &path)?;
        self.check_still(id, &file)?;
        let mut magic = [0; MAGIC.len()];
        if file.read_exact_at(&mut magic, 0).is_err() || magic != *MAGIC {
            return Err(DreamError::Foreign { path, why: "it begins with something else" });
        }
        Ok((file, path))
    }

    /// Removes what retention does not keep, and says what that was.
    pub fn expire(&self, retention: &Retention, now_ms: u64) -> Result<Vec<DreamId>, DreamError> {
        let expired = retention.expired(&self.list()?.dreams, now_ms);
        let mut removed = Vec::new();
        for id in expired {
            match self.put_aside(id) {
                Ok(()) => removed.push(id),
                // Somebody goes on with it, or was faster.
                Err(DreamError::Running(_) | DreamError::Missing(_)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(removed)
    }

    /// After a start: dreams that nobody runs any more get their end, and what was begun without a name is removed.
    pub fn recover(&self, now_ms: u64) -> Result<Vec<DreamId>, DreamError> {
        for name in self.names()?.iter().filter(|name| is_unnamed(name)) {
            // What is no file was not left by us, and harms nobody.
            let _ = rustix::fs::unlinkat(&self.directory, name, AtFlags::empty());
        }
        self.remove_empty()?;
        let mut lost = Vec::new();
        for dream in self.list()?.dreams.into_iter().filter(|dream| dream.end.is_none()) {
            let id = dream.header.id();
            match self.end_lost(id, "telos ended while it ran", now_ms) {
                Ok(()) => lost.push(id),
                // Whoever reads it is told; the others are not kept from getting their end.
                Err(DreamError::Running(_) | DreamError::Damaged { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(lost)
    }

    /// Gives a dream that nobody runs any more its end, if it has none.
    pub fn end_lost(&self, id: DreamId, reason: &str, now_ms: u64) -> Result<(), DreamError> {
        let (recording, dream) = self.resume(id)?;
        if dream.end.is_some() {
            return Ok(());
        }
        let (usage, output) = (Default::default(), String::new());
        let (reason, is_kept) = (reason.into(), dream.header.is_kept);
        recording.end(&End { status: Status::Killed, reason, ended_ms: now_ms, usage, is_kept, output })
    }

    /// Those that were not to be kept may have had a name, and nothing else, on the disk when the power failed.
    fn remove_empty(&self) -> Result<(), DreamError> {
        for id in self.names()?.iter().filter_map(|name| name.parse::<DreamId>().ok()) {
            let is_empty = |file: &File| file.metadata().is_ok_and(|metadata| metadata.len() == 0);
            match self.open_file(id, OFlags::RDONLY) {
                Ok((file, path)) if is_empty(&file) => {
                    let removed = rustix::fs::unlinkat(&self.directory, id.to_string(), AtFlags::empty());
                    removed.map_err(DreamError::file("remove", &path))?;
                }
                // Whoever reads it is told.
                Ok(_) | Err(_) => {}
            }
        }
        Ok(())
    }

    fn read_all(&self, scan: &Scan<'_>, path: &Path) -> Result<(KeptDream, u64), DreamError> {
        let mut intake = Intake::new(scan.header.fork(), scan.header.bounds);
        let mut journal = Journal::new(scan.header.fork());
        let (mut journal_bytes, mut changed) = (0, BTreeMap::new());
        let end = scan.walk(&mut |kind, position, payload| {
            match kind {
                Kind::Received => {
                    let decoded = layout::split_receipt(payload).and_then(|(receipt, commit)| {
                        intake.entry(commit, position, receipt).map_err(|error| error.to_string())
                    });
                    let at = scan.start + position;
                    journal.push(decoded.map_err(|what| DreamError::Damaged { path: path.into(), at, what })?);
                    journal_bytes += (HEADER_BYTES + payload.len() - RECEIPT_BYTES) as u64;
                }
                Kind::File => {
                    let at = scan.start + position;
                    let damaged = |what| DreamError::Damaged { path: path.into(), at, what };
                    let change = layout::decode_file_told(payload).map_err(damaged)?;
                    let is_changed = !change.is_none();
                    changed.insert((change.directory, change.path), is_changed);
                }
                Kind::Commit | Kind::Header | Kind::End => {}
            }
            Ok(())
        })?;
        journal.note_cut(scan.bytes().saturating_sub(end) as usize);
        let header = scan.header.clone();
        let changed_files = changed.values().filter(|is_changed| **is_changed).count();
        Ok((KeptDream { header, journal, journal_bytes, changed_files, end: scan.end().cloned(), is_open: false }, end))
    }

    /// Whether a file that was opened still is that of this dream. If not, what was read of it may be anything: another has it.
    fn check_still(&self, id: DreamId, file: &File) -> Result<(), DreamError> {
        let named = rustix::fs::statat(&self.directory, id.to_string(), AtFlags::SYMLINK_NOFOLLOW);
        let is_it =
            |opened: Stat| named.is_ok_and(|named| (named.st_dev, named.st_ino) == (opened.st_dev, opened.st_ino));
        if rustix::fs::fstat(file).is_ok_and(is_it) { Ok(()) } else { Err(DreamError::Missing(id.to_string())) }
    }

    /// A regular file, and not through a link.
    fn open_file(&self, id: DreamId, access: OFlags) -> Result<(File, PathBuf), DreamError> {
        let path = self.path(id);
        // A pipe must not be waited for.
        let flags = access | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let foreign = |why| DreamError::Foreign { path: path.clone(), why };
        let file = match rustix::fs::openat(&self.directory, id.to_string(), flags, Mode::empty()) {
            Ok(file) => File::from(file),
            Err(Errno::NOENT) => return Err(DreamError::Missing(id.to_string())),
            Err(Errno::LOOP) => return Err(foreign("it is a link")),
            Err(Errno::ISDIR | Errno::NXIO) => return Err(foreign("it is no file")),
            Err(error) => return Err(DreamError::file("open", &path)(error)),
        };
        let is_file = file.metadata().map_err(DreamError::file("read", &path))?.is_file();
        if is_file { Ok((file, path)) } else { Err(foreign("it is no file")) }
    }

    fn scan<'f>(&self, file: &'f File, path: &'f Path, id: DreamId) -> Result<Scan<'f>, DreamError> {
        let scan = Scan::open(file, path)?;
        if scan.header.store != self.store {
            return Err(DreamError::OtherImage(path.into()));
        }
        match scan.header.id() == id {
            true => Ok(scan),
            false => Err(DreamError::Foreign { path: path.into(), why: "it is a dream of another name" }),
        }
    }

    /// With whether somebody writes it down. Who has gone by the time that is asked may have written an end just before.
    fn scan_at_rest<'f>(&self, file: &'f File, path: &'f Path, id: DreamId) -> Result<(Scan<'f>, bool), DreamError> {
        let scan = self.scan(file, path, id)?;
        if scan.end().is_some() {
            return Ok((scan, false));
        }
        // Given back with the file.
        match rustix::fs::flock(file, FlockOperation::NonBlockingLockShared) {
            Err(Errno::WOULDBLOCK) => Ok((scan, true)),
            _ => Ok((self.scan(file, path, id)?, false)),
        }
    }

    fn names(&self) -> Result<Vec<String>, DreamError> {
        let entries = Dir::read_from(&self.directory).map_err(DreamError::file("list", &self.path))?;
        let mut names = Vec::new();
        for entry in entries {
            let entry = entry.map_err(DreamError::file("list", &self.path))?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if name != "." && name != ".." {
                names.push(name);
            }
        }
        Ok(names)
    }

    fn flush(&self) -> Result<(), DreamError> {
        rustix::fs::fsync(&self.directory).map_err(DreamError::file("flush", &self.path))
    }

    fn path(&self, id: DreamId) -> PathBuf {
        self.path.join(id.to_string())
    }
}

/// Where the file of a dream goes, and where that of another looks for one first: numbers follow each other.
fn spare_for(id: DreamId) -> String {
    format!(".d{}.spare", id.0.0 % SPARES)
}

fn is_spare(name: &str) -> bool {
    name.starts_with(".d") && name.ends_with(".spare")
}

/// That of a dream that was begun, and not so far that it has a name.
fn is_unnamed(name: &str) -> bool {
    name.starts_with(".d") && name.ends_with(".new")
}

fn lock(file: &File, id: DreamId, path: &Path) -> Result<(), DreamError> {
    match rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive) {
        Err(Errno::WOULDBLOCK) => Err(DreamError::Running(id.to_string())),
        locked => locked.map_err(DreamError::file("lock", path)),
    }
}
