//! Text as numbers in some base. The parsing itself is in [`crate::number_text`].

use super::{Sequence, SequenceError};
use crate::number_text;

impl Sequence {
    /// The number the text starts with, after white space; NaN when there is none.
    pub fn as_number(&self) -> f64 {
        number_text::parse_number_bytes(&self.narrow_bytes()).unwrap_or(f64::NAN)
    }

    /// The decimal number at the start of the text (0 if there is none), without its fraction, in another base.
    pub fn to_base(&self, base: i64) -> Result<Sequence, SequenceError> {
        let number = number_text::parse_number_bytes(&self.narrow_bytes()).unwrap_or(0.0);
        let digits = number_text::to_base(number, base).ok_or(SequenceError::ToBaseUnsupported(base))?;
        Ok(Sequence::from(digits))
    }

    /// The whole text as a non-negative integer in a base from 2 to 36 (0 picks it by prefix). White space and a sign
    /// may precede; anything after the digits is an error.
    pub fn from_base(&self, base: i64) -> Result<f64, SequenceError> {
        let text = self.to_text();
        if base != 0 && !(2..=36).contains(&base) {
            return Err(SequenceError::FromBaseUnsupported(base));
        }
        let failed = || SequenceError::FromBaseFailed { text: text.clone(), base };
        let trimmed = text.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == '\x0b');
        let (negative, digits) = match trimmed.strip_prefix(['-', '+']) {
            Some(rest) => (trimmed.starts_with('-'), rest),
            None => (false, trimmed),
        };
        let hexadecimal = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X"));
        let (radix, digits) = match (base, hexadecimal) {
            (0 | 16, Some(rest)) => (16, rest),
            (0, None) => (if digits.starts_with('0') { 8 } else { 10 }, digits),
            _ => (base as u32, digits),
        };
        if digits.is_empty() || !digits.chars().all(|digit| digit.is_digit(radix)) {
            return Err(failed());
        }
        let value =
            u64::from_str_radix(digits, radix).map_err(|_| SequenceError::FromBaseRange { text: text.clone() })?;
        Ok(if negative { value.wrapping_neg() } else { value } as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(source: &str) -> Sequence {
        Sequence::from(source)
    }

    #[test]
    fn reads_numbers_as_the_io_suite_says() {
        assert_eq!(text("5").as_number(), 5.0);
        assert_eq!(text("  123  ").as_number(), 123.0);
        assert_eq!(text("1 2").as_number(), 1.0);
        assert_eq!(text("0x1F").as_number(), 31.0);
        assert!(text("").as_number().is_nan() && text("five").as_number().is_nan());
        assert_eq!(text("12").as_ucs4().as_number(), 12.0);
    }

    #[test]
    fn changes_base_as_the_io_suite_says() {
        assert_eq!(text("ff").from_base(16), Ok(255.0));
        assert_eq!(text("701").from_base(8), Ok(449.0));
        assert_eq!(text("0xff").from_base(16), Ok(255.0));
        assert_eq!(text("g").from_base(16).unwrap_err().to_string(), "conversion of \"g\" to base 16 failed");
        assert!(text("9").from_base(8).is_err() && text("").from_base(10).is_err() && text("1").from_base(37).is_err());
        assert!(text("fffffffffffffffff").from_base(16).unwrap_err().to_string().contains("out of range"));
        assert_eq!(text("a").to_base(16), Ok(text("0")));
        assert_eq!(text("255").to_base(16), Ok(text("ff")));
        assert_eq!(text("449").to_base(8), Ok(text("701")));
        assert!(text("1").to_base(1).is_err());
    }
}
