//! Finding a slot: own slots first, then the protos depth first, each object once. Owns the cache of answers.

use crate::heap::Heap;
use crate::object::Place;
use crate::shape::ShapeId;
use crate::value::{Handle, Symbol, Value};
use rustc_hash::FxHashSet;

/// Remembered answers: a power of two.
const CACHE_ENTRIES: usize = 4096;
/// Objects seen on the way are scanned up to here, then hashed.
const SCANNED_MAX: usize = 16;

#[derive(Clone, Copy)]
struct Entry {
    shape: ShapeId,
    name: Symbol,
    epoch: u64,
    /// The index in `holder`, or in the object itself if `holder` is none; `NOT_FOUND` if nobody has it.
    index: u32,
    holder: Option<Handle>,
    steps: u32,
}

/// No object has so many slots.
const NOT_FOUND: u32 = u32::MAX;

/// Made when there is something to remember: a machine that is put onto another heap never looks into its first one.
#[derive(Default)]
pub struct LookupCache {
    entries: Vec<Entry>,
}

impl LookupCache {
    fn remember(&mut self, at: usize, entry: Entry) {
        if self.entries.is_empty() {
            let empty = Entry { shape: ShapeId(0), name: Handle(0), epoch: 0, index: 0, holder: None, steps: 0 };
            self.entries = vec![empty; CACHE_ENTRIES];
        }
        self.entries[at] = entry;
    }

    pub(crate) fn clear(&mut self) {
        self.entries.iter_mut().for_each(|entry| entry.epoch = 0);
    }
}

/// Objects already visited in one lookup.
#[derive(Default)]
struct Seen {
    few: Vec<Handle>,
    many: FxHashSet<Handle>,
}

impl Seen {
    fn insert(&mut self, handle: Handle) -> bool {
        if self.few.len() < SCANNED_MAX {
            let fresh = !self.few.contains(&handle);
            if fresh {
                self.few.push(handle);
            }
            return fresh;
        }
        if self.many.is_empty() {
            self.many.extend(self.few.iter().copied());
        }
        self.many.insert(handle)
    }
}

impl Heap {
    #[inline(always)]
    pub fn own_slot_index(&self, handle: Handle, name: Symbol) -> Option<usize> {
        if self.reads.is_some() {
            self.note_name(handle, name);
        }
        self.shapes.get(self.shape(handle)).find(name)
    }

    pub fn own_slot(&self, handle: Handle, name: Symbol) -> Option<Value> {
        self.own_slot_index(handle, name).map(|index| self.object(handle).slot(index))
    }

    /// Where the slot is that `handle` finds under this name.
    #[inline]
    pub fn find(&mut self, handle: Handle, name: Symbol) -> Option<Place> {
        self.find_counted(handle, name).0
    }

    /// The same, and how many objects a lookup that remembers nothing looks at: what it costs hangs on the heap alone.
    #[inline]
    pub fn find_counted(&mut self, handle: Handle, name: Symbol) -> (Option<Place>, u32) {
        let shape = self.resident(handle).shape;
        let hash = (shape.0.wrapping_mul(0x9E37_79B1) ^ name.0.wrapping_mul(0x85EB_CA6B)) as usize;
        let at = (hash ^ (hash >> 15)) & (CACHE_ENTRIES - 1);
        if let Some(entry) = self.lookups.entries.get(at)
            && (entry.shape, entry.name, entry.epoch) == (shape, name, self.epoch)
        {
            let place = Place { holder: entry.holder.unwrap_or(handle), index: entry.index };
            return ((entry.index != NOT_FOUND).then_some(place), entry.steps);
        }
        let (place, steps) = self.find_uncached(handle, name);
        self.settle();
        let entry = Entry {
            shape: self.shape(handle),
            name,
            epoch: self.epoch,
            index: place.map_or(NOT_FOUND, |place| place.index),
            holder: place.map(|place| place.holder).filter(|&holder| holder != handle),
            steps,
        };
        self.lookups.remember(at, entry);
        (place, steps)
    }

    fn find_uncached(&self, handle: Handle, name: Symbol) -> (Option<Place>, u32) {
        if let Some(index) = self.own_slot_index(handle, name) {
            return (Some(Place { holder: handle, index: index as u32 }), 1);
        }
        let mut steps = 0;
        let mut seen = Seen::default();
        let mut pending = vec![handle];
        while let Some(next) = pending.pop() {
            if !seen.insert(next) {
                continue;
            }
            steps += 1;
            if self.reads.is_some() {
                self.note_name(next, name);
            }
            let shape = self.shapes.get(self.shape(next));
            if let Some(index) = shape.find(name) {
                return (Some(Place { holder: next, index: index as u32 }), steps);
            }
            pending.extend(shape.protos.iter().rev());
        }
        (None, steps)
    }

    #[inline(always)]
    pub fn value_at(&self, place: Place) -> Value {
        self.object(place.holder).slot(place.index as usize)
    }

    /// The value of the slot that `handle` finds under this name.
    pub fn get_slot(&mut self, handle: Handle, name: Symbol) -> Option<Value> {
        self.find(handle, name).map(|place| self.value_at(place))
    }

    /// Every object in the order in which a lookup that starts at `handle` would visit them.
    pub fn lineage(&self, handle: Handle) -> Vec<Handle> {
        let mut seen = Seen::default();
        let mut pending = vec![handle];
        let mut lineage = Vec::new();
        while let Some(next) = pending.pop() {
            if seen.insert(next) {
                lineage.push(next);
                pending.extend(self.protos(next).iter().rev());
            }
        }
        lineage
    }

    /// Whether `proto` is `handle` itself or among the objects it inherits from.
    pub fn is_kind_of(&self, handle: Handle, proto: Handle) -> bool {
        self.is_kind_of_counted(handle, proto).0
    }

    /// The same, and how many objects it looked at.
    pub fn is_kind_of_counted(&self, handle: Handle, proto: Handle) -> (bool, u32) {
        let mut steps = 0;
        let mut seen = Seen::default();
        let mut pending = vec![handle];
        while let Some(next) = pending.pop() {
            if next == proto {
                return (true, steps);
            }
            if seen.insert(next) {
                steps += 1;
                pending.extend(self.protos(next).iter().rev());
            }
        }
        (false, steps)
    }
}
