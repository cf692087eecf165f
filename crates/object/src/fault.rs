//! Objects that are not here yet. Owns how they come in at their first touch, from whatever keeps them (see `Loader`).
//!
//! A handle may stand for an object that nobody has read yet: a *hollow* one, with a shape that nobody remembers, no slot
//! and no flag that others look at. It may carry its id, so that who loads it need not look elsewhere. Whoever asks the heap for it gets it filled, so that no reader has to know. Readers only borrow the
//! heap, so what comes in meanwhile, and the symbols and shapes that it needs, is *late*: it lies aside, where a shared
//! borrow may add to it, until the heap is next borrowed for writing, and settles.
//!
//! A load that fails gives an object with nothing in it and is remembered: whoever runs a program must look at
//! `Heap::failure` before believing its result.

use crate::change::ObjectId;
use crate::heap::Heap;
use crate::nest::{Aside, Nest};
use crate::object::{Data, INLINE_SLOTS, Kind, Object, flag};
use crate::sequence::Sequence;
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
    /// What a hollow object is. Objects that it refers to may be hollow, its texts are symbols: both are in the nest. `id` is
    /// what it was minted for, if the object still says so.
    fn load(&self, handle: Handle, id: Option<ObjectId>, nest: &mut dyn Nest) -> Result<Loaded, String>;

    /// What kind of object it is, if that can be told without loading it.
    fn kind(&self, _handle: Handle) -> Option<Kind> {
        None
    }

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

impl Loaded {
    fn into_object(self, shape: ShapeId) -> Object {
        let mut object = Object::hollow(shape);
        (object.kind, object.data) = (self.kind, self.data);
        object.flags = if self.is_activatable { flag::ACTIVATABLE } else { 0 };
        self.values.iter().enumerate().for_each(|(index, &value)| object.push_slot(index, value));
        object
    }
}

impl Late {
    pub fn known_symbol(&self, hash: u32, is_same: impl Fn(&Sequence) -> bool) -> Option<Symbol> {
        self.symbols.borrow().find(hash, |symbol| match self.objects.get(&symbol).map(Object::data) {
            Some(Data::Sequence(sequence)) => is_same(sequence),
            _ => unreachable!("a late symbol is a late object"),
        })
    }

    pub fn add_symbol(&self, hash: u32, symbol: Symbol, object: Object) {
        self.objects.insert(symbol, Box::new(object));
        self.symbols.borrow_mut().insert(hash, symbol);
    }
}

impl Object {
    pub(crate) fn hollow(shape: ShapeId) -> Object {
        let inline = [Value::ABSENT; INLINE_SLOTS];
        Object { shape, kind: Kind::Hollow, flags: 0, stamp: 0, inline, more: ThinVec::new(), data: Data::None }
    }

    /// The same with its id, which lies in memory where whoever loads it looks anyway.
    pub(crate) fn labelled(shape: ShapeId, id: ObjectId) -> Object {
        let mut object = Object::hollow(shape);
        object.flags = flag::LABELLED;
        let (high, low) = id.halves();
        (object.inline[0], object.inline[1]) = (Value::from_bits(high), Value::from_bits(low));
        object
    }

    fn label(&self) -> Option<ObjectId> {
        self.has(flag::LABELLED).then(|| ObjectId::from_halves(self.inline[0].to_bits(), self.inline[1].to_bits()))
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

    /// Forgets what an object is, until it is next touched. Whoever calls this must call `renew_epoch` before any
    /// program goes on.
    pub fn hollow_out(&mut self, handle: Handle) {
        self.settle();
        self.hollowed(handle);
        self.veil.iter_mut().for_each(|veil| veil.forget(handle));
    }

    /// Makes an object hollow; what it was.
    pub(crate) fn hollowed(&mut self, handle: Handle) -> Object {
        let object = &mut self.objects[handle.0 as usize];
        debug_assert!(!object.has(flag::SYMBOL));
        let before = object.logical_bytes();
        let was = std::mem::replace(object, Object::hollow(self.hollow.shape));
        let freed = before - object.logical_bytes();
        self.usage.bytes -= freed;
        self.uncount(freed);
        was
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
        self.settle();
        if self.resident(handle).kind != Kind::Hollow {
            return;
        }
        if let Some(mut object) = self.unveiled(handle) {
            let shape = self.shapes.get(object.shape);
            if self.reads.is_some() && !shape.owned {
                let (protos, names) = (shape.protos.clone(), shape.names.clone());
                object.shape = self.shapes.loaded(protos, &names, true);
            }
            self.settle_object(handle, object);
            return;
        }
        let id = self.resident(handle).label();
        // It is nobody's while it is at work: the heap is the nest.
        let loader = self.late.loader.take();
        let loaded = loader.as_ref().map(|loader| loader.load(handle, id, self));
        self.late.loader = loader;
        let loaded = self.loaded_or_failed(handle, loaded);
        let shape = match self.shapes.known(&loaded.protos, &loaded.names) {
            Some(shape) if self.reads.is_none() => shape,
            _ => self.shapes.loaded(loaded.protos.to_vec(), &loaded.names, self.reads.is_some()),
        };
        self.note_touch(handle);
        self.settle_object(handle, loaded.into_object(shape));
    }

    /// A hollow object, filled.
    #[cold]
    #[inline(never)]
    pub(crate) fn absent(&self, handle: Handle) -> &Object {
        if let Some(object) = self.late.objects.get(&handle) {
            return object;
        }
        if let Some(mut object) = self.unveiled(handle) {
            let shape = self.shapes.get(object.shape);
            if self.reads.is_some() && !shape.owned {
                object.shape = self.shapes.add_late(shape.protos.clone(), &shape.names);
            }
            return self.late.objects.insert(handle, Box::new(object));
        }
        let id = self.resident(handle).label();
        let loaded = self.late.loader.as_ref().map(|loader| loader.load(handle, id, &mut Aside(self)));
        let loaded = self.loaded_or_failed(handle, loaded);
        self.note_touch(handle);
        let shape = match self.shapes.known(&loaded.protos, &loaded.names) {
            Some(shape) if self.reads.is_none() => shape,
            _ => self.shapes.add_late(loaded.protos.to_vec(), &loaded.names),
        };
        self.late.objects.insert(handle, Box::new(loaded.into_object(shape)))
    }

    fn loaded_or_failed(&self, handle: Handle, loaded: Option<Result<Loaded, String>>) -> Loaded {
        let loaded = loaded.unwrap_or_else(|| Err(format!("object {handle:?} is in no store")));
        loaded.unwrap_or_else(|failure| {
            self.late.failure.borrow_mut().get_or_insert(failure);
            self.late.failed.borrow_mut().push(handle);
            Loaded::default()
        })
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
        for _ in 0..self.late.minted.take() {
            self.take_in(Object::hollow(self.hollow.shape));
        }
        for (hash, symbol) in self.late.symbols.take().drain() {
            self.enter_symbol(hash, symbol);
        }
        for (handle, object) in std::mem::take(&mut self.late.objects).into_map() {
            self.settle_object(handle, *object);
        }
        self.shapes.clear_late();
    }

    fn settle_object(&mut self, handle: Handle, mut object: Object) {
        object.shape = self.shapes.settled(object.shape, self.reads.is_some());
        for &proto in &self.shapes.get(object.shape).protos {
            self.cloned.insert(proto);
        }
        self.charge_loaded(object.logical_bytes() - size_of::<Object>());
        self.objects[handle.0 as usize] = object;
        self.note_bare(handle);
    }

    pub(crate) fn charge_loaded(&mut self, bytes: usize) {
        self.usage.bytes += bytes;
        if self.count.is_on {
            self.usage.uncounted_bytes += bytes;
        }
    }
}
