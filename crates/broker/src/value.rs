//! A value that crosses between the image and the world outside.

use serde::de::{self, Deserializer, MapAccess, Visitor};
use serde::ser::{SerializeMap, Serializer};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Whole numbers up to here are written without a fraction.
const WHOLE_MAX: f64 = 9_007_199_254_740_992.0;

/// In JSON: null, a number, text; bytes as `{"bytes": "…"}`, each character from U+0000 to U+00FF a byte. TOML has no
/// null: there, nil is `{ nil = true }`.
#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    Nil,
    Number(f64),
    Text(String),
    Bytes(Vec<u8>),
}

impl Value {
    pub fn text(text: impl Into<String>) -> Value {
        Value::Text(text.into())
    }

    /// What text and bytes hold.
    pub fn as_bytes(&self) -> Option<&[u8]> {
        match self {
            Value::Text(text) => Some(text.as_bytes()),
            Value::Bytes(bytes) => Some(bytes),
            Value::Nil | Value::Number(_) => None,
        }
    }

    /// Whether a script that names this value means the other: text and bytes are the same if their bytes are.
    pub fn means(&self, other: &Value) -> bool {
        match (self.as_bytes(), other.as_bytes()) {
            (Some(own), Some(others)) => own == others,
            _ => self == other,
        }
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Value::Nil => serializer.serialize_unit(),
            Value::Number(number) if number.fract() == 0.0 && number.abs() <= WHOLE_MAX => {
                serializer.serialize_i64(*number as i64)
            }
            Value::Number(number) => serializer.serialize_f64(*number),
            Value::Text(text) => serializer.serialize_str(text),
            Value::Bytes(bytes) => {
                let text: String = bytes.iter().copied().map(char::from).collect();
                let mut map = serializer.serialize_map(Some(1))?;
                map.serialize_entry("bytes", &text)?;
                map.end()
            }
        }
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("null, a number, text, or { bytes = \"…\" }")
    }

    fn visit_unit<E: de::Error>(self) -> Result<Value, E> {
        Ok(Value::Nil)
    }

    fn visit_none<E: de::Error>(self) -> Result<Value, E> {
        Ok(Value::Nil)
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<Value, E> {
        Ok(Value::Number(number))
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Value, E> {
        Ok(Value::Number(number as f64))
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Value, E> {
        Ok(Value::Number(number as f64))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Value, E> {
        Ok(Value::text(text))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        const KEYS: &[&str] = &["bytes", "nil"];
        let key: Option<String> = map.next_key()?;
        let value = match key.as_deref() {
            Some("bytes") => Value::Bytes(bytes_of(&map.next_value::<String>()?)?),
            Some("nil") if map.next_value::<bool>()? => Value::Nil,
            Some("nil") => return Err(de::Error::custom("nil is only ever true")),
            Some(other) => return Err(de::Error::unknown_field(other, KEYS)),
            None => return Err(de::Error::missing_field("bytes")),
        };
        match map.next_key::<String>()? {
            None => Ok(value),
            Some(_) => Err(de::Error::custom("beside `bytes` or `nil` nothing else stands")),
        }
    }
}

fn bytes_of<E: de::Error>(text: &str) -> Result<Vec<u8>, E> {
    let byte = |character: char| u8::try_from(u32::from(character)).ok();
    let bytes: Option<Vec<u8>> = text.chars().map(byte).collect();
    bytes.ok_or_else(|| de::Error::custom("bytes have only characters from U+0000 to U+00FF"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_comes_back_from_json_as_it_was() {
        let bytes: Vec<u8> = (0..=255).collect();
        for value in [Value::Nil, Value::Number(200.0), Value::Number(0.5), Value::text("ä\n"), Value::Bytes(bytes)] {
            let json = serde_json::to_string(&value).unwrap();
            assert_eq!(serde_json::from_str::<Value>(&json).unwrap(), value, "{json}");
        }
        assert_eq!(serde_json::to_string(&Value::Number(200.0)).unwrap(), "200");
        assert_eq!(serde_json::to_string(&Value::Bytes(vec![65, 255])).unwrap(), "{\"bytes\":\"Aÿ\"}");
    }

    /// A recording of the clock was now and then played back a hair off: `serde_json` reads numbers exactly only if it is
    /// told to, by its feature `float_roundtrip`.
    #[test]
    fn every_number_comes_back_exactly() {
        let mut number = 1_789_000_000.000_000_1_f64;
        for _ in 0..10_000 {
            number += 0.123_456_789;
            let json = serde_json::to_string(&Value::Number(number)).unwrap();
            assert_eq!(serde_json::from_str::<Value>(&json).unwrap(), Value::Number(number), "{json}");
        }
    }

    #[test]
    fn what_is_no_value_is_refused() {
        for json in ["true", "[]", "{}", "{\"bytes\":\"Ā\"}", "{\"bytes\":1}", "{\"bytes\":\"a\",\"b\":1}", "{\"x\":1}"]
        {
            assert!(serde_json::from_str::<Value>(json).is_err(), "{json}");
        }
    }
}
