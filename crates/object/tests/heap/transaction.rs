//! Levels of a transaction: what is rolled back is exactly as it was, whatever was written, and however levels nest. The
//! persistent heap rests on this.

use crate::model::Models;
use crate::operation::{Operation, operations};
use crate::world::{FIRST, World, config};
use object::{Data, Heap, Kind, Replaced, Value};
use proptest::prelude::*;

/// Does them all, but drops nothing that was held before: only what is new may become garbage.
fn apply(world: &mut World, operations: &[Operation], kept: usize) {
    for operation in operations {
        if !matches!(operation, Operation::Drop(at) if FIRST + at % (world.held.len() - FIRST).max(1) < kept) {
            world.apply(operation);
        }
    }
}

fn check(world: &World, models: &Models) -> Result<(), TestCaseError> {
    for (&handle, model) in models {
        prop_assert_eq!(&world.read(handle), model, "{:?}", handle);
    }
    Ok(())
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn a_rollback_undoes_every_write(before in operations(60), after in operations(60)) {
        let mut world = World::new();
        world.heap.open_level();
        apply(&mut world, &before, 0);
        world.heap.keep_level();
        world.collect();
        let (models, bytes, kept) = (world.read_all(), world.heap.usage().bytes, world.held.len());
        world.heap.open_level();
        apply(&mut world, &after, kept);
        world.heap.roll_back_level();
        check(&world, &models)?;
        world.held.truncate(kept);
        world.collect();
        prop_assert_eq!(world.heap.object_count(), models.len());
        prop_assert_eq!(world.heap.usage().bytes, bytes);
    }

    /// An inner level that is kept goes when the outer one goes; one that is rolled back leaves the outer one's writes.
    #[test]
    fn levels_nest(
        first in operations(30), outer in operations(30), inner in operations(30), more in operations(30),
        is_inner_kept: bool,
    ) {
        let mut world = World::new();
        apply(&mut world, &first, 0);
        world.collect();
        let (at_start, start_kept) = (world.read_all(), world.held.len());
        world.heap.open_level();
        apply(&mut world, &outer, start_kept);
        world.collect();
        let (at_inner, inner_kept) = (world.read_all(), world.held.len());
        world.heap.open_level();
        apply(&mut world, &inner, inner_kept);
        if is_inner_kept {
            world.heap.keep_level();
        } else {
            world.heap.roll_back_level();
            check(&world, &at_inner)?;
            world.held.truncate(inner_kept);
        }
        apply(&mut world, &more, start_kept);
        world.heap.roll_back_level();
        check(&world, &at_start)?;
    }
}

proptest! {
    #![proptest_config(config())]

    /// Set aside, a level's writes are gone; laid on again where nothing else happened, they are as they were.
    #[test]
    fn writes_can_be_set_aside(before in operations(40), after in operations(40)) {
        let mut world = World::new();
        apply(&mut world, &before, 0);
        world.collect();
        let (models, kept) = (world.read_all(), world.held.len());
        world.heap.open_level();
        let writes: Vec<Operation> = after.into_iter().filter(|it| !matches!(it, Operation::Collect)).collect();
        apply(&mut world, &writes, kept);
        let written: Models = world.held[..kept].iter().map(|&handle| (handle, world.read(handle).in_any_order())).collect();
        let (overlay, _) = world.heap.lift_level();
        check(&world, &models)?;
        world.heap.lay_on(&overlay);
        for (&handle, model) in &written {
            prop_assert_eq!(&world.read(handle).in_any_order(), model, "{:?}", handle);
        }
    }
}

/// Stamps are few: whoever makes many levels must not mistake an old one for the present one.
#[test]
fn a_hundred_thousand_levels_are_told_apart() {
    let mut heap = Heap::new();
    let (counter, total) = (heap.allocate_bare(), heap.allocate_bare());
    let name = heap.intern("n");
    heap.set_slot(counter, name, Value::number(0.0));
    heap.set_slot(total, name, Value::number(0.0));
    heap.open_level();
    for round in 0..100_000 {
        heap.open_level();
        heap.set_slot(counter, name, Value::number(f64::from(round)));
        if round % 1000 == 0 {
            heap.set_slot(total, name, Value::number(f64::from(round)));
            heap.keep_level();
        } else {
            heap.set_slot(total, name, Value::TRUE);
            heap.roll_back_level();
        }
    }
    assert_eq!(heap.own_slot(counter, name), Some(Value::number(99_000.0)));
    assert_eq!(heap.own_slot(total, name), Some(Value::number(99_000.0)));
    heap.roll_back_level();
    assert_eq!(heap.own_slot(counter, name), Some(Value::number(0.0)));
}

/// A push to a long list must not cost a copy of it, nor a loop of pushes a note each.
#[test]
fn long_lists_are_noted_edit_by_edit() {
    let mut heap = Heap::new();
    let proto = heap.allocate_bare();
    let list = heap.clone_of(proto, Kind::List, Data::list((0..1000).map(|number| Value::number(f64::from(number)))));
    heap.open_level();
    for number in 0..1000 {
        heap.list_push(list, Value::number(f64::from(number)));
    }
    heap.list_remove(list, 0);
    let level = heap.level().expect("it is open");
    let (_, before) = level.befores().next().expect("the list was written to");
    let Replaced::Items(splices) = before.data() else { panic!("the list was copied") };
    assert_eq!(splices.len(), 2);
    heap.roll_back_level();
    assert_eq!(heap.list(list).map(<[Value]>::len), Some(1000));
}
