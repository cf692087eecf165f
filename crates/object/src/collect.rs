//! Collection: marks from the roots with a work list and a bitmap of its own, so that live objects are only read, and
//! frees what was not reached, cycles included. Objects never move.

use crate::handle_set::HandleSet;
use crate::heap::{COLLECT_MIN_BYTES, Heap};
use crate::object::{Data, INLINE_SLOTS, Object, flag};
use crate::transaction::Level;
use crate::value::{Handle, Value};

/// What one collection did.
#[derive(Clone, Copy, Debug, Default)]
pub struct Collected {
    pub freed_objects: usize,
    pub live_objects: usize,
    /// Shape ids may be used again: whoever remembered one must forget it.
    pub shapes_freed: bool,
}

struct Marker {
    marked: HandleSet,
    shapes: Vec<bool>,
    pending: Vec<Handle>,
    /// Weak links met on the way.
    weak: Vec<Handle>,
    /// Objects that are as the store has them, met before it is their turn. See `count`.
    deferred: Vec<Handle>,
}

impl Marker {
    #[inline(always)]
    fn visit(&mut self, value: Value) {
        if let Some(handle) = value.as_handle() {
            self.visit_handle(handle);
        }
    }

    #[inline(always)]
    fn visit_handle(&mut self, handle: Handle) {
        if self.marked.insert(handle) {
            self.pending.push(handle);
        }
    }
}

impl Heap {
    /// Whether enough was allocated since the last collection to make one worth while.
    #[inline(always)]
    pub fn collection_due(&self) -> bool {
        self.usage.fresh_bytes >= self.usage.collect_at_bytes
    }

    /// Frees every object that the roots do not reach.
    pub fn collect(&mut self, roots: impl FnOnce(&mut dyn FnMut(Value))) -> Collected {
        self.collect_beside(roots, |_| {})
    }

    /// The same with roots that are nothing but caches: what only they reach does not count against a limit.
    pub fn collect_beside(
        &mut self,
        roots: impl FnOnce(&mut dyn FnMut(Value)),
        caches: impl FnOnce(&mut dyn FnMut(Value)),
    ) -> Collected {
        self.settle();
        let mut marker = Marker {
            marked: HandleSet::with_room(self.objects.len()),
            shapes: vec![false; self.shapes.table_len()],
            pending: Vec::new(),
            weak: Vec::new(),
            deferred: Vec::new(),
        };
        for constant in [Value::NIL, Value::TRUE, Value::FALSE] {
            marker.visit(constant);
        }
        roots(&mut |value| marker.visit(value));
        self.mark_levels(&mut marker);
        if let Some(shape) = self.symbol_shape() {
            self.mark_shape(shape.0 as usize, &mut marker);
        }
        self.mark_shape(self.hollow.shape.0 as usize, &mut marker);
        if self.count.is_on {
            let dirty = self.dirty();
            self.mark(&mut marker, Some(&dirty));
            self.uncount_symbols(&marker.marked);
        }
        marker.pending.append(&mut marker.deferred);
        caches(&mut |value| marker.visit(value));
        self.reads.iter().for_each(|reads| reads.borrow().trace(&mut |value| marker.visit(value)));
        self.mark(&mut marker, None);
        let collected = self.sweep(&marker);
        self.usage.fresh_bytes = 0;
        self.usage.collect_at_bytes = COLLECT_MIN_BYTES.max(self.usage.bytes);
        self.usage.collections += 1;
        collected
    }

    /// Keeps what a transaction has written to, and what a rollback would bring back.
    fn mark_levels(&self, marker: &mut Marker) {
        for (handle, before) in self.levels.iter().flat_map(Level::befores) {
            marker.visit_handle(handle);
            self.mark_shape(before.shape.0 as usize, marker);
            before.trace(&mut |value| marker.visit(value));
        }
    }

    /// With `dirty`, stops at what is as the store has it.
    fn mark(&mut self, marker: &mut Marker, dirty: Option<&HandleSet>) {
        while let Some(handle) = marker.pending.pop() {
            if dirty.is_some_and(|dirty| !dirty.contains(handle) && self.is_kept(Value::object(handle))) {
                marker.deferred.push(handle);
                continue;
            }
            if self.mark_veiled(handle, marker) {
                continue;
            }
            let object = self.resident(handle);
            self.mark_slots(object, marker);
            match &object.data {
                Data::None | Data::Sequence(_) => {}
                // What the loader keeps may be held by something that is not here: it is not garbage.
                Data::Weak(target) if self.is_kept(*target) => marker.visit(*target),
                Data::Weak(_) => marker.weak.push(handle),
                data => data.trace(&mut |value| marker.visit(value)),
            }
        }
    }

    #[inline]
    fn mark_slots(&self, object: &Object, marker: &mut Marker) {
        self.mark_shape(object.shape.0 as usize, marker);
        let count = self.shapes.get(object.shape).names.len().min(INLINE_SLOTS);
        object.inline[..count].iter().for_each(|&value| marker.visit(value));
        object.more.iter().for_each(|&value| marker.visit(value));
    }

    /// What lies behind the veil. Its weak links hold what they lead to, which would not be found there to be cleared.
    fn mark_veiled(&self, handle: Handle, marker: &mut Marker) -> bool {
        let mark = |object: &Object| {
            self.mark_slots(object, marker);
            match &object.data {
                Data::None | Data::Sequence(_) => {}
                Data::Weak(target) => marker.visit(*target),
                data => data.trace(&mut |value| marker.visit(value)),
            }
        };
        self.veil.as_ref().is_some_and(|veil| veil.with(handle, mark).is_some())
    }

    pub(crate) fn is_kept(&self, value: Value) -> bool {
        let handle = value.as_handle();
        self.late.loader.as_ref().zip(handle).is_some_and(|(loader, handle)| loader.keeps(handle))
    }

    fn mark_shape(&self, index: usize, marker: &mut Marker) {
        if !std::mem::replace(&mut marker.shapes[index], true) {
            let shape = self.shapes.get(crate::shape::ShapeId(index as u32));
            shape.protos.iter().chain(&shape.names).for_each(|&handle| marker.visit_handle(handle));
        }
    }

    fn sweep(&mut self, marker: &Marker) -> Collected {
        self.sweep_symbols(|symbol| marker.marked.contains(symbol));
        self.clear_weak_links(marker);
        let mut free = HandleSet::with_room(self.objects.len());
        for &index in &self.free {
            free.insert(Handle(index));
        }
        let mut freed_objects = 0;
        for word in 0..self.objects.len().div_ceil(64) {
            let mut dead = !(marker.marked.word(word) | free.word(word));
            while dead != 0 {
                let index = word * 64 + dead.trailing_zeros() as usize;
                dead &= dead - 1;
                if index >= self.objects.len() {
                    break;
                }
                self.release(index);
                freed_objects += 1;
            }
        }
        // The lowest places are used first again, which keeps the heap dense.
        self.free.sort_unstable_by(|left, right| right.cmp(left));
        let shapes_freed = self.shapes.sweep(&marker.shapes);
        self.lookups.clear();
        Collected { freed_objects, live_objects: self.object_count(), shapes_freed }
    }

    fn release(&mut self, index: usize) {
        let object: &mut Object = &mut self.objects[index];
        let bytes = object.logical_bytes();
        let is_counted = self.count.is_on
            && self.levels.first().is_some_and(|level| match object.has(flag::SYMBOL) {
                true => object.has(flag::COUNTED),
                false => object.stamp >= level.stamp,
            });
        self.usage.bytes -= bytes;
        if !is_counted {
            self.usage.uncounted_bytes = self.usage.uncounted_bytes.saturating_sub(bytes);
        }
        object.data = Data::None;
        object.more = thin_vec::ThinVec::new();
        self.veil.iter_mut().for_each(|veil| veil.forget(Handle(index as u32)));
        self.cloned.remove(Handle(index as u32));
        if let Some(loader) = &self.late.loader {
            loader.released(Handle(index as u32));
        }
        self.free.push(index as u32);
    }

    fn clear_weak_links(&mut self, marker: &Marker) {
        for &link in &marker.weak {
            let data = &mut self.objects[link.0 as usize].data;
            if let Data::Weak(target) = data
                && target.as_handle().is_some_and(|handle| !marker.marked.contains(handle))
            {
                *data = Data::Weak(Value::NIL);
            }
        }
    }
}
