//! What one change does to one object. Each kind is here because it merges in a way of its own.

use super::creation::Creation;
use super::datum::{Datum, DatumOf, Text};
use std::sync::Arc;

/// A part of an object that holds one value, which a write replaces.
pub type Field = FieldOf<Text>;

/// The same with its texts as `T`, as `DatumOf`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum FieldOf<T: Ord> {
    Slot(T),
    /// One key of a map.
    Entry(DatumOf<T>),
    /// All of what only the object's language understands: a block, a message, a suspended coroutine.
    Data,
    /// Bits of the object's header that a program can notice.
    Flags,
}

/// A part of an object that holds elements in an order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Line {
    Protos,
    /// The items of a list.
    Items,
    /// The units of a mutable sequence.
    Units,
}

/// Elements that follow each other.
pub type Run = RunOf<Text>;

/// The same with its texts as `T`, as `DatumOf`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RunOf<T: Ord> {
    Items(Arc<[DatumOf<T>]>),
    /// Units of `width` bytes each, of 1 to 16.
    Units {
        width: u8,
        bytes: Arc<[u8]>,
    },
}

/// Indexes count what the author saw at that moment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Operation {
    /// A new object, whole.
    Create(Box<Creation>),
    /// Sets a field; `Absent` removes it.
    Put {
        field: Field,
        value: Datum,
    },
    Insert {
        line: Line,
        index: u64,
        run: Run,
    },
    Delete {
        line: Line,
        index: u64,
        count: u64,
    },
    /// Takes one element out at `from`, and puts it back at `to` of what remains.
    Move {
        line: Line,
        from: u64,
        to: u64,
    },
    /// Replaces the value of one item, which stays the same element.
    Set {
        index: u64,
        value: Datum,
    },
    /// Adds to the counter of that name, modulo 2⁶⁴: the only sum that no order of additions changes.
    Count {
        key: Datum,
        delta: i64,
    },
    /// Puts a member into a set (`count` 1) or a bag.
    Add {
        member: Datum,
        count: u64,
    },
    /// Takes out so many of the occurrences that the author saw, at most all.
    Remove {
        member: Datum,
        count: u64,
    },
    /// A call to the world outside, to be made after the commit. Never replayed.
    Call {
        name: Text,
        payload: Datum,
    },
}

impl Run {
    pub fn items(items: impl IntoIterator<Item = Datum>) -> Run {
        Run::Items(items.into_iter().collect())
    }

    pub fn bytes(bytes: &[u8]) -> Run {
        Run::Units { width: 1, bytes: bytes.into() }
    }

    /// How many elements.
    pub fn len(&self) -> usize {
        match self {
            Run::Items(items) => items.len(),
            Run::Units { width, bytes } => bytes.len() / usize::from(*width).max(1),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<T: Ord + AsRef<[u8]>> FieldOf<T> {
    pub(super) fn write_canonical(&self, bytes: &mut Vec<u8>) {
        match self {
            FieldOf::Slot(name) => {
                bytes.push(0);
                DatumOf::Text(name.as_ref()).write_canonical(bytes);
            }
            FieldOf::Entry(key) => {
                bytes.push(1);
                key.write_canonical(bytes);
            }
            FieldOf::Data => bytes.push(2),
            FieldOf::Flags => bytes.push(3),
        }
    }
}

impl Operation {
    pub fn set_slot(name: &str, value: impl Into<Datum>) -> Operation {
        Operation::Put { field: Field::Slot(name.into()), value: value.into() }
    }

    pub fn remove_slot(name: &str) -> Operation {
        Operation::set_slot(name, Datum::Absent)
    }

    /// Names every object that this refers to, beside the one that it changes.
    pub fn references(&self, visit: &mut dyn FnMut(super::ObjectId)) {
        match self {
            Operation::Create(creation) => creation.references(visit),
            Operation::Put { field, value } => {
                if let Field::Entry(key) = field {
                    key.references(visit);
                }
                value.references(visit);
            }
            Operation::Insert { run: Run::Items(items), .. } => items.iter().for_each(|item| item.references(visit)),
            Operation::Set { value, .. } => value.references(visit),
            Operation::Count { key, .. } => key.references(visit),
            Operation::Add { member, .. } | Operation::Remove { member, .. } => member.references(visit),
            Operation::Call { payload, .. } => payload.references(visit),
            Operation::Insert { .. } | Operation::Delete { .. } | Operation::Move { .. } => {}
        }
    }
}
