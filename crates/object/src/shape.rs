//! Shapes: the slot names and protos that objects have in common. Owns how a name finds its index.
//!
//! A *shared* shape never changes: adding a slot moves the object along a transition to another shape. An *owned*
//! shape belongs to one object (one with many slots, or one that lost some); changing it gives it a new id, so that
//! whatever was remembered about the old id can never be wrong. Unused shapes are freed by the collector.

use crate::value::{Handle, Symbol};
use elsa::FrozenIndexMap;
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::cell::Cell;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct ShapeId(pub u32);

/// Beyond this many slots an object gets a shape of its own.
const SHARED_SLOTS_MAX: usize = 24;
/// A shape with more transitions than this gives its next child an owned shape.
const TRANSITIONS_MAX: usize = 128;
/// Up to here a scan of the names beats a hash table.
const SCANNED_SLOTS_MAX: usize = 8;

#[derive(Default, Debug)]
pub struct Shape {
    pub protos: Vec<Handle>,
    pub names: Vec<Symbol>,
    index: FxHashMap<Symbol, u32>,
    transitions: FxHashMap<Symbol, ShapeId>,
    pub owned: bool,
    /// A transaction may bring this shape back: who changes it leaves it behind.
    pinned: bool,
}

impl Shape {
    #[inline]
    pub fn find(&self, name: Symbol) -> Option<usize> {
        if self.names.len() <= SCANNED_SLOTS_MAX {
            self.names.iter().position(|&each| each == name)
        } else {
            self.index.get(&name).map(|&index| index as usize)
        }
    }

    fn push(&mut self, name: Symbol) {
        self.names.push(name);
        if self.names.len() == SCANNED_SLOTS_MAX + 1 {
            self.reindex();
        } else if self.names.len() > SCANNED_SLOTS_MAX {
            self.index.insert(name, self.names.len() as u32 - 1);
        }
    }

    fn reindex(&mut self) {
        self.index.clear();
        if self.names.len() > SCANNED_SLOTS_MAX {
            self.index = self.names.iter().enumerate().map(|(index, &name)| (name, index as u32)).collect();
        }
    }

    /// Whether no more shapes may be shared that have a slot more than this one.
    fn is_full(&self) -> bool {
        self.names.len() >= SHARED_SLOTS_MAX || self.transitions.len() >= TRANSITIONS_MAX
    }

    fn copy_owned(&self) -> Shape {
        Shape {
            protos: self.protos.clone(),
            names: self.names.clone(),
            index: self.index.clone(),
            transitions: FxHashMap::default(),
            owned: true,
            pinned: false,
        }
    }
}

/// Ids from here on are of late shapes. None is used twice.
const LATE: u32 = 1 << 31;

/// All shapes of one heap.
#[derive(Default)]
pub struct Shapes {
    table: Vec<Shape>,
    /// Shapes of objects that came in while the heap was borrowed for reading: see `fault`.
    late: FrozenIndexMap<u32, Box<Shape>, FxBuildHasher>,
    late_count: Cell<u32>,
    free: Vec<ShapeId>,
    /// What `known` last found.
    last_known: Cell<ShapeId>,
    roots: FxHashMap<Vec<Handle>, ShapeId>,
    clones: FxHashMap<Handle, ShapeId>,
}

impl Shapes {
    #[inline(always)]
    pub fn get(&self, id: ShapeId) -> &Shape {
        match self.table.get(id.0 as usize) {
            Some(shape) => shape,
            None => self.late_shape(id),
        }
    }

    #[cold]
    #[inline(never)]
    fn late_shape(&self, id: ShapeId) -> &Shape {
        self.late.get(&id.0).expect("an object's shape is in one of the tables")
    }

    /// The shape that objects with these protos and slots share, if there is one.
    pub(crate) fn known(&self, protos: &[Handle], names: &[Symbol]) -> Option<ShapeId> {
        let last = self.last_known.get();
        // Objects that come in one after the other are mostly alike. A freed shape has no names.
        if let Some(shape) = self.table.get(last.0 as usize)
            && !names.is_empty()
            && (shape.names.as_slice(), shape.protos.as_slice()) == (names, protos)
            && !shape.owned
        {
            return Some(last);
        }
        let root = *self.roots.get(protos)?;
        let known = names.iter().try_fold(root, |id, name| self.get(id).transitions.get(name).copied())?;
        self.last_known.set(known);
        Some(known)
    }

    /// A shape for one object, until it settles.
    pub(crate) fn add_late(&self, protos: Vec<Handle>, names: &[Symbol]) -> ShapeId {
        let mut shape = Shape { protos, owned: true, ..Shape::default() };
        names.iter().for_each(|&name| shape.push(name));
        let id = LATE | self.late_count.replace(self.late_count.get() + 1);
        self.late.insert(id, Box::new(shape));
        ShapeId(id)
    }

    /// The shape that an object gets in the place of a late one.
    pub(crate) fn settled(&mut self, id: ShapeId, is_owned: bool) -> ShapeId {
        let Some(late) = self.late.get(&id.0) else { return id };
        let (protos, names) = (late.protos.clone(), late.names.clone());
        self.loaded(protos, &names, is_owned)
    }

    /// The shape of an object that comes in, which shares it unless it is to have one of its own.
    pub(crate) fn loaded(&mut self, protos: Vec<Handle>, names: &[Symbol], is_owned: bool) -> ShapeId {
        if !is_owned {
            return self.of(protos, names);
        }
        let mut shape = Shape { protos, owned: true, ..Shape::default() };
        names.iter().for_each(|&name| shape.push(name));
        self.add(shape)
    }

    /// The shape of an object with these protos and slots.
    pub(crate) fn of(&mut self, protos: Vec<Handle>, names: &[Symbol]) -> ShapeId {
        let root = self.root(protos);
        names.iter().fold(root, |shape, &name| self.with_slot(shape, name))
    }

    pub(crate) fn clear_late(&mut self) {
        if !self.late.is_empty() {
            self.late = FrozenIndexMap::default();
        }
    }

    /// A shape that no object has that anybody could look into.
    pub(crate) fn hollow(&mut self) -> ShapeId {
        self.add(Shape { owned: true, ..Shape::default() })
    }

    pub fn len(&self) -> usize {
        self.table.len() - self.free.len()
    }

    pub(crate) fn table_len(&self) -> usize {
        self.table.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn add(&mut self, shape: Shape) -> ShapeId {
        match self.free.pop() {
            Some(id) => {
                self.table[id.0 as usize] = shape;
                id
            }
            None => {
                self.table.push(shape);
                ShapeId(self.table.len() as u32 - 1)
            }
        }
    }

    /// The shape of a fresh clone of `proto`: no slots, one proto.
    #[inline]
    pub(crate) fn clone_of(&mut self, proto: Handle) -> ShapeId {
        if let Some(id) = self.known_clone_of(proto) {
            return id;
        }
        let id = self.root(vec![proto]);
        self.clones.insert(proto, id);
        id
    }

    /// The same, if it is known already.
    #[inline]
    pub(crate) fn known_clone_of(&self, proto: Handle) -> Option<ShapeId> {
        self.clones.get(&proto).copied()
    }

    /// The shape without slots that has these protos.
    pub(crate) fn root(&mut self, protos: Vec<Handle>) -> ShapeId {
        if let Some(&id) = self.roots.get(&protos) {
            return id;
        }
        let id = self.add(Shape { protos: protos.clone(), ..Shape::default() });
        self.roots.insert(protos, id);
        id
    }

    /// The shape after adding a slot, if both this and that are shared.
    pub(crate) fn shared_with_slot(&mut self, id: ShapeId, name: Symbol) -> Option<ShapeId> {
        let shape = self.get(id);
        if shape.owned || (shape.is_full() && !shape.transitions.contains_key(&name)) {
            return None;
        }
        Some(self.with_slot(id, name))
    }

    /// The shape after adding a slot, which must not be there yet. An owned shape's id is spent.
    pub(crate) fn with_slot(&mut self, id: ShapeId, name: Symbol) -> ShapeId {
        let shape = self.get(id);
        debug_assert!(shape.find(name).is_none());
        if shape.owned {
            let renewed = self.renew(id);
            self.table[renewed.0 as usize].push(name);
            return renewed;
        }
        if let Some(&next) = shape.transitions.get(&name) {
            return next;
        }
        let mut next = shape.copy_owned();
        next.push(name);
        next.owned = shape.is_full();
        let owned = next.owned;
        let next = self.add(next);
        if !owned {
            self.table[id.0 as usize].transitions.insert(name, next);
        }
        next
    }

    /// The shape after removing the slot at `index`; the later ones move down by one.
    pub(crate) fn without_slot(&mut self, id: ShapeId, index: usize) -> ShapeId {
        let id = if self.get(id).owned {
            self.renew(id)
        } else {
            let copy = self.get(id).copy_owned();
            self.add(copy)
        };
        let shape = &mut self.table[id.0 as usize];
        let is_last = index + 1 == shape.names.len();
        let name = shape.names.remove(index);
        // Many slots are removed from the last to the first.
        if is_last && shape.names.len() > SCANNED_SLOTS_MAX {
            shape.index.remove(&name);
        } else {
            shape.reindex();
        }
        id
    }

    /// The shape with the same slots and other protos.
    pub(crate) fn with_protos(&mut self, id: ShapeId, protos: Vec<Handle>) -> ShapeId {
        if self.get(id).owned {
            let id = self.renew(id);
            self.table[id.0 as usize].protos = protos;
            return id;
        }
        let names = self.get(id).names.clone();
        self.of(protos, &names)
    }

    /// A shape for a second object with the same slots and protos: a copy if it is owned.
    pub(crate) fn unshared(&mut self, id: ShapeId) -> ShapeId {
        if !self.get(id).owned {
            return id;
        }
        let copy = self.get(id).copy_owned();
        self.add(copy)
    }

    /// Gives an owned shape a new id; the old one is an empty husk until the next sweep, or a copy if it is
    /// pinned.
    fn renew(&mut self, id: ShapeId) -> ShapeId {
        let old = &mut self.table[id.0 as usize];
        let shape = if old.pinned { old.copy_owned() } else { std::mem::take(old) };
        self.add(shape)
    }

    /// From now on the shape stays as it is, whatever becomes of its object.
    pub(crate) fn pin(&mut self, id: ShapeId) {
        self.table[id.0 as usize].pinned = true;
    }

    /// Frees every shape that `marked` does not name. Returns whether any was freed: ids may then be used again, so
    /// whatever remembered one must forget it.
    pub(crate) fn sweep(&mut self, marked: &[bool]) -> bool {
        let is_marked = |id: ShapeId| marked.get(id.0 as usize).copied().unwrap_or(false);
        let mut already_free = vec![false; self.table.len()];
        self.free.iter().for_each(|id| already_free[id.0 as usize] = true);
        let before = self.free.len();
        for (index, shape) in self.table.iter_mut().enumerate() {
            let id = ShapeId(index as u32);
            if is_marked(id) {
                shape.transitions.retain(|_, next| is_marked(*next));
            } else if !already_free[index] {
                *shape = Shape::default();
                self.free.push(id);
            }
        }
        self.roots.retain(|_, id| is_marked(*id));
        self.clones.retain(|_, id| is_marked(*id));
        self.free.len() > before
    }
}
