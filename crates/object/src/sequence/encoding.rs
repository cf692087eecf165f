//! From one item type or text encoding to another. Owns UTF-8 decoding and encoding.
//!
//! Nothing is lost on the way: a byte that is not part of valid UTF-8 decodes to the code point of the same value
//! (Latin-1), characters beyond 16 bits become surrogate pairs in `ucs2`, and a lone surrogate is written in the
//! three-byte form that UTF-8 would give it.

use super::{Buffer, Encoding, Item, ItemType, Sequence, with_item};

impl Sequence {
    /// Reads the same bytes as items of another type, padding with zeros to a whole item.
    pub fn set_item_type(&mut self, item_type: ItemType) {
        self.encoding = item_type.text_encoding(self.encoding);
        self.item_type = item_type;
        let whole = self.size_in_bytes().next_multiple_of(item_type.size());
        self.buffer.resize(whole);
    }

    /// Marks the same bytes as another encoding; a text encoding brings its item type along, `number` keeps it.
    pub fn set_encoding(&mut self, encoding: Encoding) {
        match encoding {
            Encoding::Ascii | Encoding::Utf8 => self.set_item_type(ItemType::Uint8),
            Encoding::Ucs2 => self.set_item_type(ItemType::Uint16),
            Encoding::Ucs4 => self.set_item_type(ItemType::Uint32),
            Encoding::Number => {}
        }
        self.encoding = encoding;
    }

    /// Converts each item by value; text bytes are taken as they are, not decoded.
    pub fn convert_to_item_type(&mut self, item_type: ItemType) {
        if item_type == self.item_type {
            return;
        }
        let size = item_type.size();
        let mut bytes = vec![0; self.len() * size];
        for (slot, scalar) in bytes.chunks_exact_mut(size).zip(self.scalars()) {
            with_item!(item_type, T => T::from_scalar(scalar).write(slot));
        }
        let previous = if self.encoding == Encoding::Utf8 { Encoding::Ascii } else { self.encoding };
        *self = Self { buffer: Buffer::from_vec(bytes), item_type, encoding: item_type.text_encoding(previous) };
    }

    /// Numbers become text like `1, 2, 3` (`1.000000, …` for floats).
    pub fn as_utf8(&self) -> Sequence {
        match self.encoding {
            Encoding::Utf8 => self.clone(),
            // Bytes above 127 are taken for UTF-8 that was never marked as such.
            Encoding::Ascii => Self { encoding: Encoding::Utf8, item_type: ItemType::Uint8, ..self.clone() },
            Encoding::Ucs2 | Encoding::Ucs4 => {
                let mut bytes = Vec::with_capacity(self.len());
                self.code_points().into_iter().for_each(|code| push_utf8(&mut bytes, code));
                Sequence::from_vec(bytes)
            }
            Encoding::Number => Sequence::from(self.as_number_list()),
        }
    }

    pub fn as_ucs2(&self) -> Sequence {
        Self::from_code_points(&self.text_code_points(), ItemType::Uint16, Encoding::Ucs2)
    }

    pub fn as_ucs4(&self) -> Sequence {
        Self::from_code_points(&self.text_code_points(), ItemType::Uint32, Encoding::Ucs4)
    }

    /// One byte per character; what does not fit becomes `?`.
    pub fn as_latin1(&self) -> Sequence {
        let bytes = self.text_code_points().into_iter().map(|code| u8::try_from(code).unwrap_or(b'?'));
        Self { encoding: Encoding::Ascii, ..Sequence::from_vec(bytes.collect()) }
    }

    pub fn convert_to_utf8(&mut self) {
        *self = self.as_utf8();
    }

    pub fn convert_to_ucs2(&mut self) {
        *self = self.as_ucs2();
    }

    pub fn convert_to_ucs4(&mut self) {
        *self = self.as_ucs4();
    }

    /// Text in an encoding where every character is one item: `ascii` when all fit one byte, `ucs2` when UTF-8 needs
    /// at most two bytes for any, else `ucs4`. Other encodings are fixed-size already.
    pub fn as_fixed_size_type(&self) -> Sequence {
        if self.encoding != Encoding::Utf8 {
            return self.clone();
        }
        match self.code_points().iter().max() {
            Some(0x800..) => self.as_ucs4(),
            Some(0x80..) => self.as_ucs2(),
            _ => Self { encoding: Encoding::Ascii, ..self.clone() },
        }
    }

    pub fn convert_to_fixed_size_type(&mut self) {
        *self = self.as_fixed_size_type();
    }

    pub fn is_legal_utf8(&self) -> bool {
        std::str::from_utf8(self.as_bytes()).is_ok()
    }

    pub fn number_of_characters(&self) -> usize {
        if self.encoding == Encoding::Utf8 { self.code_points().len() } else { self.len() }
    }

    /// The characters of text, the items of anything else.
    pub(super) fn code_points(&self) -> Vec<u32> {
        match self.encoding {
            Encoding::Utf8 => decode_utf8(self.as_bytes()),
            Encoding::Ucs2 => join_surrogates(self.scalars().map(|item| item.to_number() as u16)),
            _ => self.scalars().map(|item| item.to_number() as u32).collect(),
        }
    }

    fn text_code_points(&self) -> Vec<u32> {
        match self.encoding {
            Encoding::Ascii | Encoding::Number => self.as_utf8().code_points(),
            _ => self.code_points(),
        }
    }

    pub(super) fn from_code_points(codes: &[u32], item_type: ItemType, encoding: Encoding) -> Sequence {
        let mut out = Sequence::with_type(item_type, encoding);
        for &code in codes {
            match code {
                0x1_0000..=0x10_ffff if item_type.size() == 2 => {
                    let offset = code - 0x1_0000;
                    out.append_number(f64::from(0xd800 + (offset >> 10)));
                    out.append_number(f64::from(0xdc00 + (offset & 0x3ff)));
                }
                _ => out.append_number(f64::from(code)),
            }
        }
        out
    }

    fn as_number_list(&self) -> String {
        let mut text = String::new();
        for (index, number) in self.numbers().enumerate() {
            if index > 0 {
                text.push_str(", ");
            }
            match self.item_type.is_float() {
                true => text.push_str(&crate::number_text::format_fixed(number, 0, 6)),
                false => text.push_str(&number.to_string()),
            }
        }
        text
    }
}

fn decode_utf8(bytes: &[u8]) -> Vec<u32> {
    let mut codes = Vec::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        codes.extend(chunk.valid().chars().map(u32::from));
        codes.extend(chunk.invalid().iter().map(|byte| u32::from(*byte)));
    }
    codes
}

fn join_surrogates(units: impl Iterator<Item = u16>) -> Vec<u32> {
    let decoded = char::decode_utf16(units);
    decoded.map(|unit| unit.map_or_else(|lone| u32::from(lone.unpaired_surrogate()), u32::from)).collect()
}

fn push_utf8(out: &mut Vec<u8>, code: u32) {
    match char::from_u32(code) {
        Some(character) => out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()),
        None if code <= 0xffff => {
            let tail = |shift: u32| 0x80 | ((code >> shift) & 0x3f) as u8;
            out.extend_from_slice(&[0xe0 | (code >> 12) as u8, tail(6), tail(0)]);
        }
        None => push_utf8(out, u32::from(char::REPLACEMENT_CHARACTER)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_survives_every_encoding() {
        for source in ["", "plain", "Здравствуй, мир!", "この世界お。今日は！", "😀 é"] {
            let sequence = Sequence::from(source);
            assert_eq!(sequence.as_ucs2().as_utf8(), sequence);
            assert_eq!(sequence.as_ucs4().as_utf8(), sequence);
            assert_eq!(sequence.as_fixed_size_type().as_utf8(), sequence);
        }
    }

    #[test]
    fn invalid_bytes_stay() {
        let sequence = Sequence::from_bytes(b"a\xff\xc3b");
        assert_eq!(sequence.as_utf8().as_bytes(), b"a\xff\xc3b");
        assert_eq!(sequence.as_ucs4().numbers().collect::<Vec<_>>(), [97.0, 255.0, 195.0, 98.0]);
        assert!(sequence.as_str().is_none());
    }

    #[test]
    fn fixed_size_types() {
        let fixed = |source: &str| Sequence::from(source).as_fixed_size_type().encoding();
        assert_eq!(fixed("abc"), Encoding::Ascii);
        assert_eq!(fixed("é"), Encoding::Ucs2);
        assert_eq!(fixed("界"), Encoding::Ucs4);
    }

    #[test]
    fn the_item_type_is_a_view_or_a_conversion() {
        let mut view = Sequence::from("abcde");
        view.set_item_type(ItemType::Uint16);
        assert_eq!((view.len(), view.size_in_bytes(), view.encoding()), (3, 6, Encoding::Ucs2));
        assert_eq!(view.as_bytes(), b"abcde\0");

        let mut converted = Sequence::vector(&[1.5, 300.0, -1.0]);
        converted.convert_to_item_type(ItemType::Uint8);
        assert_eq!(converted.as_bytes(), [1, 44, 255]);
        assert_eq!(converted.encoding(), Encoding::Number);
    }

    #[test]
    fn numbers_print_as_a_list() {
        assert_eq!(Sequence::vector(&[1.0, -2.5]).to_text(), "1.000000, -2.500000");
        let mut bytes = Sequence::from("ab");
        bytes.set_encoding(Encoding::Number);
        assert_eq!(bytes.to_text(), "97, 98");
    }
}
