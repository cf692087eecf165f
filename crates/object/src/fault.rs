//! Objects that are not here yet. Owns how they come in at their first touch, from whatever keeps them (see `Loader`).
//!
//! A handle may stand for an object that nobody has read yet: a *hollow* one, with a shape that nobody remembers, no slot
//! and no flag. Whoever asks the heap for it gets it filled, so that no reader has to know. Readers only borrow the
//! heap, so what comes in meanwhile, and the symbols and shapes that it needs, is *late*: it lies aside, where a shared
//! borrow may add to it, until the heap is next borrowed for writing, and settles.
//!
//! A load that fails gives an object with nothing in it and is remembered: whoever runs a program must look at
//! `Heap::failure` before believing its result.

use crate::heap::Heap;
use crate::object::{Data, INLINE_SLOTS, Kind, Object, flag};
use crate::sequence::{Encoding, ItemType, Sequence};
use crate::shape::ShapeId;
use crate::symbol;
use crate::value::{Handle, Symbol, Value};
use elsa::FrozenIndexMap;
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;
use std::cell::{Cell, RefCell};
use thin_vec::ThinVec;

/// Whatever keeps objects that are not in memory.
pub trait Loader {
    /// What a hollow object is. Objects that it refers to may be hollow (`Heap::mint`), its texts are symbols
    /// (`Heap::late_symbol`).
    fn load(&self, handle: Handle, heap: &Heap) -> Result<Loaded, String>;

    /// Whether the object would still be there if memory forgot it.
    fn keeps(&self, handle: Handle) -> bool;

    /// The handle stands for nothing any more.
    fn released(&self, handle: Handle);
}

/// One object as it comes in.
#[derive(Default)]
pub struct Loaded {
    pub kind: Kind,
    pub is_activatable: bool,
    pub protos: SmallVec<[Handle; 2]>,
    /// Of the slots, in their order; no two are the same.
    pub names: SmallVec<[Symbol; INLINE_SLOTS]>,
    /// As many as there are names.
    pub values: SmallVec<[Value; INLINE_SLOTS]>,
    pub data: Data,
}

/// The room for so many late objects is kept for those that come next; clearing more would take longer than making it.
pub(crate) const LATE_ROOM: usize = 64;

/// What came in since the heap was last borrowed for writing.
#[derive(Default)]
pub(crate) struct Late {
    pub loader: Option<Box<dyn Loader>>,
    objects: FrozenIndexMap<Handle, Box<Object>, FxBuildHasher>,
    symbols: RefCell<symbol::Table>,
    /// Handles behind those of the heap's table.
    minted: Cell<u32>,
    failure: RefCell<Option<String>>,
    /// Objects that could not be loaded, and stand there empty until somebody has heard of it.
    failed: RefCell<Vec<Handle>>,
}

impl Object {
    pub(crate) fn hollow(shape: ShapeId) -> Object {
        let inline = [Value::ABSENT; INLINE_SLOTS];
        Object { shape, kind: Kind::Hollow, flags: 0, stamp: 0, inline, more: ThinVec::new(), data: Data::None }
    }
}

impl Heap {
    /// From now on hollow objects are filled from here.
    pub fn set_loader(&mut self, loader: Box<dyn Loader>) {
        self.late.loader = Some(loader);
        self.renew_stamp();
    }

    /// Why an object could not be loaded. All that could not be is hollow again, so that whoever touches it next is told,
    /// too. What was written since must have been taken back; whoever calls this must call `renew_epoch` before any
    /// program goes on.
    pub fn take_failure(&mut self) -> Option<String> {
        for handle in self.late.failed.take() {
            self.hollow_out(handle);
        }
        self.late.failure.take()
    }

    pub fn has_failed(&self) -> bool {
        self.late.failure.borrow().is_some()
    }

    /// A handle for an object that the loader knows, to be loaded when it is first touched.
    pub fn mint(&self) -> Handle {
        let minted = self.late.minted.get();
        self.late.minted.set(minted + 1);
        Handle(self.objects.len() as u32 + minted)
    }

    /// The symbol with these items, for an object that is being loaded.
    pub fn late_symbol(&self, sequence: Sequence) -> Symbol {
        let sequence = symbol::normal(sequence);
        let hash = symbol::hash_of(sequence.as_bytes());
        match self.find_late_or_settled(hash, |other| symbol::is_same(other, &sequence)) {
            Some(symbol) => symbol,
            None => self.add_late_symbol(hash, sequence),
        }
    }

    /// The same for text in ASCII, of which nothing is copied if it is there.
    pub fn late_ascii_symbol(&self, text: &[u8]) -> Symbol {
        debug_assert!(text.is_ascii());
        let hash = symbol::hash_of(text);
        match self.find_late_or_settled(hash, |other| symbol::is_ascii_text(other, text)) {
            Some(symbol) => symbol,
            None => self.add_late_symbol(hash, Sequence::from_parts(ItemType::Uint8, Encoding::Ascii, text)),
        }
    }

    fn find_late_or_settled(&self, hash: u32, is_same: impl Fn(&Sequence) -> bool) -> Option<Symbol> {
        let is_late_same = |symbol| match self.late.objects.get(&symbol).map(Object::data) {
            Some(Data::Sequence(sequence)) => is_same(sequence),
            _ => unreachable!("a late symbol is a late object"),
        };
        let known = self.known_symbol(hash, &is_same);
        known.or_else(|| self.late.symbols.borrow().find(hash, is_late_same))
    }

    fn add_late_symbol(&self, hash: u32, sequence: Sequence) -> Symbol {
        let symbol = self.mint();
        let mut object = Object::hollow(self.symbol_shape().unwrap_or(self.hollow.shape));
        (object.kind, object.flags) = (Kind::Sequence, flag::SYMBOL);
        object.data = Data::Sequence(Box::new(sequence));
        self.late.objects.insert(symbol, Box::new(object));
        self.late.symbols.borrow_mut().insert(hash, symbol);
        symbol
    }

    /// Forgets what an object is, until it is next touched. Whoever calls this must call `renew_epoch` before any
    /// program goes on.
    pub fn hollow_out(&mut self, handle: Handle) {
        self.settle();
        let object = &mut self.objects[handle.0 as usize];
        debug_assert!(!object.has(flag::SYMBOL));
        let before = object.logical_bytes();
        *object = Object::hollow(self.hollow.shape);
        let freed = before - object.logical_bytes();
        self.usage.bytes -= freed;
        self.uncount(freed);
    }

    pub fn is_hollow(&self, handle: Handle) -> bool {
        self.resident(handle).kind == Kind::Hollow && self.late.objects.get(&handle).is_none()
    }

    /// Whether this is a symbol. Loads nothing: a symbol is never hollow.
    pub fn is_symbol(&self, handle: Handle) -> bool {
        let is_symbol = |object: &Object| object.has(flag::SYMBOL);
        is_symbol(self.resident(handle)) || self.late.objects.get(&handle).is_some_and(is_symbol)
    }

    /// Loads an object if it is hollow, and lets it settle: what is late has a shape of its own until then.
    #[inline]
    pub fn fill(&mut self, handle: Handle) {
        if self.resident(handle).kind == Kind::Hollow {
            self.fill_hollow(handle);
        }
    }

    #[cold]
    #[inline(never)]
    fn fill_hollow(&mut self, handle: Handle) {
        if self.late.objects.get(&handle).is_some() {
            return self.settle_late();
        }
        // It need not lie aside: what it brought along does, and settles first.
        let object = self.load(handle);
        self.settle_minted();
        self.settle_object(handle, object);
        self.shapes.clear_late();
    }

    /// A hollow object, filled.
    #[cold]
    #[inline(never)]
    pub(crate) fn absent(&self, handle: Handle) -> &Object {
        match self.late.objects.get(&handle) {
            Some(object) => object,
            None => self.late.objects.insert(handle, Box::new(self.load(handle))),
        }
    }

    fn load(&self, handle: Handle) -> Object {
        let loaded = match &self.late.loader {
            Some(loader) => loader.load(handle, self),
            None => Err(format!("object {handle:?} is in no store")),
        };
        let loaded = loaded.unwrap_or_else(|failure| {
            self.late.failure.borrow_mut().get_or_insert(failure);
            self.late.failed.borrow_mut().push(handle);
            Loaded::default()
        });
        self.build(loaded)
    }

    fn build(&self, loaded: Loaded) -> Object {
        let shape = match self.shapes.known(&loaded.protos, &loaded.names) {
            Some(shape) => shape,
            None => self.shapes.add_late(loaded.protos.to_vec(), &loaded.names),
        };
        let mut object = Object::hollow(shape);
        (object.kind, object.data) = (loaded.kind, loaded.data);
        object.flags = if loaded.is_activatable { flag::ACTIVATABLE } else { 0 };
        loaded.values.iter().enumerate().for_each(|(index, &value)| object.push_slot(index, value));
        object
    }

    /// Takes in what is late. Whatever changes the heap's tables, or an object, does this first; a machine that only
    /// reads does it now and then, for what is late is slower to find.
    #[inline(always)]
    pub fn settle(&mut self) {
        if self.late.minted.get() != 0 || !self.late.objects.is_empty() {
            self.settle_late();
        }
    }

    #[cold]
    #[inline(never)]
    fn settle_late(&mut self) {
        self.settle_minted();
        self.shapes.clear_late();
    }

    /// All but the late shapes, which somebody may still need.
    fn settle_minted(&mut self) {
        for _ in 0..self.late.minted.take() {
            let hollow = Object::hollow(self.hollow.shape);
            self.charge_loaded(hollow.logical_bytes());
            self.objects.push(hollow);
        }
        if !self.late.objects.is_empty() {
            let mut late = std::mem::take(&mut self.late.objects).into_map();
            late.drain(..).for_each(|(handle, object)| self.settle_object(handle, *object));
            if late.capacity() <= LATE_ROOM {
                self.late.objects = late.into();
            }
            self.symbols.take_in(self.late.symbols.get_mut());
        }
    }

    fn settle_object(&mut self, handle: Handle, mut object: Object) {
        object.shape = self.shapes.settled(object.shape);
        for &proto in &self.shapes.get(object.shape).protos {
            self.cloned.insert(proto);
        }
        self.charge_loaded(object.logical_bytes() - size_of::<Object>());
        self.objects[handle.0 as usize] = object;
    }

    fn charge_loaded(&mut self, bytes: usize) {
        self.usage.bytes += bytes;
        if self.count.is_on {
            self.usage.uncounted_bytes += bytes;
        }
    }
}
