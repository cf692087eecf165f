//! Sequences as bits and raw bytes. Bit 0 is the lowest bit of the first byte.

use super::{Sequence, SequenceError};

/// Whether `as_binary_integer` reads a sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BinaryInteger {
    Signed,
    Unsigned,
}

impl Sequence {
    /// 0 or 1; 0 past the end. Constant time.
    pub fn bit_at(&self, index: usize) -> u8 {
        (self.byte_at(index / 8) >> (index % 8)) & 1
    }

    /// Does nothing past the end.
    pub fn set_bit_at(&mut self, index: usize, bit: bool) {
        if let Some(byte) = self.buffer.as_mut_slice().get_mut(index / 8) {
            let mask = 1 << (index % 8);
            *byte = if bit { *byte | mask } else { *byte & !mask };
        }
    }

    /// 0 past the end. Constant time.
    pub fn byte_at(&self, index: usize) -> u8 {
        self.as_bytes().get(index).copied().unwrap_or(0)
    }

    /// Does nothing past the end.
    pub fn set_byte_at(&mut self, index: usize, value: u8) {
        if let Some(byte) = self.buffer.as_mut_slice().get_mut(index) {
            *byte = value;
        }
    }

    pub fn set_all_bits_to(&mut self, bit: bool) {
        self.buffer.as_mut_slice().fill(if bit { 0xff } else { 0 });
    }

    /// The number of bits that are set.
    pub fn bit_count(&self) -> usize {
        self.as_bytes().iter().map(|byte| byte.count_ones() as usize).sum()
    }

    /// `0` and `1` for each bit, lowest first.
    pub fn as_bits(&self) -> Sequence {
        let bits = (0..self.size_in_bytes() * 8).map(|index| b'0' + self.bit_at(index));
        Sequence::from_vec(bits.collect())
    }

    pub fn bitwise_or(&mut self, other: &Sequence) {
        self.combine_bytes(other, |left, right| left | right);
    }

    pub fn bitwise_and(&mut self, other: &Sequence) {
        self.combine_bytes(other, |left, right| left & right);
    }

    pub fn bitwise_xor(&mut self, other: &Sequence) {
        self.combine_bytes(other, |left, right| left ^ right);
    }

    pub fn bitwise_not(&mut self) {
        self.buffer.as_mut_slice().iter_mut().for_each(|byte| *byte = !*byte);
    }

    /// The bytes as one little-endian integer; there must be 1, 2 or 4.
    pub fn as_binary_integer(&self, kind: BinaryInteger) -> Result<f64, SequenceError> {
        let value = match *self.as_bytes() {
            [a] => (i64::from(i8::from_le_bytes([a])), u32::from(a)),
            [a, b] => (i64::from(i16::from_le_bytes([a, b])), u32::from(u16::from_le_bytes([a, b]))),
            [a, b, c, d] => (i64::from(i32::from_le_bytes([a, b, c, d])), u32::from_le_bytes([a, b, c, d])),
            _ => return Err(SequenceError::BinaryIntegerSize(self.size_in_bytes())),
        };
        Ok(match kind {
            BinaryInteger::Signed => value.0 as f64,
            BinaryInteger::Unsigned => f64::from(value.1),
        })
    }

    /// The first bytes (Io's default is 8) as the low bytes of a Number's own representation.
    pub fn as_binary_number(&self, byte_count: usize) -> Result<f64, SequenceError> {
        if byte_count > 8 {
            return Err(SequenceError::BinaryNumberTooWide(byte_count));
        }
        let available = self.size_in_bytes();
        let bytes = self.as_bytes().get(..byte_count);
        let bytes = bytes.ok_or(SequenceError::BinaryNumberSize { requested: byte_count, available })?;
        let mut representation = [0; 8];
        representation[..byte_count].copy_from_slice(bytes);
        Ok(f64::from_le_bytes(representation))
    }

    fn combine_bytes(&mut self, other: &Sequence, combine: impl Fn(u8, u8) -> u8) {
        let pairs = self.buffer.as_mut_slice().iter_mut().zip(other.as_bytes());
        pairs.for_each(|(left, right)| *left = combine(*left, *right));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sequence::ItemType;

    #[test]
    fn reads_bits_and_bytes_as_the_io_suite_says() {
        let bytes = |values: &[u8]| Sequence::from_bytes(values);
        assert_eq!((bytes(&[1]).bit_at(0), bytes(&[2]).bit_at(0), bytes(&[2]).bit_at(1)), (1, 0, 1));
        assert_eq!((bytes(&[0, 1]).bit_at(8), bytes(&[0, 2]).bit_at(9), bytes(&[0]).bit_at(99)), (1, 1, 0));
        let mut wide = Sequence::from("abcd");
        wide.set_item_type(ItemType::Uint16);
        assert_eq!((0..4).map(|index| wide.byte_at(index)).collect::<Vec<_>>(), [97, 98, 99, 100]);
        assert_eq!(bytes(&[0xff, 1]).bit_count(), 9);
        assert_eq!(bytes(&[5]).as_bits(), Sequence::from("10100000"));
    }

    #[test]
    fn writes_and_combines() {
        let mut sequence = Sequence::from_bytes(&[0b1100, 0xff]);
        sequence.bitwise_and(&Sequence::from_bytes(&[0b1010]));
        assert_eq!(sequence.as_bytes(), [0b1000, 0xff]);
        sequence.bitwise_xor(&Sequence::from_bytes(&[0b0001, 0x0f]));
        sequence.bitwise_or(&Sequence::from_bytes(&[0b0010]));
        assert_eq!(sequence.as_bytes(), [0b1011, 0xf0]);
        sequence.bitwise_not();
        sequence.set_bit_at(0, true);
        sequence.set_bit_at(8, false);
        assert_eq!(sequence.as_bytes(), [0b1111_0101, 0x0e]);
    }

    #[test]
    fn reads_binary_numbers() {
        let bytes = Sequence::from_bytes(&[0xff, 0xff]);
        assert_eq!(bytes.as_binary_integer(BinaryInteger::Unsigned), Ok(65535.0));
        assert_eq!(bytes.as_binary_integer(BinaryInteger::Signed), Ok(-1.0));
        assert!(Sequence::from("abc").as_binary_integer(BinaryInteger::Signed).is_err());
        assert_eq!(Sequence::from_bytes(&1.5f64.to_le_bytes()).as_binary_number(8), Ok(1.5));
        assert!(bytes.as_binary_number(8).is_err() && bytes.as_binary_number(9).is_err());
    }
}
