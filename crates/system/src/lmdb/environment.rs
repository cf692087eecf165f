//! Opening a file of LMDB, its tables, and what concerns the file as a whole.

use super::transaction::{ReadTransaction, WriteTransaction};
use crate::error::SystemError;
use crate::fault;
use lmdb_master_sys as sys;
use std::ffi::{CStr, CString, c_int, c_uint};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::Arc;

#[derive(Clone, Debug)]
pub struct Options {
    pub access: Access,
    pub snapshot: Snapshot,
    /// Address space that the file may grow into; costs no memory.
    pub map_bytes: usize,
    pub tables: u32,
    pub readers: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    Write,
    Read,
    /// Without the lock file, and so without telling a writer what is being read: for a process in which somebody else
    /// keeps a snapshot alive, and for files that nobody writes.
    ReadUnlocked,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Snapshot {
    Newest,
    /// As it was before the last transaction. For readers: see `discard_newest`.
    Previous,
}

/// One table of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Table {
    pub(super) number: sys::MDB_dbi,
    pub(super) name: &'static str,
}

/// An open file.
pub struct Environment {
    pointer: *mut sys::MDB_env,
    path: PathBuf,
}

// SAFETY: LMDB allows one environment to be used from all threads of a process.
unsafe impl Send for Environment {}
// SAFETY: as above; what is bound to a thread or not to be shared is a transaction.
unsafe impl Sync for Environment {}

impl Environment {
    /// Opens the file, or with `Access::Write` makes it.
    pub fn open(path: &Path, options: &Options) -> Result<Arc<Environment>, SystemError> {
        let name = CString::new(path.as_os_str().as_bytes());
        let name =
            name.map_err(|_| SystemError::NoImage { path: path.into(), reason: "its name holds a zero byte" })?;
        if options.access != Access::ReadUnlocked {
            expect_readers(path)?;
        }
        let mut pointer = ptr::null_mut();
        // SAFETY: the pointer is written by the call, and only used if it succeeded.
        check("open", path, unsafe { sys::mdb_env_create(&mut pointer) })?;
        // From here on the environment is closed however this ends, which LMDB asks for also after a failed open.
        let environment = Environment { pointer, path: path.into() };
        // SAFETY: the environment was created and is not open yet, which is when these may be called; the name lives
        // through the call.
        unsafe {
            environment.check("open", sys::mdb_env_set_assert(pointer, Some(fault::report_assertion)))?;
            environment.check("size", sys::mdb_env_set_mapsize(pointer, options.map_bytes))?;
            environment.check("open", sys::mdb_env_set_maxdbs(pointer, options.tables))?;
            environment.check("open", sys::mdb_env_set_maxreaders(pointer, options.readers))?;
            let opened = environment.check("open", sys::mdb_env_open(pointer, name.as_ptr(), flags(options), 0o600));
            opened.map_err(|error| naming_space(error, options.map_bytes))?;
        }
        fault::note_mapping(path);
        if options.access == Access::Write {
            environment.forget_dead_readers()?;
        }
        Ok(Arc::new(environment))
    }

    /// A table by its name; made if the transaction may write. To be called once a table, before other threads begin
    /// transactions.
    pub fn table(self: &Arc<Self>, name: &'static str, is_writer: bool) -> Result<Table, SystemError> {
        let text = CString::new(name);
        let text = text.map_err(|_| SystemError::NoImage { path: self.path.clone(), reason: "bad name of a table" })?;
        let (mut table, mut transaction) = (0, ptr::null_mut());
        let begin = if is_writer { 0 } else { sys::MDB_RDONLY };
        let open = if is_writer { sys::MDB_CREATE } else { 0 };
        // SAFETY: the environment is open; the transaction is used only if it was begun, and ended on every path; the
        // name lives through the call.
        unsafe {
            self.check("read", sys::mdb_txn_begin(self.pointer, ptr::null_mut(), begin, &mut transaction))?;
            let opened = sys::mdb_dbi_open(transaction, text.as_ptr(), open, &mut table);
            if opened != 0 {
                sys::mdb_txn_abort(transaction);
            }
            self.check("read", opened)?;
            self.check("write", sys::mdb_txn_commit(transaction))?;
        }
        Ok(Table { number: table, name })
    }

    /// The file as it is now.
    pub fn read(self: &Arc<Self>) -> Result<ReadTransaction, SystemError> {
        ReadTransaction::begin(self)
    }

    /// Waits until no other write transaction is open.
    pub fn write(&self) -> Result<WriteTransaction<'_>, SystemError> {
        WriteTransaction::begin(self)
    }

    /// Keeps what is mapped here out of copies of this process: the file, which they could write to, and the table of readers.
    /// Whoever forks reads through another environment.
    pub fn keep_from_forks(&self) -> Result<(), SystemError> {
        for (start, bytes) in mappings_of(&self.path)? {
            // SAFETY: the range is one that the kernel has just named as a mapping of ours; only copies of this process notice.
            let answer = unsafe { libc::madvise(start as *mut libc::c_void, bytes, libc::MADV_DONTFORK) };
            if answer == -1 {
                return Err(SystemError::file("keep from forks", &self.path)(std::io::Error::last_os_error()));
            }
        }
        Ok(())
    }

    pub(super) fn pointer(&self) -> *mut sys::MDB_env {
        self.pointer
    }

    pub(super) fn check(&self, action: &'static str, code: c_int) -> Result<(), SystemError> {
        check(action, &self.path, code)
    }

    /// Snapshots of processes that were killed would keep their pages for ever.
    pub fn forget_dead_readers(&self) -> Result<(), SystemError> {
        let mut dead = 0;
        // SAFETY: the environment is open, and the number is written by the call.
        self.check("open", unsafe { sys::mdb_reader_check(self.pointer, &mut dead) })
    }
}

impl Drop for Environment {
    fn drop(&mut self) {
        // SAFETY: transactions hold a reference to the environment, so none is open any more.
        unsafe { sys::mdb_env_close(self.pointer) };
    }
}

/// Where the kernel has mapped a file and its table of readers, and how many bytes of it. LMDB tells of the first only.
fn mappings_of(path: &Path) -> Result<Vec<(usize, usize)>, SystemError> {
    const MAPS: &str = "/proc/self/maps";
    let maps = std::fs::read(MAPS).map_err(SystemError::file("read", Path::new(MAPS)))?;
    let inode = |path: &Path| path.metadata().map(|found| found.ino());
    let file = inode(path).map_err(SystemError::file("look at", path))?;
    let wanted = [Some(file), inode(&beside(path)).ok()];
    // A line is: first-last access offset device inode path. What others write to is shared, as programs' code is not.
    let mapping = |line: &[u8]| {
        let line = String::from_utf8_lossy(line);
        let mut words = line.split_ascii_whitespace();
        let (start, end) = words.next()?.split_once('-')?;
        let is_shared = words.next()?.ends_with('s');
        let inode: u64 = words.nth(2)?.parse().ok()?;
        let (start, end) = (usize::from_str_radix(start, 16).ok()?, usize::from_str_radix(end, 16).ok()?);
        (is_shared && wanted.contains(&Some(inode))).then_some((start, end - start))
    };
    Ok(maps.split(|byte| *byte == b'\n').filter_map(mapping).collect())
}

fn beside(path: &Path) -> PathBuf {
    let mut beside = path.as_os_str().to_os_string();
    beside.push("-lock");
    PathBuf::from(beside)
}

/// LMDB keeps the table of readers beside the file, follows links there, and blames the file for what is wrong with the table.
fn expect_readers(path: &Path) -> Result<(), SystemError> {
    let beside = beside(path);
    match beside.symlink_metadata() {
        Ok(found) if found.is_symlink() => Err(SystemError::Link(beside)),
        Ok(found) if !found.is_file() => Err(SystemError::NotAFile(beside)),
        _ => Ok(()),
    }
}

/// No read-ahead: objects are touched in no order. No thread-local readers: a snapshot goes from thread to thread. No
/// flush: see the module's story. `MDB_NOMEMINIT` is not set: what was in memory must not get into the file.
fn flags(options: &Options) -> c_uint {
    let access = match options.access {
        Access::Write => sys::MDB_NOSYNC,
        Access::Read => sys::MDB_RDONLY,
        Access::ReadUnlocked => sys::MDB_RDONLY | sys::MDB_NOLOCK,
    };
    let snapshot = if options.snapshot == Snapshot::Previous { sys::MDB_PREVSNAPSHOT } else { 0 };
    sys::MDB_NOSUBDIR | sys::MDB_NORDAHEAD | sys::MDB_NOTLS | access | snapshot
}

/// Memory that cannot be had here is address space: a mapping of the whole image, however little of it there is.
fn naming_space(error: SystemError, map_bytes: usize) -> SystemError {
    match error {
        SystemError::Tree { action, path, message, code: libc::ENOMEM } => {
            let needed = map_bytes >> 30;
            let message = format!("{message}: it needs {needed} GiB of address space (ulimit -v), not of memory");
            SystemError::Tree { action, path, message, code: libc::ENOMEM }
        }
        error => error,
    }
}

fn check(action: &'static str, path: &Path, code: c_int) -> Result<(), SystemError> {
    if code == 0 {
        return Ok(());
    }
    // SAFETY: LMDB answers every number with a text that ends in a zero byte and lives until the next call on this thread.
    let message = unsafe { CStr::from_ptr(sys::mdb_strerror(code)) }.to_string_lossy().into_owned();
    Err(SystemError::Tree { action, path: path.into(), message, code })
}
