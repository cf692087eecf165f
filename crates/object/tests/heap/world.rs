//! A heap with some objects that are held, and how random writes act on it.

use crate::model::{Model, ModelData, Models};
use crate::operation::Operation;
use object::{Collected, Data, Foreign, Handle, Heap, Kind, Object, Shapes, Symbol, Value, flag, thin_vec};
use proptest::prelude::*;
use std::any::Any;
use std::collections::BTreeSet;

/// A sample for the gate; `TELOS_CASES` asks for more.
#[allow(clippy::disallowed_methods, reason = "how many cases to run is the tester's choice")]
pub fn config() -> ProptestConfig {
    let cases = std::env::var("TELOS_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(200);
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

/// Foreign data that holds values.
#[derive(Default)]
pub struct Bag(pub Vec<Value>);

impl Foreign for Bag {
    fn trace(&self, visit: &mut dyn FnMut(Value)) {
        self.0.iter().for_each(|&value| visit(value));
    }

    fn logical_bytes(&self) -> usize {
        self.0.len() * 8
    }

    fn copied(&self) -> Option<Box<dyn Foreign>> {
        Some(Box::new(Bag(self.0.clone())))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }
}

pub struct World {
    pub heap: Heap,
    /// What the roots of a collection are, with the names.
    pub held: Vec<Handle>,
    pub names: Vec<Symbol>,
    /// Every object that was made and not collected.
    pub all: BTreeSet<Handle>,
}

/// Enough for a map that is not copied whole.
const NAMES: usize = 100;

/// Objects that stay held, whatever is dropped.
pub const FIRST: usize = 8;

impl World {
    pub fn new() -> World {
        let mut heap = Heap::new();
        let names: Vec<Symbol> = (0..NAMES).map(|number| heap.intern(&format!("name{number}"))).collect();
        let held = vec![heap.allocate_bare()];
        let constants = [Value::NIL, Value::TRUE, Value::FALSE].into_iter().filter_map(Value::as_handle);
        let all = constants.chain(names.iter().copied()).chain(held.iter().copied()).collect();
        let mut world = World { heap, held, names, all };
        use Operation::*;
        for operation in [Clone(0), NewList, NewMap, NewSequence, NewRecord, NewWeak(1), NewForeign(1), Clone(1)] {
            world.apply(&operation);
        }
        world
    }

    pub fn handle(&self, at: usize) -> Handle {
        self.held[at % self.held.len()]
    }

    /// A number now and then, else an object.
    pub fn value(&self, at: usize) -> Value {
        if at.is_multiple_of(3) { Value::number(at as f64) } else { Value::object(self.handle(at)) }
    }

    pub fn newest(&self) -> Handle {
        *self.held.last().expect("something is always held")
    }

    fn hold(&mut self, handle: Handle) {
        self.held.push(handle);
        self.all.insert(handle);
    }

    fn add(&mut self, kind: Kind, data: Data) {
        let handle = self.heap.clone_of(self.held[0], kind, data);
        self.hold(handle);
    }

    pub fn collect(&mut self) -> Collected {
        let (held, names) = (&self.held, &self.names);
        let collected = self.heap.collect(|visit| {
            held.iter().chain(names).for_each(|&handle| visit(Value::object(handle)));
        });
        let alive = self.reachable();
        self.all.retain(|handle| alive.contains(handle));
        collected
    }

    /// Does it; says what was collected if it was that.
    pub fn apply(&mut self, operation: &Operation) -> Option<Collected> {
        use Operation::*;
        match operation {
            Clone(at) => {
                let clone = self.heap.clone_of(self.handle(*at), Kind::Object, Data::None);
                self.hold(clone);
            }
            NewList => self.add(Kind::List, Data::list([])),
            NewMap => self.add(Kind::Map, Data::Map(Default::default())),
            NewSequence => self.add(Kind::Sequence, Data::Sequence(Default::default())),
            NewRecord => self.add(Kind::Call, Data::Record(thin_vec![Value::NIL; 3])),
            NewWeak(at) => {
                let link = self.heap.allocate_weak(self.held[0], self.value(*at));
                self.hold(link);
            }
            NewForeign(at) => {
                let bag = Bag(vec![self.value(*at)]);
                let foreign = self.heap.allocate_foreign(self.held[0], Kind::Coroutine, bag);
                self.hold(foreign);
            }
            Drop(at) => {
                if self.held.len() > FIRST {
                    self.held.remove(FIRST + at % (self.held.len() - FIRST));
                }
            }
            Collect => return Some(self.collect()),
            _ => self.write(operation),
        }
        None
    }

    fn write(&mut self, operation: &Operation) {
        use Operation::*;
        let names = self.names.clone();
        match *operation {
            SetSlot(at, name, of) => self.heap.set_slot(self.handle(at), names[name], self.value(of)),
            FillSlots(at) => names.iter().for_each(|&name| self.heap.set_slot(self.handle(at), name, Value::TRUE)),
            RemoveSlot(at, name) => {
                self.heap.remove_slot(self.handle(at), names[name]);
            }
            SetProtos(at, ref of) => {
                let protos = of.iter().map(|&each| self.handle(each)).collect();
                self.heap.set_protos(self.handle(at), protos);
            }
            SetFlag(at, is) => self.heap.set_flag(self.handle(at), flag::ACTIVATABLE, is),
            Become(at, of) => self.heap.become_copy_of(self.handle(at), self.handle(of)),
            _ => self.write_data(operation, &names),
        }
    }

    fn write_data(&mut self, operation: &Operation, names: &[Symbol]) {
        use Operation::*;
        match *operation {
            ListPush(at, of) => self.heap.list_push(self.handle(at), self.value(of)),
            ListSet(at, index, of) => {
                let length = self.heap.list(self.handle(at)).map_or(0, <[Value]>::len);
                if length > 0 {
                    self.heap.list_set(self.handle(at), index % length, self.value(of));
                }
            }
            ListInsertFirst(at, of) => {
                let value = self.value(of);
                self.heap.list_insert(self.handle(at), 0, value);
            }
            ListInsert(at, index, of) => {
                let length = self.heap.list(self.handle(at)).map_or(0, <[Value]>::len);
                let value = self.value(of);
                self.heap.list_insert(self.handle(at), index % (length + 1), value);
            }
            ListRemove(at, index) => {
                let length = self.heap.list(self.handle(at)).map_or(0, <[Value]>::len);
                if length > 0 {
                    self.heap.list_remove(self.handle(at), index % length);
                }
            }
            ListFill(at) => {
                let values: Vec<Value> = (0..100).map(|number| self.value(number)).collect();
                self.heap.list_extend(self.handle(at), &values);
            }
            ListReverse(at) => {
                self.heap.list_edit(self.handle(at), |items| items.reverse());
            }
            ListClear(at) => {
                self.heap.list_edit(self.handle(at), |items| items.clear());
            }
            MapPut(at, name, of) => self.heap.map_put(self.handle(at), names[name], self.value(of)),
            MapRemove(at, name) => {
                self.heap.map_remove(self.handle(at), names[name]);
            }
            MapFill(at) => names.iter().for_each(|&name| self.heap.map_put(self.handle(at), name, Value::TRUE)),
            MapClear(at) => self.heap.map_clear(self.handle(at)),
            Append(at, byte) => {
                self.heap.sequence_edit(self.handle(at), |sequence| sequence.push_bytes(&[byte]));
            }
            AppendOther(at, of) => {
                let (handle, other) = (self.handle(at), self.handle(of));
                self.heap.sequence_edit_with(handle, other, |sequence, more| sequence.push_bytes(more.as_bytes()));
            }
            RecordSet(at, index, of) => {
                let length = self.heap.record(self.handle(at)).len();
                if length > 0 {
                    self.heap.record_set(self.handle(at), index % length, self.value(of));
                }
            }
            RecordPush(at, of) => {
                let value = self.value(of);
                self.heap.record_edit(self.handle(at), |fields| fields.push(value));
            }
            SetWeak(at, of) => {
                if self.heap.kind(self.handle(at)) == Kind::WeakLink {
                    self.heap.set_data(self.handle(at), Kind::WeakLink, Data::Weak(self.value(of)));
                }
            }
            SetNumber(at, number) => {
                let object = self.heap.object(self.handle(at));
                let is_bare = object.kind() == Kind::Object && matches!(object.data(), Data::None);
                if is_bare || object.kind() == Kind::Number {
                    self.heap.set_data(self.handle(at), Kind::Number, Data::Number(f64::from(number)));
                }
            }
            ForeignPush(at, of) => {
                let value = self.value(of);
                self.heap.foreign_edit(self.handle(at), |bag: &mut Bag| bag.0.push(value));
            }
            _ => unreachable!("{operation:?} is done elsewhere"),
        }
    }

    pub fn read(&self, handle: Handle) -> Model {
        read(self.heap.object(handle), self.heap.shapes())
    }

    pub fn read_all(&self) -> Models {
        self.all.iter().map(|&handle| (handle, self.read(handle))).collect()
    }

    /// What the roots lead to, found the slow way.
    pub fn reachable(&self) -> BTreeSet<Handle> {
        let constants = [Value::NIL, Value::TRUE, Value::FALSE].into_iter().filter_map(Value::as_handle);
        let mut pending: Vec<Handle> = constants.chain(self.held.iter().chain(&self.names).copied()).collect();
        let mut seen = BTreeSet::new();
        while let Some(handle) = pending.pop() {
            if seen.insert(handle) {
                let model = self.read(handle);
                pending.extend(model.protos.iter().chain(model.slots.iter().map(|(name, _)| name)));
                pending.extend(model.values().into_iter().filter_map(Value::as_handle));
            }
        }
        seen
    }
}

/// An object as one who knows its shape sees it.
pub fn read(object: &Object, shapes: &Shapes) -> Model {
    let shape = shapes.get(object.shape());
    let slots = shape.names.iter().enumerate().map(|(index, &name)| (name, object.slot(index))).collect();
    let data = match object.data() {
        Data::None => ModelData::None,
        Data::Number(number) => ModelData::Number(number.to_bits()),
        Data::Sequence(sequence) => ModelData::Bytes(sequence.as_bytes().to_vec()),
        Data::List(items, start) => ModelData::Values(items[*start as usize..].to_vec()),
        Data::Record(fields) => ModelData::Values(fields.to_vec()),
        Data::Map(map) => ModelData::Entries(map.iter().map(|(&key, &value)| (key, value)).collect()),
        Data::Weak(target) => ModelData::Weak(*target),
        Data::Foreign(foreign) => {
            ModelData::Foreign(foreign.as_any().downcast_ref::<Bag>().expect("all foreign data are bags").0.clone())
        }
        Data::Primitive(_) => unreachable!("no primitives are made here"),
    };
    let is_activatable = object.has(flag::ACTIVATABLE);
    Model { kind: object.kind(), slots, protos: shape.protos.clone(), is_activatable, data }
}

impl Model {
    /// What it keeps alive, beside names and protos.
    pub fn values(&self) -> Vec<Value> {
        let mut values: Vec<Value> = self.slots.iter().map(|&(_, value)| value).collect();
        match &self.data {
            ModelData::Values(more) | ModelData::Foreign(more) => values.extend(more),
            ModelData::Entries(entries) => {
                entries.iter().for_each(|&(key, value)| values.extend([Value::object(key), value]));
            }
            _ => {}
        }
        values
    }
}

/// A collection clears the links to what it frees.
pub fn clear_weak(models: &mut Models, world: &World, operation: &Operation) {
    if !matches!(operation, Operation::Collect) {
        return;
    }
    let alive = world.reachable();
    for model in models.values_mut() {
        if let ModelData::Weak(target) = &mut model.data
            && target.as_handle().is_some_and(|handle| !alive.contains(&handle))
        {
            *target = Value::NIL;
        }
    }
}
