//! Snapshots of a file for reading, and the one transaction that writes.

use super::cursor::{Cursor, Editor};
use super::environment::{Environment, Table};
use super::tree::Tree;
use crate::error::SystemError;
use lmdb_master_sys as sys;
use std::cell::Cell;
use std::ffi::{c_int, c_uint};
use std::ptr;
use std::sync::Arc;

/// The file as it was at one moment, for as long as this lives; the pages that it needs are not used again meanwhile.
pub struct ReadTransaction {
    pointer: *mut sys::MDB_txn,
    environment: Arc<Environment>,
    /// Of the table that was last searched; none in it if LMDB must be asked.
    tree: Cell<Option<(Table, Option<Tree>)>>,
}

// SAFETY: without thread-local readers a snapshot belongs to no thread; it is not used from two at once, for it is not `Sync`.
unsafe impl Send for ReadTransaction {}

impl ReadTransaction {
    pub(super) fn begin(environment: &Arc<Environment>) -> Result<ReadTransaction, SystemError> {
        let mut pointer = ptr::null_mut();
        // SAFETY: the environment is open and kept so by the reference; the pointer is used only after success.
        let begun =
            unsafe { sys::mdb_txn_begin(environment.pointer(), ptr::null_mut(), sys::MDB_RDONLY, &mut pointer) };
        environment.check("read", begun)?;
        Ok(ReadTransaction { pointer, environment: environment.clone(), tree: Cell::new(None) })
    }

    /// Moves on to the file as it is now. After an error the snapshot is of no use, and every read from it fails.
    pub fn renew(&mut self) -> Result<(), SystemError> {
        self.tree.set(None);
        // SAFETY: nothing borrows from the snapshot, for this takes it mutably; a reset transaction may be renewed.
        let renewed = unsafe {
            sys::mdb_txn_reset(self.pointer);
            sys::mdb_txn_renew(self.pointer)
        };
        self.environment.check("read", renewed)
    }

    /// The number of the transaction that made this state.
    pub fn number(&self) -> u64 {
        // SAFETY: the transaction was begun and not ended.
        unsafe { sys::mdb_txn_id(self.pointer) as u64 }
    }

    #[inline]
    pub fn get(&self, table: Table, key: &[u8]) -> Result<Option<&[u8]>, SystemError> {
        // SAFETY: the transaction is valid, and what is found stays so while this is borrowed: `renew` borrows mutably.
        unsafe { get(self.pointer, &self.environment, table.number, key) }
    }

    /// The same for keys of sixteen bytes, mostly faster: see `tree`.
    #[inline]
    pub fn find(&self, table: Table, key: &[u8; 16]) -> Result<Option<&[u8]>, SystemError> {
        let tree = match self.tree.get() {
            Some((of, tree)) if of == table => tree,
            _ => self.tree_of(table),
        };
        // SAFETY: the tree is of this snapshot, for `renew` forgets it; what is found stays, as above.
        match tree.and_then(|tree| unsafe { tree.find(key) }) {
            Some(found) => Ok(found),
            None => self.get(table, key),
        }
    }

    #[cold]
    fn tree_of(&self, table: Table) -> Option<Tree> {
        // SAFETY: the transaction is valid; the tree is forgotten before it changes.
        let tree = unsafe { Tree::of(self.pointer, &self.environment, table) };
        self.tree.set(Some((table, tree)));
        tree
    }

    /// How many entries the table has, as the file says.
    pub fn count(&self, table: Table) -> Result<u64, SystemError> {
        // SAFETY: the structure is plain data for which zeroes are valid, and is filled by the call.
        let statistics = unsafe {
            let mut statistics: sys::MDB_stat = std::mem::zeroed();
            self.environment.check("read", sys::mdb_stat(self.pointer, table.number, &mut statistics))?;
            statistics
        };
        Ok(statistics.ms_entries as u64)
    }

    pub fn cursor(&self, table: Table) -> Result<Cursor<'_>, SystemError> {
        // SAFETY: the transaction is valid for as long as the cursor borrows from it.
        unsafe { Cursor::open(self.pointer, &self.environment, table) }
    }
}

impl Drop for ReadTransaction {
    fn drop(&mut self) {
        // SAFETY: begun by us, ended once; borrowed values and cursors are gone.
        unsafe { sys::mdb_txn_abort(self.pointer) };
    }
}

/// A snapshot that is only kept, so that its pages are not used again: nobody reads from it.
pub struct Pin(ReadTransaction);

// SAFETY: a shared pin offers nothing to do with it.
unsafe impl Sync for Pin {}

impl Pin {
    pub fn new(snapshot: ReadTransaction) -> Pin {
        Pin(snapshot)
    }

    /// Keeps the file as it is now instead.
    pub fn renew(&mut self) -> Result<(), SystemError> {
        self.0.renew()
    }
}

/// Changes that become visible together, or never: dropping it without `commit` forgets them.
pub struct WriteTransaction<'e> {
    pointer: *mut sys::MDB_txn,
    environment: &'e Environment,
}

impl<'e> WriteTransaction<'e> {
    pub(super) fn begin(environment: &'e Environment) -> Result<WriteTransaction<'e>, SystemError> {
        let mut pointer = ptr::null_mut();
        // SAFETY: the environment is open and borrowed; the pointer is used only after success. The type is not `Send`,
        // as LMDB wants a writer to stay on its thread.
        let begun = unsafe { sys::mdb_txn_begin(environment.pointer(), ptr::null_mut(), 0, &mut pointer) };
        environment.check("write", begun)?;
        Ok(WriteTransaction { pointer, environment })
    }

    #[inline]
    pub fn get(&self, table: Table, key: &[u8]) -> Result<Option<&[u8]>, SystemError> {
        // SAFETY: the transaction is valid, and what is found stays so until the next write, which borrows mutably.
        unsafe { get(self.pointer, self.environment, table.number, key) }
    }

    pub fn put(&mut self, table: Table, key: &[u8], value: &[u8]) -> Result<(), SystemError> {
        self.put_with(table, key, value, 0)
    }

    /// Reads and writes one table, with nobody else beside it.
    pub fn editor(&mut self, table: Table) -> Result<Editor<'_>, SystemError> {
        // SAFETY: the transaction is valid, and borrowed mutably for as long as the editor lives.
        unsafe { Editor::open(self.pointer, self.environment, table) }
    }

    /// Puts a key that is greater than all in the table: pages are filled to the end.
    pub fn append(&mut self, table: Table, key: &[u8], value: &[u8]) -> Result<(), SystemError> {
        self.put_with(table, key, value, sys::MDB_APPEND)
    }

    /// Hands the changes to the kernel; not to the medium.
    pub fn commit(self) -> Result<(), SystemError> {
        let (pointer, environment) = (self.pointer, self.environment);
        std::mem::forget(self);
        // SAFETY: the transaction is valid, and ended by this call whatever it returns; `drop` does not run.
        environment.check("write", unsafe { sys::mdb_txn_commit(pointer) })
    }

    fn put_with(&mut self, table: Table, key: &[u8], value: &[u8], flags: c_uint) -> Result<(), SystemError> {
        let (mut key, mut value) = (value_of(key), value_of(value));
        // SAFETY: the transaction is valid; key and value are only read, and live through the call.
        let put = unsafe { sys::mdb_put(self.pointer, table.number, &mut key, &mut value, flags) };
        self.environment.check("write", put)
    }
}

impl Drop for WriteTransaction<'_> {
    fn drop(&mut self) {
        // SAFETY: begun by us and not committed; values borrowed from it are gone.
        unsafe { sys::mdb_txn_abort(self.pointer) };
    }
}

pub(super) fn value_of(bytes: &[u8]) -> sys::MDB_val {
    sys::MDB_val { mv_size: bytes.len(), mv_data: bytes.as_ptr().cast_mut().cast() }
}

/// Whether something was found; errors are errors.
pub(super) fn found(environment: &Environment, action: &'static str, code: c_int) -> Result<bool, SystemError> {
    if code == sys::MDB_NOTFOUND {
        return Ok(false);
    }
    environment.check(action, code).map(|()| true)
}

/// # Safety
/// The transaction must be valid and stay so, without a write, for as long as the answer is used.
#[inline]
pub(super) unsafe fn get<'t>(
    transaction: *mut sys::MDB_txn,
    environment: &Environment,
    table: sys::MDB_dbi,
    key: &[u8],
) -> Result<Option<&'t [u8]>, SystemError> {
    let mut key = value_of(key);
    let mut value = value_of(&[]);
    // SAFETY: the caller vouches for the transaction; the key is only read; the value is read only if it was found, and
    // then points into the mapped file.
    unsafe {
        let code = sys::mdb_get(transaction, table, &mut key, &mut value);
        Ok(found(environment, "read", code)?.then(|| std::slice::from_raw_parts(value.mv_data.cast(), value.mv_size)))
    }
}
