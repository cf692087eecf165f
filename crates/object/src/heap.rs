//! The heap: every object of one image, and the only way to change one. Owns allocation, the write barrier and the
//! count of logical bytes; collection is in `collect`, lookup in `lookup`.
//!
//! Fields are private to this crate and every mutation passes `Heap::barrier`, so there is no way around it. A plain
//! heap has no barrier installed and no object flagged: the test of one flag is all it pays.

use crate::items::Items;
use crate::lookup::LookupCache;
use crate::object::{Data, Foreign, INLINE_SLOTS, Kind, Map, Object, flag};
use crate::sequence::Sequence;
use crate::shape::{ShapeId, Shapes};
use crate::symbol::SymbolTable;
use crate::value::{Handle, Symbol, Value};
use thin_vec::ThinVec;

/// Which part of an object is about to change.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    /// The value of one slot that is there.
    Slot(Symbol),
    /// Which slots there are.
    SlotAdded(Symbol),
    SlotRemoved(Symbol),
    Protos,
    /// One item of a list, or one field of a record.
    Item(usize),
    /// Any number of items of a list.
    Items,
    /// One key of a map.
    Key(Symbol),
    /// All keys of a map.
    Keys,
    /// The bytes of a sequence.
    Bytes,
    Flags,
    /// The whole data.
    Data,
}

/// Told of each write to a watched object before it happens, with the object still as it was. A transaction keeps
/// what it needs for undo and redo.
pub trait Barrier {
    fn before_write(&mut self, handle: Handle, object: &Object, shapes: &Shapes, part: Part);
}

pub struct Heap {
    pub(crate) objects: Vec<Object>,
    pub(crate) free: Vec<u32>,
    pub(crate) shapes: Shapes,
    pub(crate) symbols: SymbolTable,
    pub(crate) lookups: LookupCache,
    pub(crate) epoch: u32,
    pub(crate) usage: Usage,
    pub(crate) weak_links: usize,
    barrier: Option<Box<dyn Barrier>>,
}

/// Logical bytes: what objects count for, whatever the allocator does.
#[derive(Clone, Copy, Debug, Default)]
pub struct Usage {
    /// In use, garbage included until it is collected.
    pub bytes: usize,
    /// Allocated since the last collection.
    pub fresh_bytes: usize,
    /// `fresh_bytes` at which the next collection is due.
    pub collect_at_bytes: usize,
    pub collections: usize,
}

/// Less garbage than this is not worth a collection.
pub(crate) const COLLECT_MIN_BYTES: usize = 16 << 20;

impl Default for Heap {
    fn default() -> Heap {
        Heap::new()
    }
}

impl Heap {
    pub fn new() -> Heap {
        let mut heap = Heap {
            objects: Vec::new(),
            free: Vec::new(),
            shapes: Shapes::default(),
            symbols: SymbolTable::default(),
            lookups: LookupCache::default(),
            epoch: 1,
            usage: Usage { collect_at_bytes: COLLECT_MIN_BYTES, ..Usage::default() },
            weak_links: 0,
            barrier: None,
        };
        let bare = heap.shapes.root(Vec::new());
        for _ in [Value::NIL, Value::TRUE, Value::FALSE] {
            heap.allocate(bare, Kind::Object, Data::None);
        }
        heap
    }

    pub fn set_barrier(&mut self, barrier: Option<Box<dyn Barrier>>) {
        self.barrier = barrier;
    }

    // ---- allocation

    #[inline]
    pub fn allocate(&mut self, shape: ShapeId, kind: Kind, data: Data) -> Handle {
        let bytes = size_of::<Object>() + data.logical_bytes();
        self.charge(bytes);
        let object =
            Object { shape, kind, flags: 0, inline: [Value::ABSENT; INLINE_SLOTS], more: ThinVec::new(), data };
        match self.free.pop() {
            Some(index) => {
                self.objects[index as usize] = object;
                Handle(index)
            }
            None => {
                self.objects.push(object);
                Handle(self.objects.len() as u32 - 1)
            }
        }
    }

    /// A new object without protos.
    pub fn allocate_bare(&mut self) -> Handle {
        let shape = self.shapes.root(Vec::new());
        self.allocate(shape, Kind::Object, Data::None)
    }

    /// A new object with `proto` as its one proto.
    #[inline]
    pub fn clone_of(&mut self, proto: Handle, kind: Kind, data: Data) -> Handle {
        let shape = self.clone_shape(proto);
        self.allocate(shape, kind, data)
    }

    /// The shape of a fresh clone of `proto`.
    #[inline]
    pub fn clone_shape(&mut self, proto: Handle) -> ShapeId {
        self.objects[proto.0 as usize].flags |= flag::PROTO;
        self.shapes.clone_of(proto)
    }

    #[inline(always)]
    pub(crate) fn charge(&mut self, bytes: usize) {
        self.usage.bytes += bytes;
        self.usage.fresh_bytes += bytes;
    }

    fn recharge(&mut self, before: usize, after: usize) {
        if after >= before {
            self.charge(after - before);
        } else {
            self.usage.bytes -= before - after;
        }
    }

    #[inline(always)]
    pub fn usage(&self) -> &Usage {
        &self.usage
    }

    // ---- reading

    #[inline(always)]
    pub fn object(&self, handle: Handle) -> &Object {
        &self.objects[handle.0 as usize]
    }

    #[inline(always)]
    pub fn kind(&self, handle: Handle) -> Kind {
        self.object(handle).kind
    }

    #[inline(always)]
    pub fn shape(&self, handle: Handle) -> ShapeId {
        self.object(handle).shape
    }

    #[inline(always)]
    pub fn shapes(&self) -> &Shapes {
        &self.shapes
    }

    /// Changes whenever some proto's slots or protos did: what was found through protos must be looked up again.
    #[inline(always)]
    pub fn epoch(&self) -> u32 {
        self.epoch
    }

    /// Makes everybody look again who remembers the epoch.
    pub fn renew_epoch(&mut self) {
        self.epoch += 1;
    }

    pub fn sequence(&self, handle: Handle) -> Option<&Sequence> {
        match &self.object(handle).data {
            Data::Sequence(sequence) => Some(sequence),
            _ => None,
        }
    }

    #[inline(always)]
    pub fn list(&self, handle: Handle) -> Option<&[Value]> {
        match &self.object(handle).data {
            Data::List(values, start) => Some(&values[*start as usize..]),
            _ => None,
        }
    }

    #[inline(always)]
    pub fn record(&self, handle: Handle) -> &[Value] {
        match &self.object(handle).data {
            Data::Record(values) => values,
            _ => &[],
        }
    }

    #[inline(always)]
    pub fn map(&self, handle: Handle) -> Option<&Map> {
        match &self.object(handle).data {
            Data::Map(map) => Some(map),
            _ => None,
        }
    }

    pub fn foreign<T: 'static>(&self, handle: Handle) -> Option<&T> {
        match &self.object(handle).data {
            Data::Foreign(foreign) => foreign.as_any().downcast_ref(),
            _ => None,
        }
    }

    /// How many objects are alive or not yet collected.
    pub fn object_count(&self) -> usize {
        self.objects.len() - self.free.len()
    }

    // ---- writing: each passes the barrier

    #[inline(always)]
    fn barrier(&mut self, handle: Handle, part: Part) -> &mut Object {
        if self.objects[handle.0 as usize].flags & flag::WATCHED != 0 {
            self.report(handle, part);
        }
        &mut self.objects[handle.0 as usize]
    }

    #[cold]
    #[inline(never)]
    fn report(&mut self, handle: Handle, part: Part) {
        if let Some(barrier) = &mut self.barrier {
            barrier.before_write(handle, &self.objects[handle.0 as usize], &self.shapes, part);
        }
    }

    /// Overwrites a slot whose index is known for the object's present shape.
    #[inline(always)]
    pub fn set_slot_at(&mut self, handle: Handle, index: usize, name: Symbol, value: Value) {
        self.barrier(handle, Part::Slot(name)).set_slot(index, value);
    }

    pub fn set_slot(&mut self, handle: Handle, name: Symbol, value: Value) {
        match self.own_slot_index(handle, name) {
            Some(index) => self.set_slot_at(handle, index, name, value),
            None => {
                let next = self.shapes.with_slot(self.shape(handle), name);
                self.add_slot(handle, next, name, value);
            }
        }
    }

    /// Adds a slot when the shape that results is known.
    #[inline]
    pub fn add_slot(&mut self, handle: Handle, next: ShapeId, name: Symbol, value: Value) {
        let index = self.shapes.get(next).names.len() - 1;
        let object = self.barrier(handle, Part::SlotAdded(name));
        object.shape = next;
        object.push_slot(index, value);
        let is_proto = object.flags & flag::PROTO != 0;
        if index >= INLINE_SLOTS {
            self.charge(8);
        }
        if is_proto {
            self.epoch += 1;
        }
    }

    /// The shape that `shape` becomes when it gains a slot.
    pub fn shape_with_slot(&mut self, shape: ShapeId, name: Symbol) -> ShapeId {
        self.shapes.with_slot(shape, name)
    }

    pub fn remove_slot(&mut self, handle: Handle, name: Symbol) -> Option<Value> {
        let index = self.own_slot_index(handle, name)?;
        self.barrier(handle, Part::SlotRemoved(name));
        let shape = self.shape(handle);
        let count = self.shapes.get(shape).names.len();
        let next = self.shapes.without_slot(shape, index);
        let object = &mut self.objects[handle.0 as usize];
        object.shape = next;
        let removed = object.remove_slot(index, count);
        if count > INLINE_SLOTS {
            self.usage.bytes -= 8;
        }
        self.heirs_look_again(handle);
        Some(removed)
    }

    pub fn set_protos(&mut self, handle: Handle, protos: Vec<Handle>) {
        for proto in &protos {
            self.objects[proto.0 as usize].flags |= flag::PROTO;
        }
        self.barrier(handle, Part::Protos);
        let next = self.shapes.with_protos(self.shape(handle), protos);
        self.objects[handle.0 as usize].shape = next;
        self.heirs_look_again(handle);
    }

    /// What an object finds itself hangs on its shape; only what others find through it has to be looked up again.
    fn heirs_look_again(&mut self, handle: Handle) {
        if self.object(handle).has(flag::PROTO) {
            self.epoch += 1;
        }
    }

    pub fn protos(&self, handle: Handle) -> &[Handle] {
        &self.shapes.get(self.shape(handle)).protos
    }

    pub fn set_flag(&mut self, handle: Handle, flag: u8, on: bool) {
        let object = self.barrier(handle, Part::Flags);
        object.flags = if on { object.flags | flag } else { object.flags & !flag };
    }

    pub fn list_set(&mut self, handle: Handle, index: usize, value: Value) {
        if let Data::List(values, start) = &mut self.barrier(handle, Part::Item(index)).data {
            values[*start as usize + index] = value;
        }
    }

    #[inline]
    pub fn list_push(&mut self, handle: Handle, value: Value) {
        if let Data::List(values, _) = &mut self.barrier(handle, Part::Items).data {
            values.push(value);
            self.charge(8);
        }
    }

    /// Changes a list in any way.
    pub fn list_edit<R>(&mut self, handle: Handle, edit: impl FnOnce(&mut Items) -> R) -> Option<R> {
        let Data::List(values, start) = &mut self.barrier(handle, Part::Items).data else { return None };
        let mut items = Items { values: std::mem::take(values), start: *start };
        let before = items.len();
        let result = edit(&mut items);
        let after = items.len();
        (*values, *start) = (items.values, items.start);
        self.recharge(before * 8, after * 8);
        Some(result)
    }

    #[inline]
    pub fn record_set(&mut self, handle: Handle, index: usize, value: Value) {
        if let Data::Record(values) = &mut self.barrier(handle, Part::Item(index)).data {
            values[index] = value;
        }
    }

    /// Changes a record in any way.
    pub fn record_edit<R>(&mut self, handle: Handle, edit: impl FnOnce(&mut ThinVec<Value>) -> R) -> Option<R> {
        let Data::Record(values) = &mut self.barrier(handle, Part::Data).data else { return None };
        let before = values.len();
        let result = edit(values);
        let after = values.len();
        self.recharge(before * 8, after * 8);
        Some(result)
    }

    pub fn map_put(&mut self, handle: Handle, key: Symbol, value: Value) {
        if let Data::Map(map) = &mut self.barrier(handle, Part::Key(key)).data
            && map.insert(key, value).is_none()
        {
            self.charge(32);
        }
    }

    pub fn map_remove(&mut self, handle: Handle, key: Symbol) -> Option<Value> {
        let Data::Map(map) = &mut self.barrier(handle, Part::Key(key)).data else { return None };
        let removed = map.shift_remove(&key);
        if removed.is_some() {
            self.usage.bytes -= 32;
        }
        removed
    }

    pub fn map_clear(&mut self, handle: Handle) {
        if let Data::Map(map) = &mut self.barrier(handle, Part::Keys).data {
            let before = map.len() * 32;
            map.clear();
            self.usage.bytes -= before;
        }
    }

    /// Changes a mutable sequence in any way. A symbol is never changed: the caller must have refused before.
    pub fn sequence_edit<R>(&mut self, handle: Handle, edit: impl FnOnce(&mut Sequence) -> R) -> Option<R> {
        let object = self.barrier(handle, Part::Bytes);
        debug_assert!(!object.has(flag::SYMBOL));
        let Data::Sequence(sequence) = &mut object.data else { return None };
        let before = sequence.as_bytes().len();
        let result = edit(sequence);
        let after = sequence.as_bytes().len();
        self.recharge(before, after);
        Some(result)
    }

    /// Changes a mutable sequence by what another one holds, copying that only if it is the same one.
    pub fn sequence_edit_with<R>(
        &mut self,
        handle: Handle,
        other: Handle,
        edit: impl FnOnce(&mut Sequence, &Sequence) -> R,
    ) -> Option<R> {
        debug_assert!(!self.object(handle).has(flag::SYMBOL));
        self.barrier(handle, Part::Bytes);
        let Ok([object, other]) = self.objects.get_disjoint_mut([handle.0 as usize, other.0 as usize]) else {
            let copy = self.sequence(other)?.clone();
            return self.sequence_edit(handle, |sequence| edit(sequence, &copy));
        };
        let (Data::Sequence(sequence), Data::Sequence(other)) = (&mut object.data, &other.data) else { return None };
        let before = sequence.as_bytes().len();
        let result = edit(sequence, other);
        let after = sequence.as_bytes().len();
        self.recharge(before, after);
        Some(result)
    }

    pub fn set_data(&mut self, handle: Handle, kind: Kind, data: Data) {
        let object = self.barrier(handle, Part::Data);
        let before = object.data.logical_bytes();
        let after = data.logical_bytes();
        object.kind = kind;
        object.data = data;
        self.recharge(before, after);
    }

    /// The foreign data for use; what it does to itself is its own affair.
    pub fn foreign_mut<T: 'static>(&mut self, handle: Handle) -> Option<&mut T> {
        match &mut self.barrier(handle, Part::Data).data {
            Data::Foreign(foreign) => foreign.as_any_mut().downcast_mut(),
            _ => None,
        }
    }

    pub fn allocate_foreign(&mut self, proto: Handle, kind: Kind, foreign: impl Foreign) -> Handle {
        self.clone_of(proto, kind, Data::Foreign(Box::new(Box::new(foreign))))
    }

    /// A new reference to `target` that does not keep it alive.
    pub fn allocate_weak(&mut self, proto: Handle, target: Value) -> Handle {
        self.weak_links += 1;
        self.clone_of(proto, Kind::WeakLink, Data::Weak(target))
    }

    /// Makes `handle` be what `other` is now, its identity kept.
    pub fn become_copy_of(&mut self, handle: Handle, other: Handle) {
        self.barrier(handle, Part::Data);
        let from = self.object(other);
        let data = match &from.data {
            Data::None => Data::None,
            Data::Number(number) => Data::Number(*number),
            Data::Sequence(sequence) => Data::Sequence(sequence.clone()),
            Data::List(values, start) => Data::List(values.clone(), *start),
            Data::Map(map) => Data::Map(map.clone()),
            Data::Record(values) => Data::Record(values.clone()),
            Data::Primitive(index) => Data::Primitive(*index),
            Data::Weak(value) => Data::Weak(*value),
            Data::Foreign(_) => Data::None,
        };
        let (shape, kind, inline, more) = (from.shape, from.kind, from.inline, from.more.clone());
        let shape = self.shapes.unshared(shape);
        let flags = self.object(other).flags & !(flag::PROTO | flag::WATCHED | flag::SYMBOL | flag::COMPILED);
        let object = &mut self.objects[handle.0 as usize];
        let kept = object.flags & (flag::PROTO | flag::WATCHED);
        let before = object.logical_bytes();
        (object.shape, object.kind, object.inline, object.more, object.data) = (shape, kind, inline, more, data);
        object.flags = flags | kept;
        let after = object.logical_bytes();
        self.recharge(before, after);
        self.epoch += 1;
    }
}
