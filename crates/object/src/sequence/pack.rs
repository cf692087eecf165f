//! Sequences as C data: `pack`/`unpack` by format text, `asStruct`/`withStruct` by item types.
//!
//! Format codes: `b`/`B` byte, `c`/`C` character, `h`/`H` 2 bytes, `i`/`I` 4 bytes, `l`/`L` 8 bytes (lower case is
//! signed), `f` float32, `F` float64, `s` text. A number before a code repeats it, or gives the length of text. A `*` in
//! front of everything means big-endian.

use super::{Encoding, Item, ItemType, Sequence, SequenceError, check_size, with_item};

#[derive(Debug, Clone, PartialEq)]
pub enum PackValue {
    Number(f64),
    Text(Sequence),
}

/// A format cut into codes with their counts.
struct Format {
    big_endian: bool,
    codes: Vec<(char, usize)>,
}

impl Format {
    fn parse(format: &str) -> Format {
        let (big_endian, codes_text) = match format.strip_prefix('*') {
            Some(rest) => (true, rest),
            None => (false, format),
        };
        let (mut codes, mut count) = (Vec::new(), 0usize);
        for character in codes_text.chars() {
            match character.to_digit(10) {
                Some(digit) => count = count.saturating_mul(10).saturating_add(digit as usize),
                None => codes.push((character, std::mem::take(&mut count).max(1))),
            }
        }
        Format { big_endian, codes }
    }
}

fn item_type_of(code: char) -> Result<ItemType, SequenceError> {
    Ok(match code {
        'b' | 'c' => ItemType::Int8,
        'B' | 'C' => ItemType::Uint8,
        'h' => ItemType::Int16,
        'H' => ItemType::Uint16,
        'i' => ItemType::Int32,
        'I' => ItemType::Uint32,
        'l' => ItemType::Int64,
        'L' => ItemType::Uint64,
        'f' => ItemType::Float32,
        'F' => ItemType::Float64,
        _ => return Err(SequenceError::PackCodeUnknown(code)),
    })
}

fn write_item(out: &mut Vec<u8>, item_type: ItemType, number: f64, big_endian: bool) {
    let mut bytes = [0; 8];
    let bytes = &mut bytes[..item_type.size()];
    with_item!(item_type, T => T::from_number(number).write(bytes));
    if big_endian {
        bytes.reverse();
    }
    out.extend_from_slice(bytes);
}

fn read_item(bytes: &[u8], item_type: ItemType, big_endian: bool) -> f64 {
    let mut ordered = [0; 8];
    let ordered = &mut ordered[..item_type.size()];
    ordered.copy_from_slice(bytes);
    if big_endian {
        ordered.reverse();
    }
    with_item!(item_type, T => T::read(ordered).to_number())
}

/// Cuts the next bytes off the front.
fn take<'a>(rest: &mut &'a [u8], needed: usize) -> Result<&'a [u8], SequenceError> {
    let available = rest.len();
    let (taken, remaining) = rest.split_at_checked(needed).ok_or(SequenceError::NotEnoughData { needed, available })?;
    *rest = remaining;
    Ok(taken)
}

/// `c` takes the first byte of a text, every other code a number.
fn number_for(code: char, value: &PackValue) -> Result<f64, SequenceError> {
    match (code, value) {
        ('c' | 'C', PackValue::Text(text)) => Ok(f64::from(text.byte_at(0))),
        ('c' | 'C', PackValue::Number(_)) => Err(SequenceError::PackValueKind { code, expected: "Sequence" }),
        (_, PackValue::Number(number)) => Ok(*number),
        (_, PackValue::Text(_)) => Err(SequenceError::PackValueKind { code, expected: "Number" }),
    }
}

fn write_text(out: &mut Vec<u8>, value: &PackValue, len: usize) -> Result<(), SequenceError> {
    let PackValue::Text(text) = value else {
        return Err(SequenceError::PackValueKind { code: 's', expected: "Sequence" });
    };
    check_size(out.len().saturating_add(len))?;
    let bytes = &text.as_bytes()[..len.min(text.size_in_bytes())];
    out.extend_from_slice(bytes);
    out.resize(out.len() + len - bytes.len(), 0);
    Ok(())
}

impl Sequence {
    /// Bytes in `number` encoding. Codes beyond the last value are ignored; text is cut or padded with zeros to its
    /// length, one byte if none is given.
    pub fn pack(format: &str, values: &[PackValue]) -> Result<Sequence, SequenceError> {
        let format = Format::parse(format);
        let mut values = values.iter().peekable();
        let mut out = Vec::new();
        for (code, count) in format.codes {
            if values.peek().is_none() {
                break;
            }
            let repeats = if code == 's' { 1 } else { count };
            for _ in 0..repeats {
                let value = values.next().ok_or(SequenceError::PackValueMissing { code })?;
                match code {
                    's' => write_text(&mut out, value, count)?,
                    _ => write_item(&mut out, item_type_of(code)?, number_for(code, value)?, format.big_endian),
                }
            }
        }
        let mut packed = Sequence::from_vec(out);
        packed.set_encoding(Encoding::Number);
        Ok(packed)
    }

    /// Reads from byte `start` until the format or the bytes end. Text without a length goes up to the next zero byte.
    pub fn unpack(&self, start: usize, format: &str) -> Result<Vec<PackValue>, SequenceError> {
        let format = Format::parse(format);
        let mut rest = self.as_bytes().get(start..).unwrap_or(&[]);
        let mut values = Vec::new();
        for (code, count) in format.codes {
            if rest.is_empty() {
                break;
            }
            if code == 's' {
                let until_zero = rest.iter().position(|byte| *byte == 0).unwrap_or(rest.len());
                let text = take(&mut rest, if count == 1 { until_zero } else { count })?;
                values.push(PackValue::Text(Sequence::from_bytes(text)));
                continue;
            }
            let item_type = item_type_of(code)?;
            for _ in 0..count {
                let bytes = take(&mut rest, item_type.size())?;
                values.push(PackValue::Number(read_item(bytes, item_type, format.big_endian)));
            }
        }
        Ok(values)
    }

    /// The values of consecutive members, as far as the bytes reach.
    pub fn as_struct(&self, members: &[ItemType]) -> Result<Vec<f64>, SequenceError> {
        let mut rest = self.as_bytes();
        let mut values = Vec::with_capacity(members.len());
        for member in members {
            if rest.is_empty() {
                break;
            }
            values.push(read_item(take(&mut rest, member.size())?, *member, false));
        }
        Ok(values)
    }

    pub fn with_struct(members: &[(ItemType, f64)]) -> Sequence {
        let mut out = Vec::new();
        members.iter().for_each(|(item_type, number)| write_item(&mut out, *item_type, *number, false));
        Sequence::from_vec(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(source: &str) -> PackValue {
        PackValue::Text(Sequence::from(source))
    }

    #[test]
    fn packs_and_unpacks() {
        let values = [PackValue::Number(100.0), text("a"), text("hello")];
        let packed = Sequence::pack("IC5s", &values).unwrap();
        assert_eq!(packed.as_bytes(), b"d\0\0\0ahello");
        let unpacked = packed.unpack(0, "IC5s").unwrap();
        assert_eq!(unpacked, [PackValue::Number(100.0), PackValue::Number(97.0), text("hello")]);
        assert_eq!(packed.unpack(5, "s").unwrap(), [text("hello")]);
    }

    #[test]
    fn knows_byte_order_and_padding() {
        let number = [PackValue::Number(f64::from(0x0102_0304))];
        assert_eq!(Sequence::pack("I", &number).unwrap().as_bytes(), [4, 3, 2, 1]);
        let big = Sequence::pack("*I", &number).unwrap();
        assert_eq!(big.as_bytes(), [1, 2, 3, 4]);
        assert_eq!(big.unpack(0, "*I").unwrap(), number);
        assert_eq!(Sequence::pack("4s", &[text("ab")]).unwrap().as_bytes(), b"ab\0\0");
        assert_eq!(
            Sequence::pack("b", &[PackValue::Number(-2.0)]).unwrap().unpack(0, "b2").unwrap(),
            [PackValue::Number(-2.0)]
        );
    }

    #[test]
    fn refuses_what_does_not_fit() {
        assert!(Sequence::pack("2I", &[PackValue::Number(1.0)]).is_err());
        assert!(Sequence::pack("I", &[text("x")]).is_err());
        assert!(Sequence::pack("q", &[text("x")]).is_err());
        assert!(Sequence::pack("9999999999s", &[text("x")]).is_err());
        assert!(Sequence::from("abc").unpack(0, "I").is_err());
    }

    #[test]
    fn reads_and_writes_structs() {
        let members = [(ItemType::Float32, 1.5), (ItemType::Int8, -1.0)];
        let sequence = Sequence::with_struct(&members);
        assert_eq!(sequence.size_in_bytes(), 5);
        assert_eq!(sequence.as_struct(&[ItemType::Float32, ItemType::Int8]).unwrap(), [1.5, -1.0]);
        assert!(sequence.as_struct(&[ItemType::Float64]).is_err());
    }
}
