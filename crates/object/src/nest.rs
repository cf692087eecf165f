//! Where an object that is being loaded finds what it refers to: handles of objects that may come later, and symbols. Owns
//! the two ways to get them: who has the heap for writing takes them in at once, who only reads sets them aside (see
//! `fault`).

use crate::change::ObjectId;
use crate::heap::Heap;
use crate::object::{Data, Kind, Object, flag};
use crate::sequence::{Encoding, ItemType, Sequence};
use crate::symbol;
use crate::value::{Handle, Symbol};

pub trait Nest {
    /// To look at, never to load from.
    fn heap(&self) -> &Heap;

    /// A handle for an object that the loader knows by this id, to be loaded when it is first touched.
    fn mint(&mut self, id: ObjectId) -> Handle;

    /// The symbol with these items.
    fn symbol(&mut self, sequence: Sequence) -> Symbol;

    /// The same for text in ASCII, of which nothing is copied if it is there.
    fn ascii_symbol(&mut self, text: &[u8]) -> Symbol;
}

/// Takes in at once. Nothing may be late.
impl Nest for Heap {
    fn heap(&self) -> &Heap {
        self
    }

    fn mint(&mut self, id: ObjectId) -> Handle {
        self.take_in(Object::labelled(self.hollow.shape, id))
    }

    fn symbol(&mut self, sequence: Sequence) -> Symbol {
        let sequence = symbol::normal(sequence);
        let hash = symbol::hash_of(sequence.as_bytes());
        let next = self.next_taken_in();
        match self.known_symbol_or(hash, |other| symbol::is_same(other, &sequence), next) {
            Some(symbol) => symbol,
            None => self.take_in(self.loaded_symbol(sequence)),
        }
    }

    fn ascii_symbol(&mut self, text: &[u8]) -> Symbol {
        let hash = symbol::hash_of(text);
        let next = self.next_taken_in();
        match self.known_symbol_or(hash, |other| symbol::is_ascii_text(other, text), next) {
            Some(symbol) => symbol,
            None => self.take_in(self.loaded_symbol(ascii(text))),
        }
    }
}

/// Sets aside, for a heap that is only read.
pub(crate) struct Aside<'h>(pub &'h Heap);

impl Nest for Aside<'_> {
    fn heap(&self) -> &Heap {
        self.0
    }

    fn mint(&mut self, _id: ObjectId) -> Handle {
        self.0.mint()
    }

    fn symbol(&mut self, sequence: Sequence) -> Symbol {
        let sequence = symbol::normal(sequence);
        let hash = symbol::hash_of(sequence.as_bytes());
        match self.find(hash, |other| symbol::is_same(other, &sequence)) {
            Some(symbol) => symbol,
            None => self.add(hash, sequence),
        }
    }

    fn ascii_symbol(&mut self, text: &[u8]) -> Symbol {
        let hash = symbol::hash_of(text);
        match self.find(hash, |other| symbol::is_ascii_text(other, text)) {
            Some(symbol) => symbol,
            None => self.add(hash, ascii(text)),
        }
    }
}

impl Aside<'_> {
    fn find(&self, hash: u32, is_same: impl Fn(&Sequence) -> bool) -> Option<Symbol> {
        self.0.known_symbol(hash, &is_same).or_else(|| self.0.late.known_symbol(hash, &is_same))
    }

    fn add(&self, hash: u32, sequence: Sequence) -> Symbol {
        let symbol = self.0.mint();
        self.0.late.add_symbol(hash, symbol, self.0.loaded_symbol(sequence));
        symbol
    }
}

impl Heap {
    /// One more object, which counts as loaded.
    pub(crate) fn take_in(&mut self, object: Object) -> Handle {
        self.charge_loaded(object.logical_bytes());
        let handle = self.next_taken_in();
        self.objects.push(object);
        handle
    }

    fn next_taken_in(&self) -> Handle {
        Handle(self.objects.len() as u32)
    }

    fn loaded_symbol(&self, sequence: Sequence) -> Object {
        let mut object = Object::hollow(self.symbol_shape().unwrap_or(self.hollow.shape));
        (object.kind, object.flags) = (Kind::Sequence, flag::SYMBOL);
        object.data = Data::Sequence(Box::new(sequence));
        object
    }
}

fn ascii(text: &[u8]) -> Sequence {
    debug_assert!(text.is_ascii());
    Sequence::from_parts(ItemType::Uint8, Encoding::Ascii, text)
}
