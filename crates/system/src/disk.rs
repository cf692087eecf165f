//! A file as the store needs it. A trait, so that tests can put a disk in its place that crashes, fails or is full.

use crate::file;
use rustix::fs::{Advice, fadvise};
use std::fs::{File, OpenOptions};
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Bytes at offsets. What was written is on the medium only after a flush; until then each of its sectors may or may not be.
#[expect(clippy::len_without_is_empty, reason = "nobody asks whether a disk is empty")]
pub trait Disk: Send + Sync {
    /// Reads up to the buffer's length; fewer bytes only at the end.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize>;
    /// Writes all of it, growing the file where it goes past the end.
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()>;
    /// Returns when all that was written before is on the medium. After an error nobody knows what is there.
    fn flush(&self) -> io::Result<()>;
    fn len(&self) -> io::Result<u64>;

    /// Sends what is dirty in this range and waits until the device has it. Promises nothing about a crash: that takes a
    /// flush, which then finds less to do. Where the kernel cannot do it, nothing happens.
    fn push(&self, range: Range<u64>) {
        let _ = range;
    }
}

/// A file of the host.
pub struct FileDisk(File);

impl FileDisk {
    /// An empty file that is its owner's alone, in the place of one that may be there already.
    pub fn create(path: &Path) -> io::Result<FileDisk> {
        file::create_private(path).map(FileDisk)
    }

    pub fn open(path: &Path, is_writable: bool) -> io::Result<FileDisk> {
        let file = OpenOptions::new().read(true).write(is_writable).open(path)?;
        // A log is read once, from front to end; a failed hint is no failure.
        let _ = fadvise(&file, 0, None, Advice::Sequential);
        Ok(FileDisk(file))
    }
}

impl Disk for FileDisk {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let mut filled = 0;
        while filled < buffer.len() {
            match self.0.read_at(&mut buffer[filled..], offset + filled as u64) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(filled)
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all_at(bytes, offset)
    }

    fn flush(&self) -> io::Result<()> {
        self.0.sync_data()
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.0.metadata()?.len())
    }

    fn push(&self, range: Range<u64>) {
        file::push(&self.0, range);
    }
}
