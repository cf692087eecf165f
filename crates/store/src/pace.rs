//! How the checkpoint makes way for commits. Its own work is not urgent: it sends the image's pages to the disk in small
//! pieces with rests between, so that no commit's flush finds more than a piece of it in front. Only when the log fills up
//! does it hurry.

use crate::error::StoreError;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use system::disk::Disk;

/// Of the file, dirty or not, at a time.
const PIECE_BYTES: u64 = 4 << 20;
/// What takes less had nothing to send.
const NOTHING: Duration = Duration::from_micros(100);
const REST_MOST: Duration = Duration::from_millis(5);
/// Long enough for who was woken by a lock to get it.
const REST_SHORT: Duration = Duration::from_micros(50);

pub struct Pace {
    /// The image's.
    file: Box<dyn Disk>,
    path: PathBuf,
}

impl Pace {
    pub fn new(file: Box<dyn Disk>, path: PathBuf) -> Pace {
        Pace { file, path }
    }

    /// Brings all that was handed to the kernel to the medium. After each piece it rests for as long as that took, unless
    /// there is hurry.
    pub fn flush(&self, is_urgent: impl Fn() -> bool) -> Result<(), StoreError> {
        let length = self.file.len().map_err(StoreError::file("look at", &self.path))?;
        let mut start = 0;
        while start < length && !is_urgent() {
            let began = Instant::now();
            self.file.push(start..start + PIECE_BYTES);
            start += PIECE_BYTES;
            let took = began.elapsed();
            if took > NOTHING {
                std::thread::sleep(took.min(REST_MOST));
            }
        }
        self.file.flush().map_err(StoreError::file("flush", &self.path))
    }

    /// Between two short pieces of work that others wait for: who gives a lock back and takes it again at once leaves it to nobody.
    pub fn rest(&self, is_urgent: impl Fn() -> bool) {
        if !is_urgent() {
            std::thread::sleep(REST_SHORT);
        }
    }
}
