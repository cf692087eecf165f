//! The log as a file of frames: its label, writing a group of frames, and the order in which things reach the medium.
//! One thread at a time may write; `commit` sees to that. Nothing is tried again: whoever gets an error latches.
//!
//! **Order.** A label with a new session or frontier is flushed before any frame that it allows. So whatever a crash leaves
//! in the file was written by a session that the label knows, before its frontier.

use crate::bytes::checksum;
use crate::error::StoreError;
use crate::frame::HEADER_BYTES;
use crate::label::{Label, SLOT_BYTES};
use crate::ring::Ring;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use system::disk::Disk;

/// How far the frontier is moved at a time. A torn tail is looked for in this much of the log, and no further.
const FRONTIER_BYTES: u64 = 1 << 20;
const LEAST_CAPACITY: u64 = 64 << 10;

pub struct Log {
    ring: Ring,
    path: PathBuf,
    seed: u64,
    label: Mutex<Label>,
    /// Of this opening.
    session: u32,
}

impl Log {
    /// Writes the label of a new log; the file is empty.
    pub fn create(disk: Box<dyn Disk>, path: &Path, label: Label) -> Result<Log, StoreError> {
        let fail = StoreError::file("write", path);
        let label = Label { capacity: label.capacity.max(LEAST_CAPACITY).next_multiple_of(SLOT_BYTES), ..label };
        let other = Label { generation: label.generation + 1, ..label };
        let written = label.write(&*disk).and_then(|()| other.write(&*disk)).and_then(|()| disk.flush());
        written.map_err(fail)?;
        Log::new(disk, path, other)
    }

    pub fn open(disk: Box<dyn Disk>, path: &Path) -> Result<Log, StoreError> {
        let label = Label::read(&*disk, path)?;
        if label.capacity < LEAST_CAPACITY || !label.capacity.is_multiple_of(SLOT_BYTES) {
            return Err(StoreError::corrupt(path, "its head tells an impossible size"));
        }
        Log::new(disk, path, label)
    }

    fn new(disk: Box<dyn Disk>, path: &Path, label: Label) -> Result<Log, StoreError> {
        let ring = Ring::new(disk, label.capacity).map_err(StoreError::file("open", path))?;
        let session = label.session + 1;
        Ok(Log { ring, path: path.into(), seed: label.seed(), label: Mutex::new(label), session })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub const fn seed(&self) -> u64 {
        self.seed
    }

    pub const fn session(&self) -> u32 {
        self.session
    }

    pub fn capacity(&self) -> u64 {
        self.ring.capacity()
    }

    pub fn label(&self) -> Label {
        *self.lock()
    }

    pub fn read(&self, position: u64, buffer: &mut [u8]) -> Result<usize, StoreError> {
        self.ring.read(position, buffer).map_err(StoreError::file("read", &self.path))
    }

    /// Writes frames that follow each other. `durable` is up to where the log is known to be flushed.
    pub fn write(&self, position: u64, frames: &[u8], durable: u64) -> Result<(), StoreError> {
        let end = position + frames.len() as u64;
        let label = self.label();
        if label.session != self.session || end > label.frontier {
            self.relabel(|label| {
                label.frontier = label.frontier.max(end + FRONTIER_BYTES);
                label.durable = durable;
            })?;
        }
        self.ring.write(position, frames).map_err(StoreError::file("write", &self.path))
    }

    /// Writes what is in frames already, into a copy.
    pub fn write_raw(&self, position: u64, bytes: &[u8]) -> Result<(), StoreError> {
        self.ring.write(position, bytes).map_err(StoreError::file("write", &self.path))
    }

    /// Makes nothing of headers that were cut off. They are flushed with the label, before the first frame of this session.
    pub fn wipe(&self, positions: &[u64]) -> Result<(), StoreError> {
        positions.iter().try_for_each(|position| self.write_raw(*position, &[0; HEADER_BYTES]))
    }

    pub fn flush(&self) -> Result<(), StoreError> {
        self.ring.flush().map_err(StoreError::file("flush", &self.path))
    }

    /// Writes the label with what changed, and flushes.
    pub fn relabel(&self, change: impl FnOnce(&mut Label)) -> Result<(), StoreError> {
        let mut label = self.label();
        label.generation += 1;
        label.session = self.session;
        change(&mut label);
        label.write(self.ring.disk()).map_err(StoreError::file("write", &self.path))?;
        self.flush()?;
        *self.lock() = label;
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, Label> {
        self.label.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the label keeps of the image's header.
pub fn image_checksum(header: &[u8]) -> u64 {
    checksum(1, header)
}
