//! How the checkpoint makes way for commits. Its own work is not urgent: it spreads what it sends to the disk, so that no
//! commit's flush finds more than a small piece of it in front.

use crate::error::StoreError;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use system::disk::Disk;

/// Windows of the file that are sent at a time.
const PIECE_BYTES: u64 = 4 << 20;
/// Rest between them, as a part of the time that the last one took.
const REST: u32 = 1;
const REST_MOST: Duration = Duration::from_millis(5);

pub struct Pace {
    file: Box<dyn Disk>,
    path: PathBuf,
}

impl Pace {
    /// `file` is the image's.
    pub fn new(file: Box<dyn Disk>, path: PathBuf) -> Pace {
        Pace { file, path }
    }

    /// Called between objects.
    pub fn breathe(&self) {}

    /// Brings all that was handed to the kernel to the medium.
    pub fn flush(&self) -> Result<(), StoreError> {
        let length = self.file.len().map_err(StoreError::file("look at", &self.path))?;
        let mut start = 0;
        while start < length {
            let began = Instant::now();
            self.file.push(start..start + PIECE_BYTES);
            start += PIECE_BYTES;
            let took = began.elapsed();
            if took > Duration::from_micros(100) {
                std::thread::sleep((took * REST).min(REST_MOST));
            }
        }
        self.file.flush().map_err(StoreError::file("flush", &self.path))
    }
}
