//! The data behind Io's `Sequence`: strings, byte buffers and vectors of numbers in one type.
//!
//! A sequence is one flat run of little-endian items of one machine type, with an encoding that says what the items
//! mean. Owns every operation on that data alone; it must never know of objects, symbols, mutability flags or the
//! interpreter, and never panics on any content: text that is not valid UTF-8 simply stays bytes.
//!
//! Invariant: the bytes are a whole number of items, and the encoding fits the item size (`ascii` and `utf8` one byte,
//! `ucs2` two, `ucs4` four, `number` any).
//!
//! Cost: unless a method says otherwise it is linear in the bytes of its receiver and arguments ([`Sequence::len`]
//! times the item size), searches included. `len`, `at`, `at_put` within bounds, `byte_at` and `bit_at` take constant time,
//! appending takes time in what is appended.
//!
//! Named after the Io methods. Those that change the receiver take `&mut self`; the rest return new values. Slices,
//! splits and copies keep the item type and encoding of the receiver.

mod align;
mod bits;
mod buffer;
mod coding;
mod compare;
mod edit;
mod encoding;
mod error;
mod item;
mod pack;
mod path;
mod radix;
mod replace;
mod search;
mod slice;
mod split;
mod text;
mod vector;

use buffer::Buffer;
use item::{Item, Scalar, with_item};

pub use bits::BinaryInteger;
pub use error::SequenceError;
pub use item::{Encoding, ItemType};
pub use pack::PackValue;
pub use split::InterpolationPiece;
pub use vector::{Operand, Operator, UnaryFunction};

/// No sequence grows beyond this many bytes by being given a size or an index, or by an operation whose result can be
/// far larger than what it was given.
pub const SIZE_LIMIT_BYTES: usize = 1 << 30;

/// Io's `whiteSpaceStrings`: what `split` and `strip` use when given no argument.
pub const WHITE_SPACE: &str = " \t\n\r";

/// Whoever computes the size of a result before building it asks here first.
fn check_size(bytes: usize) -> Result<(), SequenceError> {
    if bytes > SIZE_LIMIT_BYTES { Err(SequenceError::TooLarge { bytes, limit: SIZE_LIMIT_BYTES }) } else { Ok(()) }
}

#[derive(Clone)]
pub struct Sequence {
    buffer: Buffer,
    item_type: ItemType,
    encoding: Encoding,
}

impl Default for Sequence {
    fn default() -> Self {
        Self::new()
    }
}

impl Sequence {
    /// Empty text: `uint8` items in `utf8`, as a fresh Io `Sequence`.
    pub const fn new() -> Self {
        Self { buffer: Buffer::new(), item_type: ItemType::Uint8, encoding: Encoding::Utf8 }
    }

    /// An empty sequence of the given type; text if the type can hold it and `encoding` asks for it.
    pub fn with_type(item_type: ItemType, encoding: Encoding) -> Self {
        let mut sequence = Self::new();
        sequence.set_encoding(encoding);
        sequence.set_item_type(item_type);
        sequence
    }

    /// Text from bytes that need not be valid UTF-8.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        Self { buffer: Buffer::from_slice(bytes), ..Self::new() }
    }

    /// Takes over the bytes without copying long ones.
    pub fn from_vec(bytes: Vec<u8>) -> Self {
        Self { buffer: Buffer::from_vec(bytes), ..Self::new() }
    }

    /// A `float32` vector in `number` encoding, Io's `vector(…)`.
    pub fn vector(numbers: &[f64]) -> Self {
        let mut sequence = Self::with_type(ItemType::Float32, Encoding::Number);
        numbers.iter().for_each(|number| sequence.append_number(*number));
        sequence
    }

    /// Rebuilds a sequence from its stored parts, padding the bytes to whole items.
    pub fn from_parts(item_type: ItemType, encoding: Encoding, bytes: &[u8]) -> Self {
        let mut sequence = Self::from_bytes(bytes);
        sequence.encoding = encoding;
        sequence.set_item_type(item_type);
        sequence
    }

    /// Io's `Number asCharacter`: one item holding a code point, in the narrowest fixed-width encoding. `None` for what
    /// is no code point (negative, fractional, beyond 32 bits).
    pub fn from_code_point(number: f64) -> Option<Self> {
        let code = number as u32;
        if f64::from(code) != number {
            return None;
        }
        let (item_type, encoding) = match code {
            0..=0xff => (ItemType::Uint8, Encoding::Ascii),
            0x100..=0xffff => (ItemType::Uint16, Encoding::Ucs2),
            _ => (ItemType::Uint32, Encoding::Ucs4),
        };
        let mut sequence = Self::with_type(item_type, encoding);
        sequence.append_number(number);
        Some(sequence)
    }

    pub fn item_type(&self) -> ItemType {
        self.item_type
    }

    pub fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// Bytes per item.
    pub fn item_size(&self) -> usize {
        self.item_type.size()
    }

    /// Items, Io's `size`.
    #[inline]
    pub fn len(&self) -> usize {
        self.as_bytes().len() >> self.item_type.size_shift()
    }

    pub fn is_empty(&self) -> bool {
        self.as_bytes().is_empty()
    }

    #[inline]
    pub fn size_in_bytes(&self) -> usize {
        self.as_bytes().len()
    }

    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        self.buffer.as_slice()
    }

    /// The bytes as text, if items are bytes and they are valid UTF-8. Linear.
    pub fn as_str(&self) -> Option<&str> {
        if self.item_size() == 1 { std::str::from_utf8(self.as_bytes()).ok() } else { None }
    }

    /// For messages and printing: any sequence as text, what is not valid UTF-8 replaced. Linear.
    pub fn to_text(&self) -> String {
        match self.as_str() {
            Some(text) if self.encoding.is_text() => text.to_owned(),
            _ => String::from_utf8_lossy(self.as_utf8().as_bytes()).into_owned(),
        }
    }

    /// The same item type and encoding, other bytes. The caller passes whole items.
    fn like(&self, bytes: &[u8]) -> Self {
        Self { buffer: Buffer::from_slice(bytes), item_type: self.item_type, encoding: self.encoding }
    }

    fn like_vec(&self, bytes: Vec<u8>) -> Self {
        Self { buffer: Buffer::from_vec(bytes), item_type: self.item_type, encoding: self.encoding }
    }

    fn scalar_at(&self, index: usize) -> Option<Scalar> {
        let bytes = self.as_bytes().chunks_exact(self.item_size()).nth(index)?;
        Some(with_item!(self.item_type, T => T::read(bytes).to_scalar()))
    }

    fn scalars(&self) -> impl DoubleEndedIterator<Item = Scalar> + '_ {
        let item_type = self.item_type;
        self.as_bytes()
            .chunks_exact(self.item_size())
            .map(move |bytes| with_item!(item_type, T => T::read(bytes).to_scalar()))
    }

    /// All items as Numbers, in order.
    pub fn numbers(&self) -> impl DoubleEndedIterator<Item = f64> + '_ {
        self.scalars().map(Scalar::to_number)
    }
}

impl From<&str> for Sequence {
    fn from(text: &str) -> Self {
        Self::from_bytes(text.as_bytes())
    }
}

impl From<String> for Sequence {
    fn from(text: String) -> Self {
        Self::from_vec(text.into_bytes())
    }
}

impl std::fmt::Debug for Sequence {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{} {} {:?}", self.item_type.name(), self.encoding.name(), self.to_text())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_small() {
        assert!(size_of::<Sequence>() <= 32);
    }

    #[test]
    fn characters_take_the_narrowest_item() {
        let character = |code| Sequence::from_code_point(code).unwrap();
        assert_eq!(character(65.0).as_bytes(), b"A");
        assert_eq!(character(8364.0).encoding(), Encoding::Ucs2);
        assert_eq!(character(128512.0).at(0), Some(128512.0));
        assert_eq!(character(128512.0).to_text(), "😀");
        assert!(Sequence::from_code_point(-1.0).is_none());
        assert!(Sequence::from_code_point(1.5).is_none());
    }
}
