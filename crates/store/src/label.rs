//! The head of the log file: what store it belongs to, and what is known about log and image. There are two copies, written
//! in turn, so that a torn write leaves the other.

use crate::bytes::{Fields, checksum};
use crate::error::StoreError;
use std::path::Path;
use system::disk::Disk;

/// One copy; a block of the disk, so that writing one never touches the other.
pub const SLOT_BYTES: u64 = 4096;
pub const VERSION: u32 = 1;
const MAGIC: [u8; 8] = *b"teloswal";
const USED_BYTES: usize = 104;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Label {
    /// Grows with each writing; the greater of the two counts.
    pub generation: u64,
    pub store: [u8; 16],
    /// The room for frames, which begin again at the front when it is used up.
    pub capacity: u64,
    /// Which opening of the store writes, or wrote last.
    pub session: u32,
    /// No frame reaches beyond this position.
    pub frontier: u64,
    /// Up to here the log was flushed: what is missing before is damage.
    pub durable: u64,
    /// Up to here the image holds what the log held: this room is free.
    pub applied: u64,
    /// The image's last transaction that was flushed,
    pub image_number: u64,
    /// and the checksum of its header.
    pub image_checksum: u64,
}

impl Label {
    /// Seeds the checksums of frames, so that those of another store are none of ours.
    pub fn seed(&self) -> u64 {
        checksum(0, &self.store)
    }

    pub fn write(&self, disk: &dyn Disk) -> std::io::Result<()> {
        disk.write_at(self.generation % 2 * SLOT_BYTES, &self.to_bytes())
    }

    /// The newer of the two copies that is whole.
    pub fn read(disk: &dyn Disk, path: &Path) -> Result<Label, StoreError> {
        let mut newest: Option<Label> = None;
        for slot in 0..2 {
            let mut bytes = [0; USED_BYTES];
            let read = disk.read_at(slot * SLOT_BYTES, &mut bytes).map_err(StoreError::file("read", path))?;
            if let Some(label) = Label::from_bytes(&bytes[..read], path)? {
                newest = newest.into_iter().chain([label]).max_by_key(|label| label.generation);
            }
        }
        newest.ok_or_else(|| StoreError::corrupt(path, "both copies of its head are damaged"))
    }

    fn to_bytes(self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(USED_BYTES);
        bytes.extend(MAGIC);
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend(self.session.to_le_bytes());
        bytes.extend(self.generation.to_le_bytes());
        bytes.extend(self.store);
        let numbers =
            [self.capacity, self.frontier, self.durable, self.applied, self.image_number, self.image_checksum, 0];
        numbers.iter().for_each(|number| bytes.extend(number.to_le_bytes()));
        let sum = checksum(0, &bytes);
        bytes.extend(sum.to_le_bytes());
        bytes
    }

    fn from_bytes(bytes: &[u8], path: &Path) -> Result<Option<Label>, StoreError> {
        if bytes.len() < USED_BYTES || bytes[..8] != MAGIC {
            return Ok(None);
        }
        let mut fields = Fields::new(&bytes[8..]);
        let version = fields.u32();
        let session = fields.u32();
        let (generation, store) = (fields.u64(), fields.array());
        let mut number = || fields.u64();
        let (capacity, frontier, durable, applied) = (number(), number(), number(), number());
        let (image_number, image_checksum) = (number(), number());
        number();
        if number() != checksum(0, &bytes[..USED_BYTES - 8]) {
            return Ok(None);
        }
        if version != VERSION {
            return Err(StoreError::Version { path: path.into(), found: version, known: VERSION });
        }
        let label =
            Label { generation, store, capacity, session, frontier, durable, applied, image_number, image_checksum };
        Ok(Some(label))
    }
}
