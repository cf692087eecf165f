//! What the heap should do, said as simply as possible, and the test that it does.

use crate::operation::{Operation, operations};
use crate::world::World;
use object::{Handle, Kind, Symbol, Value};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// One object, in the plainest words.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    pub kind: Kind,
    pub slots: Vec<(Symbol, Value)>,
    pub protos: Vec<Handle>,
    pub is_activatable: bool,
    pub data: ModelData,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ModelData {
    None,
    Number(u64),
    Bytes(Vec<u8>),
    Values(Vec<Value>),
    Entries(Vec<(Symbol, Value)>),
    Weak(Value),
    Foreign(Vec<Value>),
}

impl Model {
    /// Where the order of slots and keys does not count.
    pub fn in_any_order(mut self) -> Model {
        self.slots.sort_by_key(|(name, _)| *name);
        if let ModelData::Entries(entries) = &mut self.data {
            entries.sort_by_key(|(key, _)| *key);
        }
        self
    }

    pub fn nothing() -> Model {
        Model { kind: Kind::Object, slots: vec![], protos: vec![], is_activatable: false, data: ModelData::None }
    }
}

pub type Models = BTreeMap<Handle, Model>;

/// Own slots, then protos depth first, each object once: by recursion, without any cache.
fn find(models: &Models, handle: Handle, name: Symbol, seen: &mut Vec<Handle>) -> Option<(Handle, Value)> {
    if seen.contains(&handle) {
        return None;
    }
    seen.push(handle);
    let model = &models[&handle];
    let own = model.slots.iter().find(|(each, _)| *each == name).map(|&(_, value)| (handle, value));
    own.or_else(|| model.protos.iter().find_map(|&proto| find(models, proto, name, seen)))
}

/// What a write does to the model.
pub fn apply(models: &mut Models, world: &World, operation: &Operation) {
    use Operation::*;
    let value = |at: usize| world.value(at);
    match operation {
        Clone(_) | NewList | NewMap | NewSequence | NewRecord | NewWeak(_) | NewForeign(_) => {
            // What is new is taken as the heap made it: it is looked at, in full, from the next write on.
            let handle = world.newest();
            models.insert(handle, world.read(handle));
        }
        SetSlot(at, name, of) => put(&mut on(models, world, *at).slots, world.names[*name], value(*of)),
        FillSlots(at) => {
            for &name in &world.names {
                put(&mut on(models, world, *at).slots, name, Value::TRUE);
            }
        }
        RemoveSlot(at, name) => on(models, world, *at).slots.retain(|(each, _)| *each != world.names[*name]),
        SetProtos(at, of) => on(models, world, *at).protos = of.iter().map(|&each| world.handle(each)).collect(),
        SetFlag(at, is) => on(models, world, *at).is_activatable = *is,
        Become(at, of) => {
            let (handle, other) = (world.handle(*at), world.handle(*of));
            let mut model = models[&other].clone();
            if matches!(model.data, ModelData::Foreign(_)) {
                model.data = ModelData::None;
            }
            models.insert(handle, model);
        }
        ListPush(at, of) => edit(models, world, *at, Kind::List, |values| values.push(value(*of))),
        ListSet(at, index, of) => edit(models, world, *at, Kind::List, |values| {
            if !values.is_empty() {
                let length = values.len();
                values[index % length] = value(*of);
            }
        }),
        ListInsertFirst(at, of) => edit(models, world, *at, Kind::List, |values| values.insert(0, value(*of))),
        ListInsert(at, index, of) => edit(models, world, *at, Kind::List, |values| {
            values.insert(index % (values.len() + 1), value(*of));
        }),
        ListRemove(at, index) => edit(models, world, *at, Kind::List, |values| {
            if !values.is_empty() {
                values.remove(index % values.len());
            }
        }),
        ListFill(at) => edit(models, world, *at, Kind::List, |values| values.extend((0..100).map(value))),
        ListReverse(at) => edit(models, world, *at, Kind::List, |values| values.reverse()),
        ListClear(at) => edit(models, world, *at, Kind::List, Vec::clear),
        RecordSet(at, index, of) => edit(models, world, *at, Kind::Call, |values| {
            let length = values.len();
            values[index % length] = value(*of);
        }),
        RecordPush(at, of) => edit(models, world, *at, Kind::Call, |values| values.push(value(*of))),
        ForeignPush(at, of) => {
            if let ModelData::Foreign(values) = &mut on(models, world, *at).data {
                values.push(value(*of));
            }
        }
        MapPut(at, name, of) => {
            if let ModelData::Entries(entries) = &mut on(models, world, *at).data {
                put(entries, world.names[*name], value(*of));
            }
        }
        MapRemove(at, name) => {
            if let ModelData::Entries(entries) = &mut on(models, world, *at).data {
                entries.retain(|(each, _)| *each != world.names[*name]);
            }
        }
        MapFill(at) => {
            if let ModelData::Entries(entries) = &mut on(models, world, *at).data {
                world.names.iter().for_each(|&name| put(entries, name, Value::TRUE));
            }
        }
        MapClear(at) => {
            if let ModelData::Entries(entries) = &mut on(models, world, *at).data {
                entries.clear();
            }
        }
        Append(at, byte) => {
            if let ModelData::Bytes(bytes) = &mut on(models, world, *at).data {
                bytes.push(*byte);
            }
        }
        AppendOther(at, of) => {
            let ModelData::Bytes(more) = models[&world.handle(*of)].data.clone() else { return };
            if let ModelData::Bytes(bytes) = &mut on(models, world, *at).data {
                bytes.extend(more);
            }
        }
        SetWeak(at, of) => {
            let model = on(models, world, *at);
            if model.kind == Kind::WeakLink {
                model.data = ModelData::Weak(value(*of));
            }
        }
        SetNumber(at, number) => {
            let model = on(models, world, *at);
            if model.kind == Kind::Object && model.data == ModelData::None || model.kind == Kind::Number {
                (model.kind, model.data) = (Kind::Number, ModelData::Number(f64::from(*number).to_bits()));
            }
        }
        Drop(_) | Collect => {}
    }
}

fn on<'m>(models: &'m mut Models, world: &World, at: usize) -> &'m mut Model {
    models.get_mut(&world.handle(at)).expect("every held object has a model")
}

fn put(entries: &mut Vec<(Symbol, Value)>, name: Symbol, value: Value) {
    match entries.iter_mut().find(|(each, _)| *each == name) {
        Some(entry) => entry.1 = value,
        None => entries.push((name, value)),
    }
}

fn edit(models: &mut Models, world: &World, at: usize, kind: Kind, edit: impl FnOnce(&mut Vec<Value>)) {
    let model = on(models, world, at);
    if let (true, ModelData::Values(values)) = (model.kind == kind, &mut model.data) {
        edit(values);
    }
}

proptest! {
    #![proptest_config(crate::world::config())]

    #[test]
    fn the_heap_does_what_the_model_does(operations in operations(120)) {
        let mut world = World::new();
        let mut models = world.read_all();
        for operation in &operations {
            world.apply(operation);
            apply(&mut models, &world, operation);
            let alive = world.reachable();
            models.retain(|handle, _| alive.contains(handle));
            crate::world::clear_weak(&mut models, &world, operation);
            for (&handle, model) in &models {
                prop_assert_eq!(&world.read(handle), model, "{:?} after {:?}", handle, operation);
            }
            for (&handle, &name) in models.keys().zip(world.names.clone().iter().cycle()) {
                let wanted = find(&models, handle, name, &mut Vec::new());
                let found = world.heap.find(handle, name);
                prop_assert_eq!(found.map(|place| (place.holder, world.heap.value_at(place))), wanted);
                let again = world.heap.find(handle, name);
                prop_assert_eq!(found, again);
            }
        }
    }

    /// A remembered (shape, index) is right for whatever object has that shape, until a collection frees shapes.
    #[test]
    fn a_shape_always_means_the_same_names(operations in operations(200)) {
        let mut world = World::new();
        let mut known: BTreeMap<u32, (Vec<Symbol>, Vec<Handle>)> = BTreeMap::new();
        for operation in &operations {
            if world.apply(operation).is_some_and(|collected| collected.shapes_freed) {
                known.clear();
            }
            for handle in world.reachable() {
                let id = world.heap.shape(handle);
                let shape = world.heap.shapes().get(id);
                let entry = (shape.names.clone(), shape.protos.clone());
                prop_assert_eq!(known.entry(id.0).or_insert_with(|| entry.clone()), &entry);
                for (index, &name) in shape.names.iter().enumerate() {
                    prop_assert_eq!(shape.find(name), Some(index));
                }
            }
        }
    }
}
