//! Walking a table in the order of its keys, and changing it on the way.

use super::environment::{Environment, Table};
use super::transaction::{found, value_of};
use crate::error::SystemError;
use lmdb_master_sys as sys;
use std::marker::PhantomData;
use std::ptr;

/// A key with its value.
pub type Entry<'t> = (&'t [u8], &'t [u8]);

pub struct Cursor<'t> {
    pointer: *mut sys::MDB_cursor,
    environment: &'t Environment,
    snapshot: PhantomData<&'t ()>,
}

impl<'t> Cursor<'t> {
    /// # Safety
    /// The transaction must be valid for `'t`, and write nothing for as long as what is found is used.
    pub(super) unsafe fn open(
        transaction: *mut sys::MDB_txn,
        environment: &'t Environment,
        table: Table,
    ) -> Result<Cursor<'t>, SystemError> {
        let mut pointer = ptr::null_mut();
        // SAFETY: the caller vouches for the transaction; the pointer is used only after success.
        environment.check("read", unsafe { sys::mdb_cursor_open(transaction, table.number, &mut pointer) })?;
        Ok(Cursor { pointer, environment, snapshot: PhantomData })
    }

    pub fn first(&mut self) -> Result<Option<Entry<'t>>, SystemError> {
        self.go(sys::MDB_FIRST)
    }

    pub fn next_entry(&mut self) -> Result<Option<Entry<'t>>, SystemError> {
        self.go(sys::MDB_NEXT)
    }

    fn go(&mut self, to: sys::MDB_cursor_op) -> Result<Option<Entry<'t>>, SystemError> {
        let (mut key, mut value) = (value_of(&[]), value_of(&[]));
        // SAFETY: the cursor is open; key and value are read only if something was found, and then point into the
        // mapped file, where they stay for as long as the transaction is not written through.
        unsafe {
            let code = sys::mdb_cursor_get(self.pointer, &mut key, &mut value, to);
            Ok(found(self.environment, "read", code)?.then(|| {
                (
                    std::slice::from_raw_parts(key.mv_data.cast(), key.mv_size),
                    std::slice::from_raw_parts(value.mv_data.cast(), value.mv_size),
                )
            }))
        }
    }
}

impl Drop for Cursor<'_> {
    fn drop(&mut self) {
        // SAFETY: opened by us, closed once, while its transaction is still alive.
        unsafe { sys::mdb_cursor_close(self.pointer) };
    }
}

/// Reads and writes the entries of a table, best in the order of their keys: what lies on the page of the one before is found
/// without a search from the root.
pub struct Editor<'t>(Cursor<'t>);

impl<'t> Editor<'t> {
    /// # Safety
    /// The transaction must be valid for `'t`, and nobody else write through it.
    pub(super) unsafe fn open(
        transaction: *mut sys::MDB_txn,
        environment: &'t Environment,
        table: Table,
    ) -> Result<Editor<'t>, SystemError> {
        // SAFETY: the caller vouches for the transaction; what is found is borrowed from the editor, which writes only when it
        // is borrowed mutably.
        Ok(Editor(unsafe { Cursor::open(transaction, environment, table)? }))
    }

    pub fn get(&mut self, key: &[u8]) -> Result<Option<&[u8]>, SystemError> {
        let (mut key, mut value) = (value_of(key), value_of(&[]));
        // SAFETY: the cursor is open; the key is only read; the value is read only if it was found, and stays until the next
        // write, which borrows mutably.
        unsafe {
            let code = sys::mdb_cursor_get(self.0.pointer, &mut key, &mut value, sys::MDB_SET);
            let is_found = found(self.0.environment, "read", code)?;
            Ok(is_found.then(|| std::slice::from_raw_parts(value.mv_data.cast(), value.mv_size)))
        }
    }

    pub fn put(&mut self, key: &[u8], value: &[u8]) -> Result<(), SystemError> {
        let (mut key, mut value) = (value_of(key), value_of(value));
        // SAFETY: the cursor is open; key and value are only read, and live through the call.
        let put = unsafe { sys::mdb_cursor_put(self.0.pointer, &mut key, &mut value, 0) };
        self.0.environment.check("write", put)
    }
}
