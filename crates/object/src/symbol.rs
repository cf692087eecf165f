//! Symbols: immutable sequences, one object for equal text. Owns the table that finds them; it keeps none alive.

use crate::heap::Heap;
use crate::object::{Data, Kind, Object, flag};
use crate::sequence::Sequence;
use crate::shape::ShapeId;
use crate::value::{Handle, Symbol};
use hashbrown::HashTable;
use rustc_hash::FxHasher;
use std::hash::Hasher;

#[derive(Default)]
pub struct SymbolTable {
    table: HashTable<Symbol>,
    /// The shape of a clone of the Sequence proto, once there is one.
    shape: Option<ShapeId>,
}

#[inline]
fn hash_of(bytes: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(bytes);
    hasher.finish()
}

fn bytes_of(objects: &[Object], symbol: Symbol) -> &[u8] {
    match &objects[symbol.0 as usize].data {
        Data::Sequence(sequence) => sequence.as_bytes(),
        _ => &[],
    }
}

impl Heap {
    /// Symbols made from now on have this shape: a clone of the Sequence proto.
    pub fn set_symbol_shape(&mut self, shape: ShapeId) {
        self.symbols.shape = Some(shape);
        for &symbol in &self.symbols.table {
            self.objects[symbol.0 as usize].shape = shape;
        }
    }

    /// The symbol for this text.
    pub fn intern(&mut self, text: &str) -> Symbol {
        self.intern_sequence_bytes(text.as_bytes(), || Sequence::from_bytes(text.as_bytes()))
    }

    /// The symbol for these bytes; `make` gives the sequence if there is none yet.
    #[inline]
    pub fn intern_sequence_bytes(&mut self, bytes: &[u8], make: impl FnOnce() -> Sequence) -> Symbol {
        let hash = hash_of(bytes);
        let objects = &self.objects;
        if let Some(&symbol) = self.symbols.table.find(hash, |&symbol| bytes_of(objects, symbol) == bytes) {
            return symbol;
        }
        let shape = match self.symbols.shape {
            Some(shape) => shape,
            None => self.shapes.root(Vec::new()),
        };
        let symbol = self.allocate(shape, Kind::Sequence, Data::Sequence(Box::new(make())));
        self.objects[symbol.0 as usize].flags |= flag::SYMBOL;
        let objects = &self.objects;
        self.symbols.table.insert_unique(hash, symbol, |&symbol| hash_of(bytes_of(objects, symbol)));
        symbol
    }

    /// The symbol with this text if there is one.
    pub fn find_symbol(&self, text: &str) -> Option<Symbol> {
        let bytes = text.as_bytes();
        self.symbols.table.find(hash_of(bytes), |&symbol| bytes_of(&self.objects, symbol) == bytes).copied()
    }

    /// The text of a symbol, for messages to people.
    pub fn symbol_text(&self, symbol: Symbol) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(bytes_of(&self.objects, symbol))
    }

    pub(crate) fn symbol_shape(&self) -> Option<ShapeId> {
        self.symbols.shape
    }

    /// Every symbol, in no order that a program may rely on.
    pub fn symbols(&self) -> impl Iterator<Item = Symbol> + '_ {
        self.symbols.table.iter().copied()
    }

    pub(crate) fn sweep_symbols(&mut self, is_marked: impl Fn(Handle) -> bool) {
        self.symbols.table.retain(|&mut symbol| is_marked(symbol));
    }
}
