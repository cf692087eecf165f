//! A value outside of any heap: numbers, text and references to objects by id. Owns their order and equality, which are
//! those of the bits: no two data that a program could tell apart are equal.

use super::id::ObjectId;
use super::wire;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// The bytes of a symbol. Shared, so that a name costs its bytes once in a batch.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Text(Arc<[u8]>);

/// What a change carries as a value.
pub type Datum = DatumOf<Text>;

/// The same with its texts as `T`: whoever only looks at one borrows them from the bytes that it was read from.
#[derive(Clone, Debug, Default)]
pub enum DatumOf<T> {
    /// No value: what a removed slot holds, and one that never was.
    #[default]
    Absent,
    Nil,
    Boolean(bool),
    Number(f64),
    Object(ObjectId),
    Text(T),
    Bytes(Arc<[u8]>),
    /// The fields of an object that only its language understands. Records do not nest.
    Record(Arc<[DatumOf<T>]>),
}

impl Datum {
    pub fn text(text: &str) -> Datum {
        Datum::Text(text.into())
    }

    pub fn bytes(bytes: &[u8]) -> Datum {
        Datum::Bytes(bytes.into())
    }

    pub fn record(fields: impl IntoIterator<Item = Datum>) -> Datum {
        Datum::Record(fields.into_iter().collect())
    }

    pub const fn is_absent(&self) -> bool {
        matches!(self, DatumOf::Absent)
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
}

impl<T: AsRef<[u8]>> DatumOf<T> {
    /// The same bytes for the same datum, wherever it stands: for fingerprints.
    pub(super) fn write_canonical(&self, bytes: &mut Vec<u8>) {
        bytes.push(self.rank());
        match self {
            DatumOf::Absent | DatumOf::Nil => {}
            DatumOf::Boolean(truth) => bytes.push(u8::from(*truth)),
            DatumOf::Number(number) => bytes.extend(number.to_bits().to_le_bytes()),
            DatumOf::Object(object) => bytes.extend(object.to_bytes()),
            DatumOf::Text(text) => wire::put_bytes(bytes, text.as_ref()),
            DatumOf::Bytes(content) => wire::put_bytes(bytes, content),
            DatumOf::Record(fields) => {
                wire::put(bytes, fields.len() as u64);
                fields
                    .iter()
                    .filter(|field| !matches!(field, DatumOf::Record(_)))
                    .for_each(|it| it.write_canonical(bytes));
            }
        }
    }
}

impl<T> DatumOf<T> {
    pub fn number(number: f64) -> DatumOf<T> {
        DatumOf::Number(if number.is_nan() { f64::NAN } else { number })
    }

    fn rank(&self) -> u8 {
        match self {
            DatumOf::Absent => 0,
            DatumOf::Nil => 1,
            DatumOf::Boolean(_) => 2,
            DatumOf::Number(_) => 3,
            DatumOf::Object(_) => 4,
            DatumOf::Text(_) => 5,
            DatumOf::Bytes(_) => 6,
            DatumOf::Record(_) => 7,
        }
    }
}

impl<T: Ord> Ord for DatumOf<T> {
    fn cmp(&self, other: &DatumOf<T>) -> Ordering {
        match (self, other) {
            (DatumOf::Boolean(left), DatumOf::Boolean(right)) => left.cmp(right),
            (DatumOf::Number(left), DatumOf::Number(right)) => left.total_cmp(right),
            (DatumOf::Object(left), DatumOf::Object(right)) => left.cmp(right),
            (DatumOf::Text(left), DatumOf::Text(right)) => left.cmp(right),
            (DatumOf::Bytes(left), DatumOf::Bytes(right)) => left.cmp(right),
            (DatumOf::Record(left), DatumOf::Record(right)) => left.cmp(right),
            _ => self.rank().cmp(&other.rank()),
        }
    }
}

impl<T: Ord> PartialOrd for DatumOf<T> {
    fn partial_cmp(&self, other: &DatumOf<T>) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T: Ord> PartialEq for DatumOf<T> {
    fn eq(&self, other: &DatumOf<T>) -> bool {
        match (self, other) {
            (DatumOf::Number(left), DatumOf::Number(right)) => left.to_bits() == right.to_bits(),
            _ => self.cmp(other) == Ordering::Equal,
        }
    }
}

impl<T: Ord> Eq for DatumOf<T> {}

impl<T: Ord + Hash> Hash for DatumOf<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u8(self.rank());
        match self {
            DatumOf::Absent | DatumOf::Nil => {}
            DatumOf::Boolean(truth) => truth.hash(state),
            DatumOf::Number(number) => state.write_u64(number.to_bits()),
            DatumOf::Object(object) => object.hash(state),
            DatumOf::Text(text) => text.hash(state),
            DatumOf::Bytes(bytes) => bytes.hash(state),
            DatumOf::Record(fields) => fields.hash(state),
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

impl AsRef<[u8]> for Text {
    fn as_ref(&self) -> &[u8] {
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
