//! What calls to the world outside are about, as values: of a program, of a journal, and as the broker has them.

use broker::Value as Told;
use object::change::Datum;

/// An answer that is longer is told in the journal by its length.
const ANSWER_BYTES_MAX: usize = 1 << 20;

pub fn datum(value: &Told) -> Datum {
    match value {
        Told::Nil => Datum::Nil,
        Told::Number(number) => Datum::number(*number),
        Told::Text(text) => Datum::text(text),
        Told::Bytes(bytes) => Datum::bytes(bytes),
    }
}

/// The same the other way; none for what is no value of a call.
pub fn told_of(datum: &Datum) -> Option<Told> {
    match datum {
        Datum::Nil => Some(Told::Nil),
        Datum::Number(number) => Some(Told::Number(*number)),
        Datum::Text(text) => std::str::from_utf8(text.as_bytes()).ok().map(Told::text),
        Datum::Bytes(bytes) => Some(Told::Bytes(bytes.to_vec())),
        _ => None,
    }
}

/// An argument for a person, or for JSON.
pub fn text_of(datum: &Datum) -> serde_json::Value {
    told_of(datum).and_then(|told| serde_json::to_value(told).ok()).unwrap_or_default()
}

/// Records do not nest: several values are told as JSON.
pub fn summed_up(values: &[Told]) -> Datum {
    match values {
        [] => Datum::Nil,
        [one] if length(one) <= ANSWER_BYTES_MAX => datum(one),
        several => {
            let bytes: usize = several.iter().map(length).sum();
            match serde_json::to_string(several) {
                Ok(text) if text.len() <= ANSWER_BYTES_MAX => Datum::text(&text),
                _ => Datum::text(&format!("{bytes} bytes, which are not kept")),
            }
        }
    }
}

pub fn length(value: &Told) -> usize {
    match value {
        Told::Text(text) => text.len(),
        Told::Bytes(bytes) => bytes.len(),
        Told::Nil | Told::Number(_) => 0,
    }
}

/// Text if it is that, for people read journals and policies.
pub fn told(bytes: Vec<u8>) -> Told {
    String::from_utf8(bytes).map_or_else(|error| Told::Bytes(error.into_bytes()), Told::Text)
}
