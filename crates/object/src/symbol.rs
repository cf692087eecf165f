//! Symbols: immutable sequences, one object for equal text. Owns the table that finds them; it keeps none alive.

use crate::heap::Heap;
use crate::object::{Data, Kind, Object, flag};
use crate::sequence::{Encoding, ItemType, Sequence};
use crate::shape::ShapeId;
use crate::value::{Handle, Symbol};
use hashbrown::{HashTable, hash_table};
use rustc_hash::FxHasher;
use std::hash::Hasher;

#[derive(Default)]
pub struct SymbolTable {
    table: Table,
    /// The shape of a clone of the Sequence proto, once there is one.
    shape: Option<ShapeId>,
}

/// Each symbol with its hash: growing the table, and most comparisons, need not look at the object.
#[derive(Default)]
pub(crate) struct Table(HashTable<Entry>);

#[derive(Clone, Copy)]
struct Entry {
    hash: u32,
    symbol: Symbol,
}

impl Table {
    /// The symbol that this holds for, among those of this hash.
    #[inline]
    pub fn find(&self, hash: u32, is_wanted: impl Fn(Symbol) -> bool) -> Option<Symbol> {
        let is_it = |entry: &Entry| entry.hash == hash && is_wanted(entry.symbol);
        self.0.find(spread(hash), is_it).map(|entry| entry.symbol)
    }

    /// The same; if there is none, this new one is entered, with one walk for both.
    #[inline]
    fn find_or_insert(&mut self, hash: u32, is_wanted: impl Fn(Symbol) -> bool, new: Symbol) -> Option<Symbol> {
        let is_it = |entry: &Entry| entry.hash == hash && is_wanted(entry.symbol);
        match self.0.entry(spread(hash), is_it, |entry| spread(entry.hash)) {
            hash_table::Entry::Occupied(known) => Some(known.get().symbol),
            hash_table::Entry::Vacant(room) => {
                room.insert(Entry { hash, symbol: new });
                None
            }
        }
    }

    #[inline]
    pub fn insert(&mut self, hash: u32, symbol: Symbol) {
        self.0.insert_unique(spread(hash), Entry { hash, symbol }, |entry| spread(entry.hash));
    }

    /// Every symbol with its hash.
    pub fn drain(&mut self) -> impl Iterator<Item = (u32, Symbol)> + '_ {
        self.0.drain().map(|entry| (entry.hash, entry.symbol))
    }
}

/// The table wants 64 bits of which it uses the upper and the lower ones.
#[inline(always)]
fn spread(hash: u32) -> u64 {
    (hash as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

#[inline]
pub(crate) fn hash_of(bytes: &[u8]) -> u32 {
    let mut hasher = FxHasher::default();
    hasher.write(bytes);
    let hash = hasher.finish();
    (hash ^ (hash >> 32)) as u32
}

fn sequence_of(objects: &[Object], symbol: Symbol) -> &Sequence {
    match &objects[symbol.0 as usize].data {
        Data::Sequence(sequence) => sequence,
        _ => &EMPTY,
    }
}

static EMPTY: Sequence = Sequence::new();

/// Whether two sequences are one symbol: the same bytes with the same meaning. Bytes of text need not say whether they
/// are `ascii` or `utf8`.
pub(crate) fn is_same(left: &Sequence, right: &Sequence) -> bool {
    left.item_type() == right.item_type()
        && left.encoding().is_text() == right.encoding().is_text()
        && left.as_bytes() == right.as_bytes()
}

/// The same for text in ASCII.
pub(crate) fn is_ascii_text(sequence: &Sequence, text: &[u8]) -> bool {
    sequence.as_bytes() == text && sequence.item_type() == ItemType::Uint8 && sequence.encoding().is_text()
}

/// Symbols of ASCII text are always marked as such, whatever the sequence was that they were made from.
pub(crate) fn normal(mut sequence: Sequence) -> Sequence {
    if sequence.encoding() == Encoding::Utf8 && sequence.as_bytes().is_ascii() {
        sequence.set_encoding(Encoding::Ascii);
    }
    sequence
}

impl Heap {
    /// Symbols made from now on have this shape: a clone of the Sequence proto.
    pub fn set_symbol_shape(&mut self, shape: ShapeId) {
        self.settle();
        self.symbols.shape = Some(shape);
        for entry in &self.symbols.table.0 {
            self.objects[entry.symbol.0 as usize].shape = shape;
        }
    }

    /// The symbol for this text. Text that is not ASCII has one item for each character, as every text literal in Io.
    pub fn intern(&mut self, text: &str) -> Symbol {
        if !text.is_ascii() {
            return self.intern_sequence(Sequence::from(text).as_fixed_size_type());
        }
        self.settle();
        let hash = hash_of(text.as_bytes());
        match self.find_ascii(hash, text.as_bytes()) {
            Some(symbol) => self.counted(symbol),
            None => {
                let mut sequence = Sequence::from(text);
                sequence.set_encoding(Encoding::Ascii);
                self.add_symbol(hash, sequence)
            }
        }
    }

    /// The symbol with these items.
    #[inline]
    pub fn intern_sequence(&mut self, sequence: Sequence) -> Symbol {
        self.settle();
        let hash = hash_of(sequence.as_bytes());
        match self.known_symbol(hash, |other| is_same(other, &sequence)) {
            Some(symbol) => self.counted(symbol),
            None => self.add_symbol(hash, normal(sequence)),
        }
    }

    #[inline]
    pub(crate) fn known_symbol(&self, hash: u32, is_wanted: impl Fn(&Sequence) -> bool) -> Option<Symbol> {
        self.symbols.table.find(hash, |symbol| is_wanted(sequence_of(&self.objects, symbol)))
    }

    fn add_symbol(&mut self, hash: u32, sequence: Sequence) -> Symbol {
        let shape = match self.symbols.shape {
            Some(shape) => shape,
            None => self.shapes.root(Vec::new()),
        };
        let symbol = self.allocate(shape, Kind::Sequence, Data::Sequence(Box::new(sequence)));
        self.objects[symbol.0 as usize].flags |= flag::SYMBOL;
        self.enter_symbol(hash, symbol);
        self.note_counted(symbol);
        symbol
    }

    /// The symbol that this holds for; if there is none, `new` is it from now on, and has to be made.
    #[inline]
    pub(crate) fn known_symbol_or(
        &mut self,
        hash: u32,
        is_wanted: impl Fn(&Sequence) -> bool,
        new: Symbol,
    ) -> Option<Symbol> {
        let objects = &self.objects;
        self.symbols.table.find_or_insert(hash, |symbol| is_wanted(sequence_of(objects, symbol)), new)
    }

    /// From now on this symbol is the one for its text, whose hash this is.
    #[inline]
    pub(crate) fn enter_symbol(&mut self, hash: u32, symbol: Symbol) {
        self.symbols.table.insert(hash, symbol);
    }

    fn find_ascii(&self, hash: u32, bytes: &[u8]) -> Option<Symbol> {
        self.known_symbol(hash, |sequence| is_ascii_text(sequence, bytes))
    }

    /// The symbol with this text if there is one.
    pub fn find_symbol(&self, text: &str) -> Option<Symbol> {
        if text.is_ascii() {
            return self.find_ascii(hash_of(text.as_bytes()), text.as_bytes());
        }
        let wanted = Sequence::from(text).as_fixed_size_type();
        self.known_symbol(hash_of(wanted.as_bytes()), |other| is_same(other, &wanted))
    }

    /// The text of a symbol, for messages to people.
    pub fn symbol_text(&self, symbol: Symbol) -> std::borrow::Cow<'_, str> {
        let sequence = self.sequence(symbol).unwrap_or(&EMPTY);
        match sequence.as_str() {
            Some(text) => text.into(),
            None => sequence.to_text().into(),
        }
    }

    pub(crate) fn symbol_shape(&self) -> Option<ShapeId> {
        self.symbols.shape
    }

    /// Every symbol, in no order that a program may rely on.
    pub fn symbols(&self) -> impl Iterator<Item = Symbol> + '_ {
        self.symbols.table.0.iter().map(|entry| entry.symbol)
    }

    pub(crate) fn sweep_symbols(&mut self, is_marked: impl Fn(Handle) -> bool) {
        self.symbols.table.0.retain(|entry| is_marked(entry.symbol));
    }
}
