//! Collection frees exactly what is unreachable, and writes to nothing that lives.

use crate::operation::operations;
use crate::world::{World, config};
use object::{Data, Handle, Heap, INLINE_SLOTS, Kind, Object, Value};
use proptest::prelude::*;

/// All that a collection could have touched, places in memory included.
fn footprint(heap: &Heap, handle: Handle) -> (usize, u32, Vec<bool>, Vec<u64>, usize) {
    let object = heap.object(handle);
    let flags = (0..8).map(|bit| object.has(1 << bit)).collect();
    let count = heap.shapes().get(object.shape()).names.len().max(INLINE_SLOTS);
    let slots = (0..count).map(|index| object.slot(index).bits()).collect();
    let data = match object.data() {
        Data::List(items, _) => items.as_ptr().addr(),
        Data::Record(fields) => fields.as_ptr().addr(),
        Data::Sequence(sequence) => sequence.as_bytes().as_ptr().addr(),
        Data::Map(map) => std::ptr::from_ref(map.as_ref()).addr(),
        _ => 0,
    };
    (std::ptr::from_ref(object).addr(), object.shape().0, flags, slots, data)
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn bytes_are_exact_after_every_step(operations in operations(150)) {
        let mut world = World::new();
        for operation in &operations {
            world.apply(operation);
            let counted: usize = world.all.iter().map(|&handle| world.heap.object(handle).logical_bytes()).sum();
            prop_assert_eq!(world.heap.usage().bytes, counted, "after {:?}", operation);
            prop_assert_eq!(world.heap.object_count(), world.all.len());
        }
    }

    #[test]
    fn a_collection_frees_the_unreachable_and_touches_nothing_else(operations in operations(150)) {
        let mut world = World::new();
        operations.iter().for_each(|operation| {
            world.apply(operation);
        });
        let alive = world.reachable();
        let before: Vec<_> = alive.iter().map(|&handle| footprint(&world.heap, handle)).collect();
        let count = world.heap.object_count();
        let collected = world.collect();
        prop_assert_eq!(collected.freed_objects, count - alive.len());
        prop_assert_eq!(collected.live_objects, alive.len());
        let after: Vec<_> = alive.iter().map(|&handle| footprint(&world.heap, handle)).collect();
        prop_assert_eq!(before, after);
        prop_assert_eq!(world.collect().freed_objects, 0);
    }
}

fn collect(heap: &mut Heap, roots: &[Handle]) -> usize {
    heap.collect(|visit| roots.iter().for_each(|&root| visit(Value::object(root)))).freed_objects
}

#[test]
fn cycles_are_freed() {
    let mut heap = Heap::new();
    let name = heap.intern("next");
    let (left, right) = (heap.allocate_bare(), heap.allocate_bare());
    heap.set_slot(left, name, Value::object(right));
    heap.set_slot(right, name, Value::object(left));
    heap.set_protos(left, vec![right]);
    heap.set_protos(right, vec![left]);
    assert_eq!(collect(&mut heap, &[left]), 0);
    assert_eq!(collect(&mut heap, &[]), 3, "both and the name");
    assert_eq!(heap.shapes().len(), 2, "only the shape of nil, true and false is left, and that of what is not loaded");
}

#[test]
fn symbols_live_as_long_as_somebody_names_them() {
    let mut heap = Heap::new();
    let holder = heap.allocate_bare();
    let (kept, held) = (heap.intern("kept"), heap.intern("held"));
    heap.intern("forgotten");
    heap.set_slot(holder, kept, Value::object(held));
    assert_eq!(collect(&mut heap, &[holder]), 1);
    assert_eq!(heap.intern("kept"), kept);
    assert_eq!(heap.intern("held"), held);
    assert_eq!(heap.symbols().count(), 2);
}

/// A copy of a weak link used not to be counted as one, so that it was left pointing at a place that another object
/// had taken.
#[test]
fn every_weak_link_is_cleared_however_it_was_made() {
    let mut heap = Heap::new();
    let proto = heap.allocate_bare();
    let target = heap.allocate_bare();
    let link = heap.allocate_weak(proto, Value::object(target));
    let (copy, changed) = (heap.allocate_bare(), heap.allocate_bare());
    heap.become_copy_of(copy, link);
    heap.set_data(changed, Kind::WeakLink, Data::Weak(Value::object(target)));
    let strong = |heap: &Heap, link| matches!(heap.object(link).data(), Data::Weak(value) if !value.is_nil());
    assert_eq!(collect(&mut heap, &[proto, copy, changed, target]), 1);
    assert!(strong(&heap, copy) && strong(&heap, changed));
    assert_eq!(collect(&mut heap, &[proto, copy, changed]), 1);
    assert!(!strong(&heap, copy) && !strong(&heap, changed));
    assert_eq!(collect(&mut heap, &[]), 3);
}

#[test]
fn cloning_does_not_write_to_a_prototype() {
    let mut heap = Heap::new();
    let proto = heap.allocate_bare();
    let before = footprint(&heap, proto);
    heap.clone_of(proto, Kind::Object, Data::None);
    assert_eq!(footprint(&heap, proto).2, before.2);
}

#[test]
fn sizes_are_what_the_design_counts_on() {
    assert_eq!(size_of::<Object>(), 64);
    assert_eq!(size_of::<Data>(), 16);
    assert_eq!(size_of::<Value>(), 8);
    assert_eq!(size_of::<Handle>(), 4);
    assert_eq!(INLINE_SLOTS, 4);
}
