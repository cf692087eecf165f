//! One frame of the log: a header of fixed size, and what it carries. Owns its bytes, which `docs/file-format.md` tables.
//!
//! The header names the frame's own position, so that what an earlier lap left behind is never taken for it; the session
//! that wrote it, so that nor is what was cut off; and up to where the log was flushed when it was made. That last number
//! tells damage from a torn tail: a frame can be missing in front of one that knows it was flushed only if the disk lost it.

use crate::bytes::{Fields, checksum};

pub const HEADER_BYTES: usize = 56;
/// Frames begin at multiples of this, so that looking for one tries few places.
pub const ALIGNMENT: u64 = 8;
pub const VERSION: u8 = 1;
const CHECKED_BYTES: usize = HEADER_BYTES - 8;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Kind {
    Commit = 1,
    /// Actors up to a number were given out.
    Actors = 2,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Header {
    pub kind: Kind,
    /// Where the frame begins, counted from the beginning of all logs of this store.
    pub position: u64,
    /// Of the commit; of the one before, where it is none.
    pub number: u64,
    /// The log was flushed up to here when the frame was made.
    pub durable: u64,
    /// Which opening of the store wrote it.
    pub session: u32,
    pub payload_bytes: u32,
    pub payload_checksum: u64,
}

/// What bytes are that may be a header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Found {
    /// None, or none that is whole.
    Nothing,
    Header(Header),
    /// A whole one that this program does not understand: a newer program wrote it.
    Unknown {
        version: u8,
        kind: u8,
    },
}

impl Header {
    /// Where the next frame begins.
    pub fn end(&self) -> u64 {
        self.position + frame_bytes(self.payload_bytes as usize)
    }

    pub fn write(&self, seed: u64, bytes: &mut Vec<u8>) {
        let start = bytes.len();
        bytes.extend(self.payload_bytes.to_le_bytes());
        bytes.extend([VERSION, self.kind as u8, 0, 0]);
        bytes.extend(self.position.to_le_bytes());
        bytes.extend(self.number.to_le_bytes());
        bytes.extend(self.durable.to_le_bytes());
        bytes.extend(self.session.to_le_bytes());
        bytes.extend([0; 4]);
        bytes.extend(self.payload_checksum.to_le_bytes());
        let checksum = checksum(seed, &bytes[start..]);
        bytes.extend(checksum.to_le_bytes());
    }

    /// What these bytes are at this position. The checksum comes first: what does not match it says nothing.
    pub fn read(seed: u64, position: u64, bytes: &[u8]) -> Found {
        let Some(bytes) = bytes.get(..HEADER_BYTES) else { return Found::Nothing };
        // Asked of every place in a torn tail: the position alone tells nearly always.
        if bytes[8..16] != position.to_le_bytes() {
            return Found::Nothing;
        }
        let mut fields = Fields::new(bytes);
        let payload_bytes = fields.u32();
        let (version, kind) = (fields.u8(), fields.u8());
        fields.u16();
        fields.u64();
        let (number, durable, session) = (fields.u64(), fields.u64(), fields.u32());
        fields.u32();
        let payload_checksum = fields.u64();
        if fields.u64() != checksum(seed, &bytes[..CHECKED_BYTES]) {
            return Found::Nothing;
        }
        let kind = match (version, kind) {
            (VERSION, 1) => Kind::Commit,
            (VERSION, 2) => Kind::Actors,
            _ => return Found::Unknown { version, kind },
        };
        Found::Header(Header { kind, position, number, durable, session, payload_bytes, payload_checksum })
    }

    pub fn matches(&self, seed: u64, payload: &[u8]) -> bool {
        checksum(seed, payload) == self.payload_checksum
    }
}

/// The room that a frame takes.
pub fn frame_bytes(payload_bytes: usize) -> u64 {
    ((HEADER_BYTES + payload_bytes) as u64).next_multiple_of(ALIGNMENT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_comes_back_in_its_own_place_only() {
        let header = Header {
            kind: Kind::Commit,
            position: 4096,
            number: 7,
            durable: 4000,
            session: 3,
            payload_bytes: 100,
            payload_checksum: 99,
        };
        let mut bytes = Vec::new();
        header.write(5, &mut bytes);
        assert_eq!(bytes.len(), HEADER_BYTES);
        assert_eq!(Header::read(5, 4096, &bytes), Found::Header(header));
        assert_eq!(Header::read(6, 4096, &bytes), Found::Nothing, "another store's");
        assert_eq!(Header::read(5, 8192, &bytes), Found::Nothing, "another place");
        for bit in 0..bytes.len() * 8 {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Header::read(5, 4096, &flipped), Found::Nothing, "bit {bit}");
        }
        assert_eq!(header.end(), 4096 + 160);
        for (at, version, kind) in [(4, 2, 1), (5, 1, 3)] {
            let mut newer = bytes[..CHECKED_BYTES].to_vec();
            newer[at] += if at == 4 { 1 } else { 2 };
            assert_ne!(
                Header::read(5, 4096, &[&newer[..], &bytes[CHECKED_BYTES..]].concat()),
                Found::Unknown { version, kind }
            );
            newer.extend(checksum(5, &newer).to_le_bytes());
            assert_eq!(Header::read(5, 4096, &newer), Found::Unknown { version, kind });
        }
    }
}
