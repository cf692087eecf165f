//! Loading at first touch: objects that are taken out of memory at any moment come back when somebody looks, and nobody
//! can tell, be it a reader, a writer, a lookup, a collection or a rollback.

use crate::model::{Model, ModelData};
use crate::operation::{Operation, operations};
use crate::world::{World, config};
use object::change::{ActorId, ChangeId, ObjectId};
use object::sequence::Sequence;
use object::{Data, Handle, Heap, Kind, Loaded, Loader, Nest, Value, flag};
use proptest::prelude::*;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// What each object was when it was taken out.
#[derive(Clone, Default)]
struct Shelf(Rc<RefCell<BTreeMap<Handle, Kept>>>);

struct Kept {
    model: Model,
    /// Names as text: a symbol that nobody else holds is gone, and comes back with another handle.
    names: Vec<Sequence>,
}

impl Loader for Shelf {
    fn load(&self, handle: Handle, _id: Option<ObjectId>, nest: &mut dyn Nest) -> Result<Loaded, String> {
        let shelf = self.0.borrow();
        let Kept { model, names } = shelf.get(&handle).ok_or("it was never taken out")?;
        Ok(Loaded {
            kind: model.kind,
            is_activatable: model.is_activatable,
            protos: model.protos.iter().copied().collect(),
            names: names.iter().map(|name| nest.symbol(name.clone())).collect(),
            values: model.slots.iter().map(|&(_, value)| value).collect(),
            data: data(&model.data, model.kind),
        })
    }

    fn keeps(&self, handle: Handle) -> bool {
        self.0.borrow().contains_key(&handle)
    }

    fn released(&self, handle: Handle) {
        self.0.borrow_mut().remove(&handle);
    }
}

fn data(data: &ModelData, kind: Kind) -> Data {
    match data {
        ModelData::None => Data::None,
        ModelData::Number(bits) => Data::Number(f64::from_bits(*bits)),
        ModelData::Bytes(bytes) => Data::Sequence(Box::new(Sequence::from_bytes(bytes))),
        ModelData::Values(values) if kind == Kind::List => Data::list(values.iter().copied()),
        ModelData::Values(values) => Data::Record(values.iter().copied().collect()),
        ModelData::Entries(entries) => Data::Map(Box::new(entries.iter().copied().collect())),
        ModelData::Weak(target) => Data::Weak(*target),
        ModelData::Foreign(_) => unreachable!("what is foreign is not taken out"),
    }
}

/// Takes an object out, unless it is one that has to stay.
fn take_out(world: &mut World, shelf: &Shelf, at: usize) {
    let handle = world.handle(at);
    let model = world.read(handle);
    if world.heap.object(handle).has(flag::SYMBOL) || matches!(model.data, ModelData::Foreign(_)) {
        return;
    }
    let text = |&(name, _): &(Handle, Value)| world.heap.sequence(name).expect("a name is a text").clone();
    let names = model.slots.iter().map(text).collect();
    shelf.0.borrow_mut().insert(handle, Kept { model, names });
    world.heap.hollow_out(handle);
    world.heap.renew_epoch();
}

/// The shelf here knows objects by their handles, so none may be freed that it refers to.
fn keeps_all(operation: &Operation) -> bool {
    !matches!(operation, Operation::Drop(_) | Operation::Collect)
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn nobody_can_tell_that_an_object_was_away(
        steps in operations(80), taken in prop::collection::vec(prop::collection::vec(0..64usize, 0..4), 80),
    ) {
        let (mut plain, mut world, shelf) = (World::new(), World::new(), Shelf::default());
        world.heap.set_loader(Box::new(shelf.clone()));
        for (operation, taken) in steps.iter().filter(|step| keeps_all(step)).zip(&taken) {
            taken.iter().for_each(|&at| take_out(&mut world, &shelf, at));
            plain.apply(operation);
            world.apply(operation);
        }
        prop_assert_eq!(&world.held, &plain.held);
        for &handle in &world.held {
            prop_assert_eq!(world.read(handle), plain.read(handle), "{:?}", handle);
        }
        for (&handle, &name) in world.held.iter().zip(plain.names.iter().cycle()) {
            prop_assert_eq!(world.heap.get_slot(handle, name), plain.heap.get_slot(handle, name));
        }
        prop_assert!(!world.heap.has_failed());
    }

    /// Also what was away when a level was opened is rolled back.
    #[test]
    fn a_rollback_does_not_care_who_was_away(steps in operations(60), taken in prop::collection::vec(0..64usize, 0..20)) {
        let (mut world, shelf) = (World::new(), Shelf::default());
        world.heap.set_loader(Box::new(shelf.clone()));
        let (held, models) = (world.held.clone(), world.read_all());
        taken.iter().for_each(|&at| take_out(&mut world, &shelf, at));
        world.heap.open_level();
        for operation in steps.iter().filter(|step| keeps_all(step)) {
            world.apply(operation);
        }
        world.heap.roll_back_level();
        for handle in held {
            prop_assert_eq!(&world.read(handle), &models[&handle]);
        }
    }
}

#[test]
fn what_cannot_be_loaded_is_empty_and_remembered() {
    let mut heap = Heap::new();
    heap.set_loader(Box::new(Shelf::default()));
    let handle = heap.mint();
    assert!(heap.is_hollow(handle));
    assert_eq!(heap.object(handle).kind(), Kind::Object);
    assert_eq!(heap.take_failure().as_deref(), Some("it was never taken out"));
    assert!(!heap.has_failed());
}

/// A collection reads no object that is away, and tells when a handle is free again.
#[test]
fn a_collection_loads_nothing() {
    let (mut heap, shelf) = (Heap::new(), Shelf::default());
    let holder = heap.allocate_bare();
    let name = heap.intern("it");
    heap.set_loader(Box::new(shelf.clone()));
    let (held, loose) = (heap.mint(), heap.mint());
    heap.set_slot(holder, name, Value::object(held));
    let kept = || Kept { model: Model::nothing(), names: Vec::new() };
    shelf.0.borrow_mut().extend([(held, kept()), (loose, kept())]);
    heap.collect(|visit| visit(Value::object(holder)));
    assert!(heap.is_hollow(held) && shelf.keeps(held) && !shelf.keeps(loose));
    assert!(!heap.has_failed());
}

/// What a loader was told of objects that came in.
#[derive(Clone, Default)]
struct Told(Rc<RefCell<Vec<Option<ObjectId>>>>);

impl Loader for Told {
    fn load(&self, _handle: Handle, id: Option<ObjectId>, _nest: &mut dyn Nest) -> Result<Loaded, String> {
        self.0.borrow_mut().push(id);
        Ok(Loaded::default())
    }

    fn keeps(&self, _handle: Handle) -> bool {
        true
    }

    fn released(&self, _handle: Handle) {}
}

/// A hollow object carries its id until it is filled; from then on only the loader knows it.
#[test]
fn an_object_that_is_minted_in_a_nest_says_who_it_is() {
    let (mut heap, told) = (Heap::new(), Told::default());
    heap.set_loader(Box::new(told.clone()));
    let derived = ObjectId::from_bytes([0xFF; 16]);
    let ids = [ObjectId::minted(ChangeId::new(ActorId(7), 3)), derived];
    for id in ids {
        let handle = Nest::mint(&mut heap, id);
        assert!(heap.is_hollow(handle) && !heap.is_symbol(handle));
        heap.collect(|visit| visit(Value::object(handle)));
        heap.fill(handle);
        assert_eq!(heap.resident(handle).kind(), Kind::Object);
        heap.hollow_out(handle);
        heap.renew_epoch();
        assert_eq!(heap.object(handle).kind(), Kind::Object);
    }
    let expected: Vec<Option<ObjectId>> = ids.iter().flat_map(|&id| [Some(id), None]).collect();
    assert_eq!(*told.0.borrow(), expected);
}
