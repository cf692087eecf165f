//! Lines and columns of byte offsets. Counts characters, never bytes, and never looks at a byte twice.

/// Turns rising byte offsets into lines and columns; the whole of a source costs one pass.
pub(super) struct Positions<'s> {
    bytes: &'s [u8],
    offset: usize,
    line: u32,
    column: u32,
}

impl<'s> Positions<'s> {
    pub fn new(source: &'s str) -> Self {
        Positions { bytes: source.as_bytes(), offset: 0, line: 1, column: 1 }
    }

    /// The line and column of `offset`, which must not lie before an offset that was asked for earlier.
    pub fn advance_to(&mut self, offset: usize) -> (u32, u32) {
        let passed = &self.bytes[self.offset..offset];
        // Nearly always, and found out many bytes at a time: most of a source may be one long literal.
        if passed.is_ascii() && memchr::memchr(b'\n', passed).is_none() {
            self.column += passed.len() as u32;
        } else {
            passed.iter().for_each(|byte| self.pass(*byte));
        }
        self.offset = offset;
        (self.line, self.column)
    }

    fn pass(&mut self, byte: u8) {
        if byte == b'\n' {
            self.line += 1;
            self.column = 1;
        } else if byte & 0xC0 != 0x80 {
            self.column += 1;
        }
    }
}

/// The byte offset of a line and column, or the end of the source when it has no such place.
pub(super) fn offset_of(source: &str, line: u32, column: u32) -> usize {
    let (mut at_line, mut at_column) = (1, 1);
    for (offset, character) in source.char_indices() {
        if (at_line, at_column) == (line, column) {
            return offset;
        }
        if character == '\n' {
            at_line += 1;
            at_column = 1;
        } else {
            at_column += 1;
        }
    }
    source.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_characters_and_finds_its_way_back() {
        let source = "é b\n\tc";
        let mut positions = Positions::new(source);
        for (offset, expected) in [(0, (1, 1)), (2, (1, 2)), (3, (1, 3)), (5, (2, 1)), (6, (2, 2)), (7, (2, 3))] {
            assert_eq!(positions.advance_to(offset), expected);
            assert_eq!(offset_of(source, expected.0, expected.1), offset);
        }
    }
}
