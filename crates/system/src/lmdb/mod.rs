//! LMDB, as much of it as the image needs: one file, a few tables, one writer, snapshots for readers.
//!
//! - `environment`: opening and closing; `transaction`: snapshots and writes; `cursor`: walking a table;
//!   `tree`: finding a key without LMDB
//! - `header`: the two pages that say what the file holds, read without trusting them; `survey`: all pages, likewise
//!
//! **No flush happens here.** LMDB is opened without its own, and a committed transaction is in the kernel's hands only.
//! Whoever commits flushes, and remembers elsewhere up to which transaction that was done; on opening, a transaction that
//! was not flushed is left out: by `discard_newest`, or for readers with `Snapshot::Previous`. So the write-back can be paced, and what a crash may leave
//! behind is known exactly: any mixture of old and new sectors of one transaction.

mod bytes;
mod cursor;
mod environment;
mod header;
mod survey;
mod transaction;
mod tree;

pub use cursor::{Cursor, Editor};
pub use environment::{Access, Environment, Options, Snapshot, Table};
pub use header::{Header, copy_pages, discard_newest, read_headers};
pub use survey::survey;
pub use transaction::{Pin, ReadTransaction, WriteTransaction};
