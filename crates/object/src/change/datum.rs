//! A value outside of any heap: numbers, text and references to objects by id. Owns their order and equality, which are
//! those of the bits: no two data that a program could tell apart are equal.

use super::id::ObjectId;
use super::wire;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// The bytes of a symbol. Shared, so that a name costs its bytes once in a batch.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Text(Arc<[u8]>);

/// What a change carries as a value.
#[derive(Clone, Debug, Default)]
pub enum Datum {
    /// No value: what a removed slot holds, and one that never was.
    #[default]
    Absent,
    Nil,
    Boolean(bool),
    Number(f64),
    Object(ObjectId),
    Text(Text),
    Bytes(Arc<[u8]>),
    /// The fields of an object that only its language understands. Records do not nest.
    Record(Arc<[Datum]>),
}

impl Datum {
    pub fn text(text: &str) -> Datum {
        Datum::Text(text.into())
    }

    pub fn number(number: f64) -> Datum {
        Datum::Number(if number.is_nan() { f64::NAN } else { number })
    }

    pub fn bytes(bytes: &[u8]) -> Datum {
        Datum::Bytes(bytes.into())
    }

    pub fn record(fields: impl IntoIterator<Item = Datum>) -> Datum {
        Datum::Record(fields.into_iter().collect())
    }

    pub const fn is_absent(&self) -> bool {
        matches!(self, Datum::Absent)
    }

    /// Names every object that this refers to.
    pub fn references(&self, visit: &mut dyn FnMut(ObjectId)) {
        match self {
            Datum::Object(object) => visit(*object),
            Datum::Record(fields) => {
                let objects =
                    fields.iter().filter_map(|field| if let Datum::Object(id) = field { Some(id) } else { None });
                objects.for_each(|object| visit(*object));
            }
            _ => {}
        }
    }

    /// The same bytes for the same datum, wherever it stands: for fingerprints.
    pub(super) fn write_canonical(&self, bytes: &mut Vec<u8>) {
        bytes.push(self.rank());
        match self {
            Datum::Absent | Datum::Nil => {}
            Datum::Boolean(truth) => bytes.push(u8::from(*truth)),
            Datum::Number(number) => bytes.extend(number.to_bits().to_le_bytes()),
            Datum::Object(object) => bytes.extend(object.to_bytes()),
            Datum::Text(text) => wire::put_bytes(bytes, text.as_bytes()),
            Datum::Bytes(content) => wire::put_bytes(bytes, content),
            Datum::Record(fields) => {
                wire::put(bytes, fields.len() as u64);
                fields
                    .iter()
                    .filter(|field| !matches!(field, Datum::Record(_)))
                    .for_each(|it| it.write_canonical(bytes));
            }
        }
    }

    fn rank(&self) -> u8 {
        match self {
            Datum::Absent => 0,
            Datum::Nil => 1,
            Datum::Boolean(_) => 2,
            Datum::Number(_) => 3,
            Datum::Object(_) => 4,
            Datum::Text(_) => 5,
            Datum::Bytes(_) => 6,
            Datum::Record(_) => 7,
        }
    }
}

impl Ord for Datum {
    fn cmp(&self, other: &Datum) -> Ordering {
        match (self, other) {
            (Datum::Boolean(left), Datum::Boolean(right)) => left.cmp(right),
            (Datum::Number(left), Datum::Number(right)) => left.total_cmp(right),
            (Datum::Object(left), Datum::Object(right)) => left.cmp(right),
            (Datum::Text(left), Datum::Text(right)) => left.cmp(right),
            (Datum::Bytes(left), Datum::Bytes(right)) => left.cmp(right),
            (Datum::Record(left), Datum::Record(right)) => left.cmp(right),
            _ => self.rank().cmp(&other.rank()),
        }
    }
}

impl PartialOrd for Datum {
    fn partial_cmp(&self, other: &Datum) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Datum {
    fn eq(&self, other: &Datum) -> bool {
        match (self, other) {
            (Datum::Number(left), Datum::Number(right)) => left.to_bits() == right.to_bits(),
            _ => self.cmp(other) == Ordering::Equal,
        }
    }
}

impl Eq for Datum {}

impl Hash for Datum {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u8(self.rank());
        match self {
            Datum::Absent | Datum::Nil => {}
            Datum::Boolean(truth) => truth.hash(state),
            Datum::Number(number) => state.write_u64(number.to_bits()),
            Datum::Object(object) => object.hash(state),
            Datum::Text(text) => text.hash(state),
            Datum::Bytes(bytes) => bytes.hash(state),
            Datum::Record(fields) => fields.hash(state),
        }
    }
}

impl From<f64> for Datum {
    fn from(number: f64) -> Datum {
        Datum::number(number)
    }
}

impl From<ObjectId> for Datum {
    fn from(object: ObjectId) -> Datum {
        Datum::Object(object)
    }
}

impl From<&str> for Datum {
    fn from(text: &str) -> Datum {
        Datum::text(text)
    }
}

impl Text {
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Text {
        Text(text.as_bytes().into())
    }
}

impl From<&[u8]> for Text {
    fn from(bytes: &[u8]) -> Text {
        Text(bytes.into())
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:?}", String::from_utf8_lossy(&self.0))
    }
}

impl fmt::Display for Text {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", String::from_utf8_lossy(&self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equality_is_that_of_the_bits() {
        assert_eq!(Datum::number(f64::NAN), Datum::number(-f64::NAN));
        assert_ne!(Datum::number(0.0), Datum::number(-0.0));
        assert_ne!(Datum::text("a"), Datum::bytes(b"a"));
        assert_ne!(Datum::Nil, Datum::Absent);
    }

    #[test]
    fn a_datum_is_three_words() {
        assert_eq!(size_of::<Datum>(), 24);
    }
}
