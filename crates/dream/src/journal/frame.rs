//! One frame: a header of fixed size, and what it carries. Its bytes are tabled in `docs/dream-format.md`; a kept dream is a file
//! of such frames.
//!
//! The checksum is seeded by the dream and by where the frame begins, so that neither a frame of another dream nor one out of
//! its place is taken for it. It finds accidents; who forges a frame can forge the checksum too.

use super::JournalError;
use store::checksum;

pub const HEADER_BYTES: usize = 13;
/// The checksum covers all that comes after it.
const CHECKSUM_BYTES: usize = 8;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Kind {
    Commit = 1,
    /// The others are for files: how the dream began, a commit with the time of its receipt, a file that it changed, and how
    /// it ended.
    Header = 2,
    Received = 3,
    File = 4,
    End = 5,
}

impl Kind {
    fn of(number: u8) -> Option<Kind> {
        [Kind::Commit, Kind::Header, Kind::Received, Kind::File, Kind::End]
            .into_iter()
            .find(|kind| *kind as u8 == number)
    }
}

/// What a header says; whether it is true is known when the payload is there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Frame {
    pub kind: Kind,
    pub payload_bytes: usize,
    checksum: u64,
    position: u64,
}

impl Frame {
    /// From the bytes of a header; the frame begins at `position`.
    pub fn read(header: &[u8; HEADER_BYTES], position: u64) -> Result<Frame, JournalError> {
        let (expected, rest) = header.split_at(CHECKSUM_BYTES);
        let checksum = u64::from_le_bytes(expected.try_into().expect("eight bytes were split off"));
        let [length @ .., kind] = rest else { return Err(JournalError::Kind { position, kind: 0 }) };
        let length = u32::from_le_bytes(length.try_into().expect("four bytes stand before the kind"));
        let kind = Kind::of(*kind).ok_or(JournalError::Kind { position, kind: *kind })?;
        Ok(Frame { kind, payload_bytes: length as usize, checksum, position })
    }

    /// How long it is with its header.
    pub const fn bytes(&self) -> usize {
        HEADER_BYTES + self.payload_bytes
    }

    /// The payload, if the frame is what was written; `bytes` is all of it, header included.
    pub fn checked<'b>(&self, seed: u64, bytes: &'b [u8]) -> Result<&'b [u8], JournalError> {
        let is_whole = bytes.len() == self.bytes();
        if is_whole && checksum(seed.wrapping_add(self.position), &bytes[CHECKSUM_BYTES..]) == self.checksum {
            Ok(&bytes[HEADER_BYTES..])
        } else {
            Err(JournalError::Checksum { position: self.position })
        }
    }
}

/// Writes a frame behind whatever the buffer holds. The payload, which comes in parts, is shorter than 4 GiB: its bounds see
/// to that.
pub fn write(seed: u64, position: u64, kind: Kind, payload: &[&[u8]], buffer: &mut Vec<u8>) {
    let (start, payload_bytes) = (buffer.len(), payload.iter().map(|part| part.len()).sum::<usize>());
    buffer.reserve(HEADER_BYTES + payload_bytes);
    buffer.extend([0; CHECKSUM_BYTES]);
    buffer.extend((payload_bytes as u32).to_le_bytes());
    buffer.push(kind as u8);
    payload.iter().for_each(|part| buffer.extend(*part));
    let sum = checksum(seed.wrapping_add(position), &buffer[start + CHECKSUM_BYTES..]);
    buffer[start..start + CHECKSUM_BYTES].copy_from_slice(&sum.to_le_bytes());
}
