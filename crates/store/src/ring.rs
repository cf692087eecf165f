//! The log as bytes: positions that never go back, laid round and round into a file of bounded size. Owns the mapping, and
//! that the file grows in steps, for a flush that changes a file's size costs the journal of the file system.

use crate::label::SLOT_BYTES;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use system::disk::Disk;

/// Frames begin behind the two copies of the label.
const DATA_START: u64 = 2 * SLOT_BYTES;
/// The file grows by so much at a time, with zeroes.
const GROWTH_BYTES: u64 = 1 << 20;

pub struct Ring {
    disk: Box<dyn Disk>,
    capacity: u64,
    /// Of the file. Only the one writer changes it.
    length: AtomicU64,
}

impl Ring {
    pub fn new(disk: Box<dyn Disk>, capacity: u64) -> io::Result<Ring> {
        let length = AtomicU64::new(disk.len()?);
        Ok(Ring { disk, capacity, length })
    }

    pub fn disk(&self) -> &dyn Disk {
        &*self.disk
    }

    pub const fn capacity(&self) -> u64 {
        self.capacity
    }

    /// Writes at a position. One writer at a time.
    pub fn write(&self, position: u64, bytes: &[u8]) -> io::Result<()> {
        let (offset, first) = self.part(position, bytes.len());
        self.write_part(offset, &bytes[..first])?;
        if first < bytes.len() {
            self.write_part(DATA_START, &bytes[first..])?;
        }
        Ok(())
    }

    /// Reads what the file has there; fewer bytes where it was never written.
    pub fn read(&self, position: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let (offset, first) = self.part(position, buffer.len());
        let read = self.disk.read_at(offset, &mut buffer[..first])?;
        if read < first || first == buffer.len() {
            return Ok(read);
        }
        Ok(read + self.disk.read_at(DATA_START, &mut buffer[first..])?)
    }

    pub fn flush(&self) -> io::Result<()> {
        self.disk.flush()
    }

    /// Where a position lies, and how many bytes fit before the end of the ring.
    fn part(&self, position: u64, bytes: usize) -> (u64, usize) {
        let offset = position % self.capacity;
        (DATA_START + offset, bytes.min((self.capacity - offset) as usize))
    }

    fn write_part(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.disk.write_at(offset, bytes)?;
        let end = offset + bytes.len() as u64;
        if end <= self.length.load(Ordering::Relaxed) {
            return Ok(());
        }
        let grown = (end + GROWTH_BYTES).next_multiple_of(GROWTH_BYTES).min(DATA_START + self.capacity);
        let zeroes = vec![0; (grown - end) as usize];
        match self.disk.write_at(end, &zeroes) {
            Ok(()) => self.length.store(grown, Ordering::Relaxed),
            // What had to be written is; the rest was for later.
            Err(error) if error.kind() == io::ErrorKind::StorageFull => self.length.store(end, Ordering::Relaxed),
            Err(error) => return Err(error),
        }
        Ok(())
    }
}
