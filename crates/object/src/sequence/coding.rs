//! Bytes as printable text and back: base64, URL and percent encoding, hexadecimal. All of it works on the raw bytes;
//! wide text is first turned into UTF-8 where the result is meant to be read as text.

use std::borrow::Cow;

use super::text::hexadecimal_digit;
use super::{Encoding, Sequence};

const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

impl Sequence {
    /// As Io does, ends with a line break. `characters_per_line` of 4 or more adds line breaks in between, after that
    /// many characters rounded down to a multiple of four.
    pub fn as_base64(&self, characters_per_line: usize) -> Sequence {
        let bytes = self.as_bytes();
        let groups_per_line = characters_per_line / 4;
        let mut out = Vec::with_capacity(bytes.len().div_ceil(3) * 4 + 1);
        for (index, group) in bytes.chunks(3).enumerate() {
            let byte = |position: usize| u32::from(group.get(position).copied().unwrap_or(0));
            let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
            for position in 0..4 {
                let digit = BASE64[(bits >> (18 - 6 * position)) as usize & 63];
                out.push(if position > group.len() as u32 { b'=' } else { digit });
            }
            if group.len() == 3 && groups_per_line > 0 && (index + 1) % groups_per_line == 0 {
                out.push(b'\n');
            }
        }
        out.push(b'\n');
        Sequence::from_vec(out)
    }

    /// Skips whatever is no base64 digit, padding and line breaks included.
    pub fn from_base64(&self) -> Sequence {
        let mut out = Vec::with_capacity(self.size_in_bytes() / 4 * 3);
        let (mut bits, mut count) = (0u32, 0);
        for digit in self.as_bytes().iter().filter_map(|byte| base64_digit(*byte)) {
            bits = bits << 6 | digit;
            count += 6;
            if count >= 8 {
                count -= 8;
                out.push((bits >> count) as u8);
                bits &= (1 << count) - 1;
            }
        }
        Sequence::from_vec(out)
    }

    /// For URL query strings: a space becomes `+`.
    pub fn url_encoded(&self) -> Sequence {
        self.percent_encode(true)
    }

    pub fn percent_encoded(&self) -> Sequence {
        self.percent_encode(false)
    }

    pub fn url_decoded(&self) -> Sequence {
        self.percent_decode(true)
    }

    /// A `%` without two hexadecimal digits after it stays as it is.
    pub fn percent_decoded(&self) -> Sequence {
        self.percent_decode(false)
    }

    /// Two (or more, for wider items) hexadecimal digits for each item.
    pub fn as_hex(&self) -> Sequence {
        let digits = self.numbers().map(crate::number_text::as_hex);
        Sequence::from(digits.collect::<String>())
    }

    fn percent_encode(&self, plus_for_space: bool) -> Sequence {
        let bytes = self.narrow_bytes();
        let mut out = Vec::with_capacity(bytes.len());
        for &byte in bytes.iter() {
            match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => out.push(byte),
                b' ' if plus_for_space => out.push(b'+'),
                _ => out.extend_from_slice(format!("%{byte:02X}").as_bytes()),
            }
        }
        Sequence::from_vec(out)
    }

    fn percent_decode(&self, plus_for_space: bool) -> Sequence {
        let bytes = self.narrow_bytes();
        let mut out = Vec::with_capacity(bytes.len());
        let mut rest = &*bytes;
        while let [first, tail @ ..] = rest {
            rest = tail;
            match (first, decode_hexadecimal(tail)) {
                (b'%', Some(byte)) => {
                    out.push(byte);
                    rest = &tail[2..];
                }
                (b'+', _) if plus_for_space => out.push(b' '),
                _ => out.push(*first),
            }
        }
        Sequence::from_vec(out)
    }

    /// Wide text as UTF-8, anything else as it is.
    pub(super) fn narrow_bytes(&self) -> Cow<'_, [u8]> {
        match self.encoding {
            Encoding::Ucs2 | Encoding::Ucs4 => Cow::Owned(self.as_utf8().as_bytes().to_vec()),
            _ => Cow::Borrowed(self.as_bytes()),
        }
    }
}

fn decode_hexadecimal(bytes: &[u8]) -> Option<u8> {
    match bytes {
        [high, low, ..] => Some(hexadecimal_digit(*high)? << 4 | hexadecimal_digit(*low)?),
        _ => None,
    }
}

fn base64_digit(byte: u8) -> Option<u32> {
    let digit = match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    };
    Some(u32::from(digit))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(source: &str) -> Sequence {
        Sequence::from(source)
    }

    #[test]
    fn base64_has_padding_and_line_breaks() {
        assert_eq!(text("abc").as_base64(0), text("YWJj\n"));
        assert_eq!(text("ab").as_base64(0), text("YWI=\n"));
        assert_eq!(text("a").as_base64(0), text("YQ==\n"));
        assert_eq!(text("").as_base64(0), text("\n"));
        assert_eq!(text("abcdefg").as_base64(4), text("YWJj\nZGVm\nZw==\n"));
        assert_eq!(text("YWJj\nZGVm\nZw==\n").from_base64(), text("abcdefg"));
    }

    #[test]
    fn url_and_percent_encoding_differ_in_spaces() {
        assert_eq!(text("a b/é").url_encoded(), text("a+b%2F%C3%A9"));
        assert_eq!(text("a b").percent_encoded(), text("a%20b"));
        assert_eq!(text("a+b%2F%C3%A9").url_decoded(), text("a b/é"));
        assert_eq!(text("a+b%20").percent_decoded(), text("a+b "));
        assert_eq!(text("100% %zz %4").percent_decoded(), text("100% %zz %4"));
    }

    #[test]
    fn hexadecimal() {
        assert_eq!(text("abc\n").as_hex(), text("6162630a"));
    }
}
