//! A copy of a store while it is in use: the image as it is now, and the log's tail. The copy is a store like any other:
//! restoring it is opening it. It is made beside its place and gets its name when it is whole: half a backup has no name that
//! anybody opens, and is removed, by the next attempt at the latest.
//!
//! Commits go on meanwhile, and so do checkpoints: one moment is taken under the checkpoint's turn, with the log's tail, whose
//! room would be used again; a snapshot then keeps the image's pages of that moment for as long as it takes to copy them.

use crate::error::StoreError;
use crate::label::Label;
use crate::log::{Log, image_checksum};
use crate::open::{IMAGE, LOG};
use crate::store::Store;
use std::path::Path;
use system::disk::FileDisk;
use system::file::{Unnamed, create_private};
use system::lmdb::{Header, ReadTransaction, copy_pages, read_headers};

/// The log is copied in pieces of this size.
const PIECE_BYTES: u64 = 1 << 20;

/// A copy that has begun: its moment is chosen, and the log's tail is copied.
pub struct Backup<'s> {
    store: &'s Store,
    copy: Unnamed,
    log: Log,
    /// As it stands in the original.
    label: Label,
    end: u64,
    last_commit: u64,
    header: Header,
    /// Keeps the pages of that header. After a failure it may be of a later transaction, but then nothing is written.
    _snapshot: ReadTransaction,
}

impl Store {
    /// Writes a copy into a directory that holds none, and returns the number of its last commit.
    pub fn backup(&self, to: &Path) -> Result<u64, StoreError> {
        self.begin_backup(to)?.finish()
    }

    /// Chooses the moment that is copied, whatever is committed later.
    pub fn begin_backup(&self, to: &Path) -> Result<Backup<'_>, StoreError> {
        expect_room(to)?;
        let copy = Unnamed::beside(to)?;
        // Whoever holds this makes no checkpoint, so that header, snapshot and log belong together.
        let turn = self.shared.turn();
        let (image, journal) = (&self.shared.image, &self.shared.journal);
        let snapshot = image.environment.read()?;
        // In this order: the flush may be the first of its session, of which the label knows then.
        let end = self.end_of_copy(turn.is_none());
        let label = journal.log.label();
        let is_flushed = |header: &Header| {
            header.number == label.image_number && image_checksum(&header.bytes) == label.image_checksum
        };
        let header = read_headers(image.path())?.into_iter().find(is_flushed);
        let header =
            header.ok_or_else(|| StoreError::corrupt(image.path(), "it has not the header that was flushed"))?;
        let applied = self.shared.reader.lock().state()?.number;
        let log = self.copy_log(&copy.path().join(LOG), label, end)?;
        let pending = journal.lock().pending.commits().rev().find(|commit| commit.end <= end).map(|last| last.number);
        drop(turn);
        let last_commit = pending.unwrap_or(applied);
        Ok(Backup { store: self, copy, log, label, end, last_commit, header, _snapshot: snapshot })
    }

    /// Up to where the log is copied: all of it, or after a failure what is known to be whole.
    fn end_of_copy(&self, is_read_only: bool) -> u64 {
        let journal = &self.shared.journal;
        if is_read_only {
            return journal.lock().written();
        }
        journal.flush().unwrap_or_else(|_| journal.lock().durable)
    }

    /// Copies the log's tail, which is not flushed yet, and under a label that does not count on it.
    fn copy_log(&self, path: &Path, original: Label, end: u64) -> Result<Log, StoreError> {
        let disk = FileDisk::create(path).map_err(StoreError::file("make", path))?;
        let from = &self.shared.journal.log;
        let label = Label { frontier: end, durable: original.applied, ..original };
        let copy = Log::create(Box::new(disk), path, label)?;
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
        Ok(copy)
    }
}

/// The directory of a backup holds nothing, if there is one.
fn expect_room(to: &Path) -> Result<(), StoreError> {
    if to.join(LOG).exists() {
        return Err(StoreError::Exists(to.into()));
    }
    if to.join(IMAGE).exists() {
        return Err(StoreError::LogLost(to.into()));
    }
    match std::fs::read_dir(to).is_ok_and(|mut entries| entries.next().is_some()) {
        true => Err(StoreError::NotEmpty(to.into())),
        false => Ok(()),
    }
}

impl Backup<'_> {
    /// Copies the image, and makes a store of it all. Returns the number of its last commit.
    pub fn finish(self) -> Result<u64, StoreError> {
        let path = self.copy.path().join(IMAGE);
        let file = create_private(&path).map_err(StoreError::file("make", &path))?;
        copy_pages(self.store.shared.image.path(), &self.header, &file, &path)?;
        file.sync_all().map_err(StoreError::file("flush", &path))?;
        self.log.flush()?;
        self.log.relabel(|label| {
            label.session = self.label.session;
            label.durable = self.end;
        })?;
        self.copy.give_name()?;
        Ok(self.last_commit)
    }
}
