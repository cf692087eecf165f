//! The numbers of the format, and varints: seven bits a byte, least first, the top bit saying that more follow.

use super::error::ChangeError;

/// The first byte of every batch. A reader refuses what is newer than itself.
pub const VERSION: u8 = 1;

/// The lower five bits of a record's first byte.
pub mod kind {
    /// No change, but the object that the next one is about, in full.
    pub const CONTEXT: u8 = 0;
    pub const SLOT_SET: u8 = 1;
    pub const SLOT_REMOVE: u8 = 2;
    pub const MAP_PUT: u8 = 3;
    pub const MAP_REMOVE: u8 = 4;
    pub const DATA: u8 = 5;
    pub const FLAGS: u8 = 6;
    pub const CREATE: u8 = 7;
    /// Three lines with three kinds each, in the order of `Line`: insert, delete, move.
    pub const LINES: u8 = 8;
    pub const LIST_SET: u8 = 17;
    pub const COUNTER_ADD: u8 = 18;
    pub const MEMBER_ADD: u8 = 19;
    pub const MEMBER_REMOVE: u8 = 20;
    pub const FFI_CALL: u8 = 21;
    pub const MASK: u8 = 31;
}

/// The upper bits of a record's first byte.
pub mod bit {
    /// The change is about the same object as the one before; else the distance of the ids follows.
    pub const SAME_OBJECT: u8 = 32;
    /// What is replaced is named; else it is what the author saw.
    pub const NAMED: u8 = 64;
    /// The time is another than that of the change before; the difference follows.
    pub const TIME: u8 = 128;
    /// In a context: the id is a fingerprint.
    pub const DERIVED: u8 = 32;
}

/// The first byte of a datum.
pub mod tag {
    pub const ABSENT: u8 = 0;
    pub const NIL: u8 = 1;
    pub const FALSE: u8 = 2;
    pub const TRUE: u8 = 3;
    /// A whole number that fits a double exactly.
    pub const INTEGER: u8 = 4;
    /// A number that is the same as a 32-bit float.
    pub const SINGLE: u8 = 5;
    pub const DOUBLE: u8 = 6;
    pub const TEXT: u8 = 7;
    pub const BYTES: u8 = 8;
    /// An object of the same actor as the one that the change is about, by distance.
    pub const NEAR: u8 = 9;
    /// Any object, by its place in the batch's table.
    pub const FAR: u8 = 10;
    pub const RECORD: u8 = 11;
    /// From here on the byte is a number itself.
    pub const SMALL: u8 = 32;
}

/// The number that tag `SMALL` stands for.
pub const SMALL_LEAST: i64 = -32;

/// What a new object holds, and what else is said of it.
pub mod body {
    pub const NOTHING: u8 = 0;
    pub const DATA: u8 = 1;
    pub const ITEMS: u8 = 2;
    pub const UNITS: u8 = 3;
    pub const MAP: u8 = 4;
    pub const COUNTERS: u8 = 5;
    pub const MEMBERS: u8 = 6;
    pub const MASK: u8 = 15;
    pub const HAS_FLAGS: u8 = 64;
    pub const IS_UNDER: u8 = 128;
}

/// Which field of its parent a container is made under.
pub mod under {
    pub const SLOT: u8 = 0;
    pub const ENTRY: u8 = 1;
}

pub const WIDTH_MOST: u8 = 16;

#[inline]
pub fn put(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

pub fn put_signed(bytes: &mut Vec<u8>, number: i64) {
    put(bytes, ((number << 1) ^ (number >> 63)) as u64);
}

pub fn put_bytes(bytes: &mut Vec<u8>, content: &[u8]) {
    put(bytes, content.len() as u64);
    bytes.extend(content);
}

/// Reads what may be anything.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl<'b> Reader<'b> {
    pub const fn new(bytes: &'b [u8]) -> Reader<'b> {
        Reader { bytes, at: 0 }
    }

    pub const fn at(&self) -> usize {
        self.at
    }

    pub const fn rest(&self) -> usize {
        self.bytes.len() - self.at
    }

    #[inline]
    pub fn byte(&mut self) -> Result<u8, ChangeError> {
        let byte = *self.bytes.get(self.at).ok_or(ChangeError::Truncated(self.at))?;
        self.at += 1;
        Ok(byte)
    }

    #[inline]
    pub fn number(&mut self) -> Result<u64, ChangeError> {
        let first = self.byte()?;
        if first < 0x80 { Ok(u64::from(first)) } else { self.long_number(u64::from(first & 0x7f)) }
    }

    fn long_number(&mut self, mut number: u64) -> Result<u64, ChangeError> {
        for shift in (7..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if (bits << shift) >> shift != bits {
                break;
            }
            number |= bits << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(ChangeError::Range { what: "number", at: self.at })
    }

    #[inline]
    pub fn signed(&mut self) -> Result<i64, ChangeError> {
        let number = self.number()?;
        Ok((number >> 1) as i64 ^ -((number & 1) as i64))
    }

    /// How many things follow, each of which takes at least one byte: a count that the input cannot hold is refused
    /// before anything is set aside for it.
    pub fn count(&mut self) -> Result<usize, ChangeError> {
        let number = self.number()?;
        match usize::try_from(number) {
            Ok(count) if count <= self.rest() => Ok(count),
            _ => Err(ChangeError::Truncated(self.bytes.len())),
        }
    }

    pub fn take(&mut self, count: usize) -> Result<&'b [u8], ChangeError> {
        let taken = self.bytes[self.at..].get(..count).ok_or(ChangeError::Truncated(self.bytes.len()))?;
        self.at += count;
        Ok(taken)
    }

    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], ChangeError> {
        let taken = self.take(N)?;
        Ok(taken.try_into().expect("as many bytes as were asked for"))
    }

    pub fn prefixed(&mut self) -> Result<&'b [u8], ChangeError> {
        let count = self.count()?;
        self.take(count)
    }

    pub fn small<T: TryFrom<u64>>(&mut self, what: &'static str) -> Result<T, ChangeError> {
        let at = self.at;
        T::try_from(self.number()?).map_err(|_| ChangeError::Range { what, at })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_every_length_come_back() {
        for number in (0..64).map(|shift| 1u64 << shift).flat_map(|bit| [bit - 1, bit, bit + 1]).chain([u64::MAX]) {
            let mut bytes = Vec::new();
            put(&mut bytes, number);
            put_signed(&mut bytes, number as i64);
            let mut reader = Reader::new(&bytes);
            assert_eq!((reader.number(), reader.signed()), (Ok(number), Ok(number as i64)));
            assert_eq!(reader.rest(), 0);
        }
    }

    #[test]
    fn what_is_no_number_is_refused() {
        assert!(Reader::new(&[0xff; 11]).number().is_err());
        assert!(Reader::new(&[0x80]).number().is_err());
        assert!(Reader::new(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2]).number().is_err());
    }

    #[test]
    fn a_count_is_no_more_than_the_input_can_hold() {
        assert!(Reader::new(&[5, 1, 2, 3]).count().is_err());
        assert_eq!(Reader::new(&[3, 1, 2, 3]).count(), Ok(3));
    }
}
