//! A copy of a store while it is in use: the image as it is now, and the log's tail. Commits go on meanwhile; checkpoints
//! wait, so that image and log belong together. The copy is a store like any other: restoring it is opening it.

use crate::error::StoreError;
use crate::label::Label;
use crate::log::{Log, image_checksum};
use crate::open::{IMAGE, LOCK, LOG, UNFINISHED, begin_log};
use crate::store::Store;
use std::path::Path;
use system::disk::FileDisk;
use system::file::{Hold, Lock, create_private, give_name, make_directory};
use system::lmdb::read_headers;

/// The log is copied in pieces of this size.
const PIECE_BYTES: u64 = 1 << 20;

impl Store {
    /// Writes a copy into a directory that holds none, and returns the number of its last commit.
    pub fn backup(&self, to: &Path) -> Result<u64, StoreError> {
        make_directory(to)?;
        // Before the lock, which is ours already if the directory is.
        if to.join(LOG).exists() {
            return Err(StoreError::Exists(to.into()));
        }
        let _lock = Lock::take(&to.join(LOCK), Hold::Alone)?;
        let log = begin_log(to)?;
        // Whoever holds this makes no checkpoint.
        let turn = self.shared.turn();
        self.copy_image(&to.join(IMAGE))?;
        let end = if turn.is_none() { self.written() } else { self.shared.journal.flush()? };
        let inside = self.shared.journal.lock();
        let last = inside.pending.commits().rev().find(|commit| commit.end <= end).map(|commit| commit.number);
        drop(inside);
        self.copy_log(to, log, end)?;
        let applied = self.shared.image.state(&self.shared.image.environment.read()?)?.number;
        Ok(last.unwrap_or(applied))
    }

    fn written(&self) -> u64 {
        self.shared.journal.lock().written()
    }

    fn copy_image(&self, path: &Path) -> Result<(), StoreError> {
        let file = create_private(path).map_err(StoreError::file("make", path))?;
        self.shared.image.environment.copy_to(&file)?;
        file.sync_all().map_err(StoreError::file("flush", path))
    }

    fn copy_log(&self, to: &Path, disk: FileDisk, end: u64) -> Result<(), StoreError> {
        let (from, unfinished) = (&self.shared.journal.log, to.join(UNFINISHED));
        let original = from.label();
        let image = read_headers(&to.join(IMAGE))?;
        let flushed = image.iter().find(|header| header.number == original.image_number);
        let flushed = flushed.ok_or_else(|| StoreError::corrupt(&to.join(IMAGE), "the copy is of another moment"))?;
        let label = Label {
            frontier: end,
            durable: original.applied,
            image_checksum: image_checksum(&flushed.bytes),
            ..original
        };
        let copy = Log::create(Box::new(disk), &unfinished, label)?;
        let mut position = original.applied;
        while position < end {
            let mut piece = vec![0; PIECE_BYTES.min(end - position) as usize];
            let read = from.read(position, &mut piece)?;
            if read < piece.len() {
                return Err(StoreError::corrupt(from.path(), "it is shorter than what was written"));
            }
            copy.write_raw(position, &piece)?;
            position += piece.len() as u64;
        }
        copy.flush()?;
        copy.relabel(|label| {
            label.session = original.session;
            label.durable = end;
        })?;
        Ok(give_name(&unfinished, &to.join(LOG))?)
    }
}
