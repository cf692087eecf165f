//! Numbers as text and back, by Io's rules. Owns the printing of Numbers, their parsing, and their digits in other
//! bases; never depends on a locale.

/// Whole numbers below this print as integers.
const INTEGER_LIMIT: f64 = 9_223_372_036_854_775_808.0;

/// Text longer than this is cut, as Io's own buffer cuts it.
const FIXED_LIMIT: usize = 1023;

/// As Io prints a Number: whole ones within 64 bits as integers, larger ones like `1.000000e+20`, others with up to 16
/// decimals and no trailing zeros.
pub fn format_number(number: f64) -> String {
    if number.is_nan() {
        return "nan".to_owned();
    }
    if number.fract() == 0.0 && (-INTEGER_LIMIT..INTEGER_LIMIT).contains(&number) {
        return itoa::Buffer::new().format(number as i64).to_owned();
    }
    if number.abs() > INTEGER_LIMIT {
        return format_exponent(number);
    }
    let text = format!("{number:.16}");
    let trimmed = text.trim_end_matches('0');
    trimmed.strip_suffix('.').unwrap_or(trimmed).to_owned()
}

/// Gives the text of a number to `use_text`, without an allocation for whole numbers.
pub fn with_number_text<R>(number: f64, use_text: impl FnOnce(&str) -> R) -> R {
    if number.fract() == 0.0 && (-INTEGER_LIMIT..INTEGER_LIMIT).contains(&number) {
        return use_text(itoa::Buffer::new().format(number as i64));
    }
    use_text(&format_number(number))
}

/// C's `%e`: six decimals, a sign and at least two digits in the exponent.
fn format_exponent(number: f64) -> String {
    if number.is_infinite() {
        return if number > 0.0 { "inf" } else { "-inf" }.to_owned();
    }
    let text = format!("{number:.6e}");
    match text.split_once('e') {
        Some((digits, exponent)) => match exponent.strip_prefix('-') {
            Some(exponent) => format!("{digits}e-{exponent:0>2}"),
            None => format!("{digits}e+{exponent:0>2}"),
        },
        None => text,
    }
}

/// Io's `asString(integerDigits, fractionDigits)`, C's `%*.*f`: at least `width` characters, padded on the left. Signs
/// of the arguments do not count; Io's default for the fraction is 6.
pub fn format_fixed(number: f64, width: i64, fraction_digits: i64) -> String {
    let limit = |value: i64| usize::try_from(value.unsigned_abs()).unwrap_or(usize::MAX).min(FIXED_LIMIT);
    let width = limit(width);
    let mut text = match number {
        _ if number.is_nan() => format!("{:>width$}", "nan"),
        _ if number.is_infinite() => format!("{:>width$}", format_exponent(number)),
        _ => format!("{number:>width$.precision$}", precision = limit(fraction_digits)),
    };
    text.truncate(FIXED_LIMIT);
    text
}

/// The number a text starts with, as C's `strtod`: white space, a sign, then decimal digits with fraction and exponent,
/// hexadecimal digits after `0x`, `inf` or `nan`. `None` when there is none or it is too large.
pub fn parse_number(text: &str) -> Option<f64> {
    parse_number_bytes(text.as_bytes())
}

pub fn parse_number_bytes(bytes: &[u8]) -> Option<f64> {
    let start = bytes.iter().position(|byte| !byte.is_ascii_whitespace() && *byte != 0x0b)?;
    let bytes = &bytes[start..];
    let (sign, digits) = match bytes {
        [b'-', rest @ ..] => (-1.0, rest),
        [b'+', rest @ ..] => (1.0, rest),
        _ => (1.0, bytes),
    };
    let magnitude = match digits {
        [b'0', b'x' | b'X', rest @ ..] => parse_hexadecimal(rest).unwrap_or(0.0),
        _ if starts_with_any_case(digits, b"inf") => f64::INFINITY,
        _ if starts_with_any_case(digits, b"nan") => return Some(f64::NAN),
        _ => parse_decimal(digits)?,
    };
    Some(sign * magnitude)
}

fn starts_with_any_case(bytes: &[u8], prefix: &[u8]) -> bool {
    bytes.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix))
}

fn digits_at(bytes: &[u8], from: usize) -> usize {
    bytes.get(from..).unwrap_or(&[]).iter().take_while(|byte| byte.is_ascii_digit()).count()
}

fn parse_decimal(bytes: &[u8]) -> Option<f64> {
    let whole = digits_at(bytes, 0);
    let mut end = whole;
    let mut fraction = 0;
    if bytes.get(end) == Some(&b'.') {
        fraction = digits_at(bytes, end + 1);
        end += 1 + fraction;
    }
    if whole + fraction == 0 {
        return None;
    }
    if let Some(b'e' | b'E') = bytes.get(end) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let exponent = digits_at(bytes, end + 1 + sign);
        if exponent > 0 {
            end += 1 + sign + exponent;
        }
    }
    let number: f64 = std::str::from_utf8(&bytes[..end]).ok()?.parse().ok()?;
    number.is_finite().then_some(number)
}

/// The integer of up to 64 bits after `0x`; more digits than that give the largest.
fn parse_hexadecimal(bytes: &[u8]) -> Option<f64> {
    let count = bytes.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
    let digits = std::str::from_utf8(&bytes[..count]).ok()?;
    if digits.is_empty() {
        return None;
    }
    Some(u64::from_str_radix(digits, 16).unwrap_or(u64::MAX) as f64)
}

/// The number without its fraction in a base from 2 to 36, lower case. Negative numbers print as their 64-bit
/// complement. `None` for any other base.
pub fn to_base(number: f64, base: i64) -> Option<String> {
    let base = u64::try_from(base).ok().filter(|base| (2..=36).contains(base))?;
    let mut value = if number < 0.0 { number as i64 as u64 } else { number as u64 };
    let mut digits = Vec::new();
    loop {
        digits.push(std::char::from_digit((value % base) as u32, base as u32)?);
        value /= base;
        if value == 0 {
            break;
        }
    }
    Some(digits.iter().rev().collect())
}

/// The same, with zeros in front to the width of whole bytes: 2 hexadecimal, 3 octal, 8 binary digits each.
pub fn to_base_whole_bytes(number: f64, base: i64) -> Option<String> {
    let digits = to_base(number, base)?;
    let radix = u64::try_from(base).ok()?;
    let columns = (1..).find(|columns| radix.pow(*columns) >= 256)? as usize;
    let width = digits.len().next_multiple_of(columns);
    Some(format!("{digits:0>width$}"))
}

pub fn as_hex(number: f64) -> String {
    to_base_whole_bytes(number, 16).unwrap_or_default()
}

pub fn as_binary(number: f64) -> String {
    to_base_whole_bytes(number, 2).unwrap_or_default()
}

pub fn as_octal(number: f64) -> String {
    to_base_whole_bytes(number, 8).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_as_io_does() {
        let cases = [
            (0.1 + 0.2, "0.3"),
            (0.1, "0.1"),
            (1.0 / 3.0, "0.3333333333333333"),
            (2.5, "2.5"),
            (1e12, "1000000000000"),
            (-5.0, "-5"),
            (-0.0, "0"),
            (1e-20, "0"),
            (-1e-20, "-0"),
            (1e20, "1.000000e+20"),
            (-1.5e300, "-1.500000e+300"),
            (f64::INFINITY, "inf"),
            (f64::NEG_INFINITY, "-inf"),
            (f64::NAN, "nan"),
            (9_223_372_036_854_775_808.0, "9223372036854775808"),
            (-9_223_372_036_854_775_808.0, "-9223372036854775808"),
            (1234.5678, "1234.5678000000000338"),
        ];
        for (number, expected) in cases {
            assert_eq!(format_number(number), expected);
        }
    }

    #[test]
    fn prints_fixed_digits() {
        assert_eq!(format_fixed(1234.5678, 0, 2), "1234.57");
        assert_eq!(format_fixed(1.5, 8, 2), "    1.50");
        assert_eq!(format_fixed(1.5, -8, -2), "    1.50");
        assert_eq!(format_fixed(2.5, 0, 0), "2");
        assert_eq!(format_fixed(f64::NAN, 5, 2), "  nan");
        assert_eq!(format_fixed(1.0, i64::MIN, i64::MAX).len(), 1023);
    }

    #[test]
    fn parses_what_a_text_starts_with() {
        let cases = [
            ("5", Some(5.0)),
            ("  -1.5e2x", Some(-150.0)),
            ("1e", Some(1.0)),
            ("1e+", Some(1.0)),
            (".5", Some(0.5)),
            ("5.", Some(5.0)),
            (".", None),
            ("", None),
            ("   ", None),
            ("five", None),
            ("0x", Some(0.0)),
            ("0xfF", Some(255.0)),
            ("-0x10", Some(-16.0)),
            ("infinity", Some(f64::INFINITY)),
            ("1e999", None),
            ("--1", None),
        ];
        for (text, expected) in cases {
            assert_eq!(parse_number(text), expected, "{text}");
        }
        assert!(parse_number("nan").is_some_and(f64::is_nan));
    }

    #[test]
    fn prints_other_bases() {
        assert_eq!(to_base(42.0, 2).as_deref(), Some("101010"));
        assert_eq!(to_base(-1.0, 16).as_deref(), Some("ffffffffffffffff"));
        assert_eq!(to_base(1.0, 37), None);
        assert_eq!((as_hex(97.0).as_str(), as_hex(10.0).as_str(), as_hex(256.0).as_str()), ("61", "0a", "0100"));
        assert_eq!(as_binary(42.0), "00101010");
        assert_eq!(as_octal(436.0), "664");
    }
}
