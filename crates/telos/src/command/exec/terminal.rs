//! What a program prints may be meant for the terminal itself: to rename its window, read its clipboard, type into it.
//! On a terminal such sequences are shown as `^[` and do nothing.

/// Makes output harmless, piece by piece.
#[derive(Default)]
pub struct Tamed {
    /// A byte that the next one decides about: C1 controls are two bytes in UTF-8.
    held: Option<u8>,
}

/// The first byte of U+0080 to U+00BF.
const C1_LEAD: u8 = 0xC2;

impl Tamed {
    pub fn tame(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut tamed = Vec::with_capacity(bytes.len());
        for &byte in bytes {
            match (self.held.take(), byte) {
                (Some(_), 0x80..=0x9F) => tamed.extend([b'^', b'[', byte - 0x40]),
                (held, byte) => {
                    tamed.extend(held);
                    self.plain(byte, &mut tamed);
                }
            }
        }
        tamed
    }

    /// What was held back is all that comes.
    pub fn end(self) -> Option<u8> {
        self.held
    }

    fn plain(&mut self, byte: u8, tamed: &mut Vec<u8>) {
        match byte {
            b'\n' | b'\t' | b'\r' | 0x08 => tamed.push(byte),
            0x00..=0x1F | 0x7F => tamed.extend([b'^', byte ^ 0x40]),
            C1_LEAD => self.held = Some(byte),
            _ => tamed.push(byte),
        }
    }
}

/// All of a text at once.
pub fn tamed(text: &[u8]) -> Vec<u8> {
    let mut filter = Tamed::default();
    let mut tamed = filter.tame(text);
    tamed.extend(filter.end());
    tamed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_for_the_terminal_are_shown_and_text_is_left_alone() {
        assert_eq!(tamed("plain\ttext\r\nä€ \u{a9}".as_bytes()), "plain\ttext\r\nä€ \u{a9}".as_bytes());
        assert_eq!(tamed(b"\x1b]52;c;x\x07\0\x7f"), b"^[]52;c;x^G^@^?");
        assert_eq!(tamed("\u{9b}2J".as_bytes()), b"^[[2J");
    }

    #[test]
    fn a_sequence_that_comes_in_two_pieces_is_found() {
        let mut filter = Tamed::default();
        assert_eq!([filter.tame(b"a\xC2"), filter.tame(b"\x9b"), filter.tame(b"b")].concat(), b"a^[[b");
        let mut filter = Tamed::default();
        assert_eq!([filter.tame(b"\xC2"), filter.tame(b"\xA9")].concat(), "\u{a9}".as_bytes());
    }
}
