//! Number: arithmetic on doubles, and characters by their code.

use super::{Args, NONE, ONE, Row, TWO, refuse};
use crate::signal::{Outcome, Signal};
use crate::vm::Vm;
use object::number_text;
use object::sequence::Sequence;
use object::{Kind, Value};
use std::cmp::Ordering;

pub const TABLE: &[Row] = &[
    ("+", ONE, |vm, args| binary(vm, args, |left, right| left + right)),
    ("-", ONE, |vm, args| binary(vm, args, |left, right| left - right)),
    ("*", ONE, |vm, args| binary(vm, args, |left, right| left * right)),
    ("/", ONE, |vm, args| binary(vm, args, |left, right| left / right)),
    ("%", ONE, |vm, args| binary(vm, args, modulo)),
    ("mod", ONE, |vm, args| binary(vm, args, modulo)),
    ("**", ONE, |vm, args| binary(vm, args, f64::powf)),
    ("pow", ONE, |vm, args| binary(vm, args, f64::powf)),
    ("==", ONE, |vm, args| equal(vm, args, true)),
    ("!=", ONE, |vm, args| equal(vm, args, false)),
    ("<", ONE, |vm, args| ordered(vm, args, |left, right| left < right, Ordering::is_lt)),
    (">", ONE, |vm, args| ordered(vm, args, |left, right| left > right, Ordering::is_gt)),
    ("<=", ONE, |vm, args| ordered(vm, args, |left, right| left <= right, Ordering::is_le)),
    (">=", ONE, |vm, args| ordered(vm, args, |left, right| left >= right, Ordering::is_ge)),
    ("max", ONE, |vm, args| binary(vm, args, f64::max)),
    ("min", ONE, |vm, args| binary(vm, args, f64::min)),
    ("atan2", ONE, |vm, args| binary(vm, args, f64::atan2)),
    ("&", ONE, |vm, args| bitwise(vm, args, |left, right| left & right)),
    ("|", ONE, |vm, args| bitwise(vm, args, |left, right| left | right)),
    ("^", ONE, |vm, args| bitwise(vm, args, |left, right| left ^ right)),
    ("<<", ONE, |vm, args| bitwise(vm, args, shift_left)),
    (">>", ONE, |vm, args| bitwise(vm, args, |left, right| shift_left(left, right.saturating_neg()))),
    ("bitwiseAnd", ONE, |vm, args| bitwise(vm, args, |left, right| left & right)),
    ("bitwiseOr", ONE, |vm, args| bitwise(vm, args, |left, right| left | right)),
    ("bitwiseXor", ONE, |vm, args| bitwise(vm, args, |left, right| left ^ right)),
    ("bitwiseComplement", NONE, |vm, args| unary(vm, args, |number| !(number as i64) as f64)),
    ("shiftLeft", ONE, |vm, args| bitwise(vm, args, shift_left)),
    ("shiftRight", ONE, |vm, args| bitwise(vm, args, |left, right| shift_left(left, right.saturating_neg()))),
    ("abs", NONE, |vm, args| unary(vm, args, f64::abs)),
    ("negate", NONE, |vm, args| unary(vm, args, |number| -number)),
    ("sqrt", NONE, |vm, args| unary(vm, args, f64::sqrt)),
    ("squared", NONE, |vm, args| unary(vm, args, |number| number * number)),
    ("cubed", NONE, |vm, args| unary(vm, args, |number| number * number * number)),
    ("ceil", NONE, |vm, args| unary(vm, args, f64::ceil)),
    ("floor", NONE, |vm, args| unary(vm, args, f64::floor)),
    ("round", NONE, |vm, args| unary(vm, args, f64::round)),
    ("roundDown", NONE, |vm, args| unary(vm, args, f64::floor)),
    ("exp", NONE, |vm, args| unary(vm, args, f64::exp)),
    ("log2", NONE, |vm, args| unary(vm, args, f64::log2)),
    ("log10", NONE, |vm, args| unary(vm, args, f64::log10)),
    ("log", ONE, log),
    ("sin", NONE, |vm, args| unary(vm, args, f64::sin)),
    ("cos", NONE, |vm, args| unary(vm, args, f64::cos)),
    ("tan", NONE, |vm, args| unary(vm, args, f64::tan)),
    ("asin", NONE, |vm, args| unary(vm, args, f64::asin)),
    ("acos", NONE, |vm, args| unary(vm, args, f64::acos)),
    ("atan", NONE, |vm, args| unary(vm, args, f64::atan)),
    ("toggle", NONE, |vm, args| unary(vm, args, |number| if number == 0.0 { 1.0 } else { 0.0 })),
    ("factorial", NONE, factorial),
    ("asNumber", NONE, |_, args| Ok(args.target)),
    ("asString", TWO, as_string),
    ("asBuffer", ONE, |vm, args| packed(vm, args, 8)),
    ("asUint32Buffer", NONE, |vm, args| packed(vm, args, 4)),
    ("asCharacter", NONE, as_character),
    ("asLowercase", NONE, |vm, args| character(vm, args, |letter| letter.to_lowercase().next().unwrap_or(letter))),
    ("asUppercase", NONE, |vm, args| character(vm, args, |letter| letter.to_uppercase().next().unwrap_or(letter))),
    ("isAlphaNumeric", NONE, |vm, args| is_class(vm, args, |byte| byte.is_ascii_alphanumeric())),
    ("isLetter", NONE, |vm, args| is_class(vm, args, |byte| byte.is_ascii_alphabetic())),
    ("isControlCharacter", NONE, |vm, args| is_class(vm, args, |byte| byte.is_ascii_control())),
    ("isDigit", NONE, |vm, args| is_class(vm, args, |byte| byte.is_ascii_digit())),
    ("isGraph", NONE, |vm, args| is_class(vm, args, |byte| byte.is_ascii_graphic())),
    ("isLowercase", NONE, |vm, args| is_class(vm, args, |byte| byte.is_ascii_lowercase())),
    ("isUppercase", NONE, |vm, args| is_class(vm, args, |byte| byte.is_ascii_uppercase())),
    ("isPrint", NONE, |vm, args| is_class(vm, args, |byte| byte.is_ascii_graphic() || byte == b' ')),
    ("isPunctuation", NONE, |vm, args| is_class(vm, args, |byte| byte.is_ascii_punctuation())),
    ("isSpace", NONE, |vm, args| is_class(vm, args, |byte| byte.is_ascii_whitespace() || byte == 11)),
    ("isHexDigit", NONE, |vm, args| is_class(vm, args, |byte| byte.is_ascii_hexdigit())),
    ("isEven", NONE, |vm, args| test(vm, args, |number| number as i64 % 2 == 0)),
    ("isOdd", NONE, |vm, args| test(vm, args, |number| number as i64 % 2 != 0)),
    ("isNan", NONE, |vm, args| test(vm, args, f64::is_nan)),
    ("between", TWO, |vm, args| {
        let (low, high) = (args.number(vm, 0)?, args.number(vm, 1)?);
        let number = own(vm, &args)?;
        Ok(Value::boolean((low..=high).contains(&number) || (high..=low).contains(&number)))
    }),
    ("clip", TWO, |vm, args| {
        let (low, high) = (args.number(vm, 0)?, args.number(vm, 1)?);
        let number = own(vm, &args)?;
        Ok(Value::number(if number < low {
            low
        } else if number > high {
            high
        } else {
            number
        }))
    }),
    ("at", ONE, |vm, args| {
        let bit = args.integer(vm, 0)?;
        let number = own(vm, &args)? as i64;
        Ok(Value::number(if (0..64).contains(&bit) { ((number >> bit) & 1) as f64 } else { 0.0 }))
    }),
    ("integerMax", NONE, |_, _| Ok(Value::number(i32::MAX as f64))),
    ("integerMin", NONE, |_, _| Ok(Value::number(i32::MIN as f64))),
    ("longMax", NONE, |_, _| Ok(Value::number(i64::MAX as f64))),
    ("longMin", NONE, |_, _| Ok(Value::number(i64::MIN as f64))),
    ("shortMax", NONE, |_, _| Ok(Value::number(i16::MAX as f64))),
    ("shortMin", NONE, |_, _| Ok(Value::number(i16::MIN as f64))),
    ("unsignedLongMax", NONE, |_, _| Ok(Value::number(u64::MAX as f64))),
    ("unsignedIntMax", NONE, |_, _| Ok(Value::number(u32::MAX as f64))),
    ("floatMax", NONE, |_, _| Ok(Value::number(f64::MAX))),
    ("floatMin", NONE, |_, _| Ok(Value::number(f64::MIN_POSITIVE))),
];

fn own(vm: &mut Vm, args: &Args) -> Result<f64, Signal> {
    match vm.number_of(args.target) {
        Some(number) => Ok(number),
        None => Err(args.wrong_receiver(vm, Kind::Number)),
    }
}

#[inline(always)]
fn binary(vm: &mut Vm, args: Args, operate: impl Fn(f64, f64) -> f64) -> Outcome {
    let right = args.number(vm, 0)?;
    let left = own(vm, &args)?;
    Ok(Value::number(operate(left, right)))
}

#[inline(always)]
fn unary(vm: &mut Vm, args: Args, operate: impl Fn(f64) -> f64) -> Outcome {
    let number = own(vm, &args)?;
    Ok(Value::number(operate(number)))
}

fn bitwise(vm: &mut Vm, args: Args, operate: fn(i64, i64) -> i64) -> Outcome {
    binary(vm, args, |left, right| operate(left as i64, right as i64) as f64)
}

/// Shifts by more than a word leave nothing; negative ones go the other way.
fn shift_left(number: i64, by: i64) -> i64 {
    match by {
        0..64 => number << by,
        -63..0 => number >> -by,
        _ => 0,
    }
}

pub(crate) fn modulo(left: f64, right: f64) -> f64 {
    left % right
}

/// A number equals a number; anything else is compared as objects are.
fn equal(vm: &mut Vm, args: Args, wanted: bool) -> Outcome {
    let other = args.required(vm, 0)?;
    let equal = match (vm.number_of(args.target), vm.number_of(other)) {
        (Some(left), Some(right)) => left == right,
        _ => vm.is_equal(args.target, other)?,
    };
    Ok(Value::boolean(equal == wanted))
}

#[inline(always)]
fn ordered(vm: &mut Vm, args: Args, holds: fn(f64, f64) -> bool, rank_holds: fn(Ordering) -> bool) -> Outcome {
    let other = args.required(vm, 0)?;
    match (vm.number_of(args.target), vm.number_of(other)) {
        (Some(left), Some(right)) => Ok(Value::boolean(holds(left, right))),
        _ => vm.compare(args.target, other).map(|ordering| Value::boolean(rank_holds(ordering))),
    }
}

fn log(vm: &mut Vm, args: Args) -> Outcome {
    let number = own(vm, &args)?;
    Ok(Value::number(match args.optional_number(vm, 0)? {
        Some(base) => number.ln() / base.ln(),
        None => number.ln(),
    }))
}

fn factorial(vm: &mut Vm, args: Args) -> Outcome {
    let number = own(vm, &args)?;
    // Beyond 170 the product is infinite.
    let last = number.clamp(0.0, 171.0) as u32;
    Ok(Value::number((1..=last).fold(1.0, |product, each| product * each as f64)))
}

fn as_string(vm: &mut Vm, args: Args) -> Outcome {
    let number = own(vm, &args)?;
    let text = match (args.optional_number(vm, 0)?, args.optional_number(vm, 1)?) {
        (None, None) => number_text::format_number(number),
        (whole, fraction) => {
            if whole.unwrap_or(0.0).abs() > 1e6 || fraction.unwrap_or(0.0).abs() > 1e6 {
                return Err(refuse(vm, &args, "was asked for more than a million digits"));
            }
            number_text::format_fixed(number, whole.unwrap_or(0.0) as i64, fraction.unwrap_or(6.0) as i64)
        }
    };
    Ok(vm.symbol(&text))
}

/// The number's bytes, in the order of this kind of machine.
fn packed(vm: &mut Vm, args: Args, width: usize) -> Outcome {
    let number = own(vm, &args)?;
    let wanted = args.optional_number(vm, 0)?.map_or(width, |count| (count.max(0.0) as usize).min(8));
    let bytes = if width == 4 { (number as u32).to_le_bytes().to_vec() } else { number.to_le_bytes().to_vec() };
    Ok(vm.buffer(Sequence::from_bytes(&bytes[..wanted.min(bytes.len())])))
}

fn as_character(vm: &mut Vm, args: Args) -> Outcome {
    let number = own(vm, &args)?;
    match Sequence::from_code_point(number) {
        Some(sequence) => Ok(vm.immutable(sequence)),
        None => Err(refuse(vm, &args, &format!("was sent to {number}, which is no code point"))),
    }
}

fn letter_of(number: f64) -> Option<char> {
    (number >= 0.0 && number <= u32::MAX as f64).then(|| char::from_u32(number as u32)).flatten()
}

fn character(vm: &mut Vm, args: Args, change: fn(char) -> char) -> Outcome {
    unary(vm, args, |number| letter_of(number).map_or(number, |letter| change(letter) as u32 as f64))
}

fn is_class(vm: &mut Vm, args: Args, belongs: fn(u8) -> bool) -> Outcome {
    test(vm, args, |number| (0.0..128.0).contains(&number) && belongs(number as u8))
}

fn test(vm: &mut Vm, args: Args, holds: impl Fn(f64) -> bool) -> Outcome {
    let number = own(vm, &args)?;
    Ok(Value::boolean(holds(number)))
}
