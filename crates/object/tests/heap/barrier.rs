//! The barrier suffices: what it is told is enough to bring every watched object back exactly, with no other means than
//! the heap's own writes. The persistent heap rests on this.

use crate::model::{Model, ModelData};
use crate::operation::{Operation, operations};
use crate::world::{FIRST, World, config, read};
use object::{Barrier, Handle, Heap, Object, Part, Shapes, Value, flag};
use proptest::prelude::*;
use std::cell::RefCell;
use std::rc::Rc;

struct Entry {
    handle: Handle,
    part: Part,
    /// The object before the write. Undo uses only what belongs to the part.
    before: Model,
}

#[derive(Clone, Default)]
struct UndoLog(Rc<RefCell<Vec<Entry>>>);

impl Barrier for UndoLog {
    fn before_write(&mut self, handle: Handle, object: &Object, shapes: &Shapes, part: Part) {
        self.0.borrow_mut().push(Entry { handle, part, before: read(object, shapes) });
    }

    fn trace(&self, visit: &mut dyn FnMut(Value)) {
        for Entry { before, .. } in self.0.borrow().iter() {
            before.protos.iter().for_each(|&proto| visit(Value::object(proto)));
            before.slots.iter().for_each(|&(name, _)| visit(Value::object(name)));
            before.values().into_iter().for_each(&mut *visit);
            if let ModelData::Weak(target) = before.data {
                visit(target);
            }
        }
    }
}

impl UndoLog {
    fn undo(self, heap: &mut Heap) {
        heap.set_barrier(None);
        for entry in self.0.take().into_iter().rev() {
            undo(heap, entry);
        }
    }
}

fn undo(heap: &mut Heap, Entry { handle, part, before }: Entry) {
    match part {
        Part::Slot(name) => heap.set_slot(handle, name, slot_of(&before, name)),
        Part::SlotAdded(name) => {
            heap.remove_slot(handle, name);
        }
        // The later slots have moved, and the order of slots is something that a program sees.
        Part::SlotRemoved(_) => set_slots(heap, handle, &before),
        Part::Protos => heap.set_protos(handle, before.protos),
        Part::Item(index) => undo_item(heap, handle, index, &before),
        Part::Key(_) | Part::Keys => {
            let ModelData::Entries(entries) = before.data else { return };
            heap.map_clear(handle);
            entries.into_iter().for_each(|(key, value)| heap.map_put(handle, key, value));
        }
        Part::Flags => heap.set_flag(handle, flag::ACTIVATABLE, before.is_activatable),
        Part::Items | Part::Bytes | Part::Data => heap.set_data(handle, before.kind, before.data.to_data(before.kind)),
        Part::Whole => {
            set_slots(heap, handle, &before);
            heap.set_protos(handle, before.protos.clone());
            heap.set_flag(handle, flag::ACTIVATABLE, before.is_activatable);
            heap.set_data(handle, before.kind, before.data.to_data(before.kind));
        }
    }
}

fn slot_of(model: &Model, name: Handle) -> Value {
    model.slots.iter().find(|(each, _)| *each == name).expect("the slot was there").1
}

fn set_slots(heap: &mut Heap, handle: Handle, model: &Model) {
    let present = heap.shapes().get(heap.shape(handle)).names.clone();
    for name in present {
        heap.remove_slot(handle, name);
    }
    for &(name, value) in &model.slots {
        heap.set_slot(handle, name, value);
    }
}

fn undo_item(heap: &mut Heap, handle: Handle, index: usize, before: &Model) {
    let ModelData::Values(values) = &before.data else { return };
    match heap.list(handle) {
        Some(_) => heap.list_set(handle, index, values[index]),
        None => heap.record_set(handle, index, values[index]),
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn what_the_barrier_tells_undoes_every_write(before in operations(60), after in operations(60)) {
        let mut world = World::new();
        before.iter().for_each(|operation| {
            world.apply(operation);
        });
        world.collect();
        let models = world.read_all();
        let kept = world.held.len();
        models.keys().for_each(|&handle| world.heap.set_flag(handle, flag::WATCHED, true));
        let log = UndoLog::default();
        world.heap.set_barrier(Some(Box::new(log.clone())));
        for operation in &after {
            // What was held before stays held: only what is new may become garbage.
            if !matches!(operation, Operation::Drop(at) if FIRST + at % (world.held.len() - FIRST).max(1) < kept) {
                world.apply(operation);
            }
        }
        log.undo(&mut world.heap);
        for (&handle, model) in &models {
            prop_assert_eq!(&world.read(handle), model, "{:?}", handle);
        }
        world.held.truncate(kept);
        world.collect();
        prop_assert_eq!(world.heap.object_count(), models.len());
    }

    /// The barrier sees each object as it was, also one whose shape belongs to it alone; and hears of nothing else.
    #[test]
    fn the_barrier_is_told_before_the_write(operations in operations(80)) {
        let mut world = World::new();
        let log = UndoLog::default();
        world.heap.set_barrier(Some(Box::new(log.clone())));
        world.heap.set_flag(world.held[1], flag::WATCHED, true);
        for operation in &operations {
            let before = world.read(world.held[1]);
            world.apply(operation);
            let after = world.read(world.held[1]);
            let entries = log.0.take();
            prop_assert!(entries.iter().all(|entry| entry.handle == world.held[1]));
            match entries.first() {
                Some(entry) => prop_assert_eq!(&entry.before, &before, "{:?}", operation),
                None => prop_assert_eq!(after, before, "{:?} was not reported", operation),
            }
        }
    }
}
