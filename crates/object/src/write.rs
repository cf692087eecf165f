//! Writing: the only code that changes an object. Owns the barrier that each write passes first.
//!
//! Fields are private to this crate and every mutation of a living object passes `Heap::barrier`, so there is no way
//! around it. It compares one number: an object that carries the stamp of the present level of the transaction, or any
//! object of a plain heap, which has no transaction, is written at once. See `transaction`.
//!
//! What is *not* noted is no state of a program, and a rollback leaves it alone:
//! - the set of objects that were cloned: one too many in it only makes caches look again;
//! - a weak link that the collector clears: nobody could have reached what it named (see `Before::trace`);
//! - the shape's number, the room that lists keep at their ends, the lookup cache and the epoch;
//! - `set_symbol_shape`, which gives the symbols made before there was a Sequence their proto, at birth of the heap.

use crate::before::Part;
use crate::heap::Heap;
use crate::items::Items;
use crate::object::{Data, Foreign, INLINE_SLOTS, Kind, Object, flag};
use crate::sequence::Sequence;
use crate::shape::ShapeId;
use crate::value::{Handle, Symbol, Value};
use thin_vec::ThinVec;

impl Heap {
    #[inline(always)]
    fn barrier(&mut self, handle: Handle, part: Part) -> &mut Object {
        if self.objects.get(handle.0 as usize).is_none_or(|object| object.stamp != self.stamp) {
            self.note(handle, part);
        }
        &mut self.objects[handle.0 as usize]
    }

    /// Overwrites a slot whose index is known for the object's present shape.
    #[inline(always)]
    pub fn set_slot_at(&mut self, handle: Handle, index: usize, value: Value) {
        self.barrier(handle, Part::Rest).set_slot(index, value);
    }

    /// Overwrites a slot of an object that has this shape, if its transaction need not hear of it. False if nothing was done.
    #[inline(always)]
    pub fn overwrite_slot(&mut self, handle: Handle, shape: ShapeId, index: usize, value: Value) -> bool {
        let Some(object) = self.objects.get_mut(handle.0 as usize) else { return false };
        let usual = object.shape == shape && object.stamp == self.stamp;
        if usual {
            object.set_slot(index, value);
        }
        usual
    }

    pub fn set_slot(&mut self, handle: Handle, name: Symbol, value: Value) {
        match self.own_slot_index(handle, name) {
            Some(index) => self.set_slot_at(handle, index, value),
            None => {
                // Before the shape: an owned one changes with its object.
                self.barrier(handle, Part::Rest);
                let next = self.shapes.with_slot(self.shape(handle), name);
                self.move_to(handle, next, value);
            }
        }
    }

    /// Adds a slot when the shared shape that results is known.
    #[inline]
    pub fn add_slot(&mut self, handle: Handle, next: ShapeId, value: Value) {
        debug_assert!(!self.shapes.get(next).owned);
        self.barrier(handle, Part::Rest);
        self.move_to(handle, next, value);
    }

    #[inline(always)]
    fn move_to(&mut self, handle: Handle, next: ShapeId, value: Value) {
        let index = self.shapes.get(next).names.len() - 1;
        let object = &mut self.objects[handle.0 as usize];
        object.shape = next;
        object.push_slot(index, value);
        if index >= INLINE_SLOTS {
            self.charge(8);
        }
        self.heirs_look_again(handle);
    }

    /// The shape that `shape` becomes when it gains a slot, if objects share both.
    pub fn shape_with_slot(&mut self, shape: ShapeId, name: Symbol) -> Option<ShapeId> {
        self.shapes.shared_with_slot(shape, name)
    }

    pub fn remove_slot(&mut self, handle: Handle, name: Symbol) -> Option<Value> {
        let index = self.own_slot_index(handle, name)?;
        self.barrier(handle, Part::Rest);
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
        for &proto in &protos {
            self.cloned.insert(proto);
        }
        self.barrier(handle, Part::Rest);
        let next = self.shapes.with_protos(self.shape(handle), protos);
        self.objects[handle.0 as usize].shape = next;
        self.heirs_look_again(handle);
    }

    /// What an object finds itself hangs on its shape; only what others find through it has to be looked up again.
    #[inline(always)]
    fn heirs_look_again(&mut self, handle: Handle) {
        if self.cloned.contains(handle) {
            self.epoch += 1;
        }
    }

    pub fn protos(&self, handle: Handle) -> &[Handle] {
        &self.shapes.get(self.shape(handle)).protos
    }

    pub fn set_flag(&mut self, handle: Handle, flag: u8, on: bool) {
        let object = self.barrier(handle, Part::Rest);
        object.flags = if on { object.flags | flag } else { object.flags & !flag };
    }

    pub fn list_set(&mut self, handle: Handle, index: usize, value: Value) {
        if let Data::List(values, start) =
            &mut self.barrier(handle, Part::Splice { index, removed: 1, inserted: 1 }).data
        {
            values[*start as usize + index] = value;
        }
    }

    #[inline]
    pub fn list_push(&mut self, handle: Handle, value: Value) {
        if let Data::List(values, _) = &mut self.barrier(handle, Part::Push(1)).data {
            values.push(value);
            self.charge(8);
        }
    }

    pub fn list_extend(&mut self, handle: Handle, values: &[Value]) {
        self.list_change(handle, Part::Push(values.len()), |items| items.extend(values.iter().copied()));
    }

    /// The index must be at most the length.
    pub fn list_insert(&mut self, handle: Handle, index: usize, value: Value) {
        let part = Part::Splice { index, removed: 0, inserted: 1 };
        self.list_change(handle, part, |items| items.insert(index, value));
    }

    /// The index must be within the list.
    pub fn list_remove(&mut self, handle: Handle, index: usize) -> Option<Value> {
        self.list_change(handle, Part::Splice { index, removed: 1, inserted: 0 }, |items| items.remove(index))
    }

    /// Changes a list in any way. For those above, a transaction need not copy the list.
    pub fn list_edit<R>(&mut self, handle: Handle, edit: impl FnOnce(&mut Items) -> R) -> Option<R> {
        self.list_change(handle, Part::Data, edit)
    }

    fn list_change<R>(&mut self, handle: Handle, part: Part, edit: impl FnOnce(&mut Items) -> R) -> Option<R> {
        let Data::List(values, start) = &mut self.barrier(handle, part).data else { return None };
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
        if let Data::Record(values) = &mut self.barrier(handle, Part::Rest).data {
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
        let Data::Map(map) = &mut self.barrier(handle, Part::KeyGone(key)).data else { return None };
        let removed = map.shift_remove(&key);
        if removed.is_some() {
            self.usage.bytes -= 32;
        }
        removed
    }

    pub fn map_clear(&mut self, handle: Handle) {
        if let Data::Map(map) = &mut self.barrier(handle, Part::Data).data {
            let before = map.len() * 32;
            map.clear();
            self.usage.bytes -= before;
        }
    }

    /// Changes a mutable sequence in any way. A symbol is never changed: the caller must have refused before.
    pub fn sequence_edit<R>(&mut self, handle: Handle, edit: impl FnOnce(&mut Sequence) -> R) -> Option<R> {
        let object = self.barrier(handle, Part::Rest);
        debug_assert!(!object.has(flag::SYMBOL));
        let Data::Sequence(sequence) = &mut object.data else { return None };
        let before = sequence.as_bytes().len();
        let result = edit(sequence);
        let after = sequence.as_bytes().len();
        self.recharge(before, after);
        Some(result)
    }

    /// Appends a sequence of at most so many bytes to a mutable one, if its transaction need not hear of it. False if nothing was done.
    #[inline]
    pub fn append_short(&mut self, handle: Handle, other: Handle, most_bytes: usize) -> bool {
        let places = [handle.0 as usize, other.0 as usize];
        let Ok([object, other]) = self.objects.get_disjoint_mut(places) else { return false };
        let (Data::Sequence(sequence), Data::Sequence(other)) = (&mut object.data, &other.data) else { return false };
        let usual = object.flags & flag::SYMBOL == 0 && object.stamp == self.stamp;
        let done = usual && sequence.append_short(other, most_bytes);
        if done {
            let bytes = other.size_in_bytes();
            self.usage.bytes += bytes;
            self.usage.fresh_bytes += bytes;
        }
        done
    }

    /// Changes a mutable sequence by what another one holds, copying that only if it is the same one.
    pub fn sequence_edit_with<R>(
        &mut self,
        handle: Handle,
        other: Handle,
        edit: impl FnOnce(&mut Sequence, &Sequence) -> R,
    ) -> Option<R> {
        debug_assert!(!self.object(handle).has(flag::SYMBOL));
        self.barrier(handle, Part::Rest);
        self.fill(other);
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

    /// Changes foreign data.
    pub fn foreign_edit<T: 'static, R>(&mut self, handle: Handle, edit: impl FnOnce(&mut T) -> R) -> Option<R> {
        let Data::Foreign(foreign) = &mut self.barrier(handle, Part::Data).data else { return None };
        let before = foreign.logical_bytes();
        let result = edit(foreign.as_any_mut().downcast_mut()?);
        let after = foreign.logical_bytes();
        self.recharge(before, after);
        Some(result)
    }

    pub fn allocate_foreign(&mut self, proto: Handle, kind: Kind, foreign: impl Foreign) -> Handle {
        self.clone_of(proto, kind, Data::Foreign(Box::new(Box::new(foreign))))
    }

    /// A new reference to `target` that does not keep it alive.
    pub fn allocate_weak(&mut self, proto: Handle, target: Value) -> Handle {
        self.clone_of(proto, Kind::WeakLink, Data::Weak(target))
    }

    /// Makes `handle`, which must be no symbol, what `other` is now, its identity kept. Foreign data stays behind.
    pub fn become_copy_of(&mut self, handle: Handle, other: Handle) {
        debug_assert!(!self.object(handle).has(flag::SYMBOL));
        self.barrier(handle, Part::Data);
        self.note_whole(other);
        let from = self.object(other);
        let data = from.data.copied();
        let (shape, kind, inline, more) = (from.shape, from.kind, from.inline, from.more.clone());
        let shape = self.shapes.unshared(shape);
        let flags = self.object(other).flags & flag::ACTIVATABLE;
        let object = &mut self.objects[handle.0 as usize];
        let before = object.logical_bytes();
        (object.shape, object.kind, object.inline, object.more, object.data) = (shape, kind, inline, more, data);
        object.flags = flags;
        let after = object.logical_bytes();
        self.recharge(before, after);
        self.epoch += 1;
    }
}
