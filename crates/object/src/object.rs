//! One object: its shape, its slots and, for the built-in kinds, its data. Owns the layout; only the heap changes it.

use crate::sequence::Sequence;
use crate::shape::ShapeId;
use crate::value::{Handle, Symbol, Value};
use indexmap::IndexMap;
use std::any::Any;
use std::hash::{BuildHasherDefault, Hasher};
use thin_vec::ThinVec;

/// Slots kept inside the object; more go to an allocation of their own.
pub const INLINE_SLOTS: usize = 4;

/// Keys are symbols, kept in the order in which they were first put.
pub type Map = IndexMap<Symbol, Value, BuildHasherDefault<SymbolHasher>>;

/// Hashes a handle so that neighbours stay neighbours: keys made one after the other are found without a cache miss
/// each. Upper bits are folded in against strides, and the highest, which the table compares first, are mixed.
#[derive(Default)]
pub struct SymbolHasher(u64);

impl Hasher for SymbolHasher {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u32(u32::from(byte)));
    }

    #[inline(always)]
    fn write_u32(&mut self, number: u32) {
        let number = u64::from(number) ^ self.0.rotate_left(5);
        let low = number ^ (number >> 8) ^ (number >> 16);
        self.0 = (low & 0x01FF_FFFF_FFFF_FFFF) | (number.wrapping_mul(0x9E37_79B9_7F4A_7C15) & 0xFE00_0000_0000_0000);
    }

    #[inline(always)]
    fn finish(&self) -> u64 {
        self.0
    }
}

/// What the object is made of, beside its slots.
#[derive(Default)]
pub enum Data {
    #[default]
    None,
    Number(f64),
    Sequence(Box<Sequence>),
    /// The items from this index on; what is before it is room for more. See `Items`.
    List(ThinVec<Value>, u32),
    Map(Box<Map>),
    /// A fixed set of fields whose meaning the language knows (a message, a block, a call).
    Record(ThinVec<Value>),
    /// A primitive function, by its place in the language's table.
    Primitive(u32),
    /// A reference that does not keep its object alive.
    Weak(Value),
    /// Something that only the embedder or the machine understands.
    Foreign(Box<Box<dyn Foreign>>),
}

/// Data that the heap carries without understanding it.
pub trait Foreign: Any {
    /// Names every value that this data keeps alive.
    fn trace(&self, _visit: &mut dyn FnMut(Value)) {}
    /// What it counts for against the memory limit.
    fn logical_bytes(&self) -> usize {
        0
    }
    /// The same once more, for a transaction that may be rolled back. What belongs to the host cannot be undone.
    fn copied(&self) -> Option<Box<dyn Foreign>> {
        None
    }
    /// What a file calls it, and all of it as plain values, for data that can outlive its process. Data without this is
    /// derived and made again when it is needed, or the host's, such as an open file: the object comes back without it,
    /// and whoever needs it says so.
    fn save(&self) -> Option<(&'static str, Vec<Value>)> {
        None
    }
    fn as_any(&self) -> &dyn Any;
    fn as_any_mut(&mut self) -> &mut dyn Any;
}

/// Which built-in kind an object is; clones of a kind are of the same kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Hash)]
#[repr(u8)]
pub enum Kind {
    #[default]
    Object,
    Number,
    Sequence,
    List,
    Map,
    Block,
    Message,
    Call,
    Locals,
    Coroutine,
    Frame,
    Primitive,
    WeakLink,
    /// A number that is only added to.
    Counter,
    /// Not loaded yet: see `fault`.
    Hollow,
}

/// Single bits of an object's header.
pub mod flag {
    /// Looking the object up in a slot activates it.
    pub const ACTIVATABLE: u8 = 1;
    /// An interned sequence: never changes.
    pub const SYMBOL: u8 = 2;
    /// A symbol that counts against the limit of the transaction under way. See `count`.
    pub(crate) const COUNTED: u8 = 4;
    /// A hollow object that carries its id where others have slots.
    pub(crate) const LABELLED: u8 = 8;
}

pub struct Object {
    pub(crate) shape: ShapeId,
    pub(crate) kind: Kind,
    pub(crate) flags: u8,
    /// The level of a transaction that knows what the object was before. See `transaction`.
    pub(crate) stamp: u16,
    pub(crate) inline: [Value; INLINE_SLOTS],
    pub(crate) more: ThinVec<Value>,
    pub(crate) data: Data,
}

impl Object {
    #[inline(always)]
    pub fn shape(&self) -> ShapeId {
        self.shape
    }

    #[inline(always)]
    pub fn kind(&self) -> Kind {
        self.kind
    }

    #[inline(always)]
    pub fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    #[inline(always)]
    pub fn data(&self) -> &Data {
        &self.data
    }

    #[inline(always)]
    pub fn slot(&self, index: usize) -> Value {
        if index < INLINE_SLOTS { self.inline[index] } else { self.more[index - INLINE_SLOTS] }
    }

    #[inline(always)]
    pub(crate) fn set_slot(&mut self, index: usize, value: Value) {
        if index < INLINE_SLOTS { self.inline[index] = value } else { self.more[index - INLINE_SLOTS] = value }
    }

    pub(crate) fn push_slot(&mut self, index: usize, value: Value) {
        if index < INLINE_SLOTS {
            self.inline[index] = value;
        } else {
            debug_assert_eq!(self.more.len(), index - INLINE_SLOTS);
            self.more.push(value);
        }
    }

    /// Takes the slot at `index` of `count` out, moving the later ones down.
    pub(crate) fn remove_slot(&mut self, index: usize, count: usize) -> Value {
        let removed = self.slot(index);
        for later in index + 1..count {
            self.set_slot(later - 1, self.slot(later));
        }
        if count > INLINE_SLOTS {
            self.more.pop();
        } else {
            self.inline[count - 1] = Value::ABSENT;
        }
        removed
    }

    /// What the data counts for against the memory limit: lengths, never capacities, so that it is the same anywhere.
    pub fn logical_bytes(&self) -> usize {
        size_of::<Object>() + self.more.len() * 8 + self.data.logical_bytes()
    }
}

impl Data {
    pub fn list(items: impl IntoIterator<Item = Value>) -> Data {
        Data::List(items.into_iter().collect(), 0)
    }

    pub fn logical_bytes(&self) -> usize {
        match self {
            Data::Sequence(sequence) => sequence.as_bytes().len(),
            Data::List(values, start) => (values.len() - *start as usize) * 8,
            Data::Record(values) => values.len() * 8,
            Data::Map(map) => map.len() * 32,
            Data::Foreign(foreign) => foreign.logical_bytes(),
            _ => 0,
        }
    }

    /// The same data once more, for another object. Foreign data is not copied.
    pub fn copied(&self) -> Data {
        match self {
            Data::None | Data::Foreign(_) => Data::None,
            Data::Number(number) => Data::Number(*number),
            Data::Sequence(sequence) => Data::Sequence(sequence.clone()),
            Data::List(values, start) => Data::list(values[*start as usize..].iter().copied()),
            Data::Map(map) => Data::Map(map.clone()),
            Data::Record(values) => Data::Record(values.clone()),
            Data::Primitive(index) => Data::Primitive(*index),
            Data::Weak(target) => Data::Weak(*target),
        }
    }

    /// The same, foreign data included if it knows how.
    pub(crate) fn copied_whole(&self) -> Data {
        match self {
            Data::Foreign(foreign) => foreign.copied().map_or(Data::None, |copy| Data::Foreign(Box::new(copy))),
            data => data.copied(),
        }
    }

    /// Names every value inside that it keeps alive.
    pub fn trace(&self, visit: &mut dyn FnMut(Value)) {
        match self {
            Data::List(values, start) => values[*start as usize..].iter().for_each(|&value| visit(value)),
            Data::Record(values) => values.iter().for_each(|&value| visit(value)),
            Data::Map(map) => map.iter().for_each(|(&key, &value)| {
                visit(Value::object(key));
                visit(value);
            }),
            Data::Foreign(foreign) => foreign.trace(visit),
            _ => {}
        }
    }
}

/// A slot's place: the object that has it and its index there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    pub holder: Handle,
    pub index: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_fills_one_cache_line() {
        assert_eq!(size_of::<Data>(), 16);
        assert_eq!(size_of::<Object>(), 64);
    }
}
