//! A heap whose objects are kept as records in a table, and what steps do to it.

use crate::step::{Step, Thing};
use image::{Commitment, Identities, Language, Records, StoreLoader, commitment};
use object::change::{ActorId, ChangeId, Creation, Draft, ObjectId, Operation, Time, borrow_stored, encode_stored};
use object::sequence::{Encoding, ItemType};
use object::{Data, Handle, Heap, Kind, Symbol, Value, flag, thin_vec};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use store::Found;

#[derive(Default)]
pub struct Table(RefCell<BTreeMap<ObjectId, Creation>>);

impl Records for Table {
    /// As objects are at rest, or as they are when they were changed since: either must do.
    fn look_at<A>(&self, id: ObjectId, look: impl FnOnce(Found<'_>) -> A) -> Result<Option<A>, String> {
        let table = self.0.borrow();
        let Some(creation) = table.get(&id) else { return Ok(None) };
        if id.minted_by().is_some_and(|change| change.seq.is_multiple_of(2)) {
            return Ok(Some(look(Found::Changed(creation.clone()))));
        }
        let mut bytes = Vec::new();
        encode_stored(id, creation, &mut bytes).map_err(|error| error.to_string())?;
        borrow_stored(id, &bytes).map(|stored| Some(look(Found::Stored(stored)))).map_err(|error| error.to_string())
    }
}

struct Numbered;

impl Language for Numbered {
    fn primitive_name(&self, index: u32) -> Option<&str> {
        ["first", "second"].get(index as usize).copied()
    }

    fn primitive_index(&self, name: &str) -> u32 {
        u32::from(name == "second")
    }

    fn restore(&self, _: &str, _: &[Value]) -> Result<Data, String> {
        Err("nothing foreign was saved".into())
    }

    fn check(&self, _: &Heap, _: Kind, _: &Data) -> Result<(), String> {
        Ok(())
    }
}

const ACTOR: ActorId = ActorId(1);
/// Enough for a map that is not copied whole.
const NAMES: usize = 80;

pub struct Shelf {
    pub heap: Heap,
    pub identities: Rc<Identities>,
    pub root: Handle,
    table: Rc<Table>,
    next_seq: u64,
    held: Vec<Handle>,
    names: Vec<Symbol>,
    /// What was held at the last commit.
    held_at_commit: usize,
}

impl Shelf {
    pub fn new() -> Shelf {
        let (heap, identities, table) = (Heap::new(), Rc::default(), Rc::default());
        let mut shelf = Shelf {
            heap,
            identities,
            root: Handle(0),
            table,
            next_seq: 1,
            held: vec![],
            names: vec![],
            held_at_commit: 0,
        };
        shelf.equip();
        shelf.root = shelf.heap.allocate_bare();
        shelf.held.push(shelf.root);
        shelf.heap.open_level();
        shelf.commit();
        shelf
    }

    fn equip(&mut self) {
        let (records, identities) = (self.table.clone(), self.identities.clone());
        self.heap.set_loader(Box::new(StoreLoader { records, identities, language: Numbered }));
        self.names = (0..NAMES).map(|number| self.heap.intern(&format!("nämé{number}"))).collect();
    }

    pub fn next_id(&self) -> ObjectId {
        ObjectId::minted(ChangeId::new(ACTOR, self.next_seq))
    }

    /// Ends the transaction; says how many changes it had.
    pub fn commit(&mut self) -> usize {
        let next = ChangeId::new(ACTOR, self.next_seq);
        let Commitment { changes, .. } =
            commitment(&self.heap, &self.identities, &Numbered, &[self.root], next, Time::default());
        let bytes = object::change::encode(&changes).expect("what is captured can be written");
        let changes = object::change::decode(&bytes).expect("what was written can be read");
        let mut table = self.table.0.borrow_mut();
        for change in &changes {
            match &change.operation {
                Operation::Create(creation) => drop(table.insert(change.object, (**creation).clone())),
                operation => {
                    let mut draft = Draft::from(table.remove(&change.object).expect("it was made before"));
                    draft.apply(operation).unwrap_or_else(|error| panic!("{change:?}: {error}"));
                    table.insert(change.object, Creation::from(draft));
                }
            }
        }
        self.next_seq += changes.len() as u64;
        self.heap.keep_level();
        self.heap.open_level();
        self.held_at_commit = self.held.len();
        changes.len()
    }

    pub fn roll_back(&mut self) {
        self.heap.roll_back_level();
        self.heap.open_level();
        self.held.truncate(self.held_at_commit);
    }

    /// Forgets all of memory.
    pub fn reopen(&mut self) {
        let root = self.identities.id(self.root).expect("the root was committed");
        (self.heap, self.identities) = (Heap::new(), Rc::default());
        self.equip();
        self.root = self.identities.handle_or_mint(root, &mut self.heap);
        self.held = vec![self.root];
        self.heap.open_level();
        self.held_at_commit = 1;
    }

    /// Holds what the root has in its slots, so that steps find something to do.
    pub fn hold_all(&mut self) {
        let count = self.heap.shapes().get(self.heap.shape(self.root)).names.len();
        let values: Vec<Value> = (0..count).map(|index| self.heap.object(self.root).slot(index)).collect();
        let is_symbol = |handle: &Handle| handle.0 < 3 || self.heap.object(*handle).has(flag::SYMBOL);
        let found: Vec<Handle> =
            values.into_iter().filter_map(Value::as_handle).filter(|handle| !is_symbol(handle)).collect();
        self.held.extend(found);
        self.held_at_commit = self.held.len();
    }

    /// Writes what is there already.
    pub fn touch_everything(&mut self) {
        for handle in self.held.clone() {
            let shape = self.heap.shape(handle);
            for (index, name) in self.heap.shapes().get(shape).names.clone().into_iter().enumerate() {
                let value = self.heap.object(handle).slot(index);
                self.heap.set_slot(handle, name, Value::NIL);
                self.heap.set_slot(handle, name, value);
            }
        }
    }

    fn handle(&self, at: usize) -> Handle {
        self.held[at % self.held.len()]
    }

    fn value(&self, at: usize) -> Value {
        match at % 5 {
            0 => Value::number(at as f64),
            1 => Value::object(self.names[at % NAMES]),
            2 if at.is_multiple_of(3) => Value::NIL,
            _ => Value::object(self.handle(at)),
        }
    }

    fn add(&mut self, proto: Handle, thing: Thing) -> Handle {
        let (kind, data) = match thing {
            Thing::Object => (Kind::Object, Data::None),
            Thing::Number => (Kind::Number, Data::Number(7.5)),
            Thing::List => (Kind::List, Data::list([])),
            Thing::Map => (Kind::Map, Data::Map(Default::default())),
            Thing::Sequence => (Kind::Sequence, Data::Sequence(Default::default())),
            Thing::Record => (Kind::Call, Data::Record(thin_vec![Value::NIL, Value::ABSENT, Value::TRUE])),
            Thing::Link => (Kind::WeakLink, Data::Weak(Value::object(proto))),
            Thing::Primitive => (Kind::Primitive, Data::Primitive(1)),
        };
        self.heap.clone_of(proto, kind, data)
    }

    pub fn apply(&mut self, step: &Step) {
        match *step {
            Step::New(at, thing) => {
                let handle = self.add(self.handle(at), thing);
                let name = self.names[at % 12];
                self.heap.set_slot(self.handle(at), name, Value::object(handle));
                self.held.push(handle);
            }
            Step::SetSlot(at, name, of) => self.heap.set_slot(self.handle(at), self.names[name], self.value(of)),
            Step::RemoveSlot(at, name) => drop(self.heap.remove_slot(self.handle(at), self.names[name])),
            Step::SetProtos(at, ref of) => {
                let protos = of.iter().map(|&each| self.handle(each)).collect();
                self.heap.set_protos(self.handle(at), protos);
            }
            Step::SetFlag(at, is) => self.heap.set_flag(self.handle(at), flag::ACTIVATABLE, is),
            Step::Become(at, of) => self.heap.become_copy_of(self.handle(at), self.handle(of)),
            Step::Evict(at) => self.evict(self.handle(at)),
            Step::Collect => {
                let (held, names) = (self.held.clone(), self.names.clone());
                self.heap.collect(|visit| held.iter().chain(&names).for_each(|&handle| visit(Value::object(handle))));
            }
            _ => self.edit(step),
        }
    }

    /// Only what is as it was committed can be forgotten.
    fn evict(&mut self, handle: Handle) {
        let is_dirty = self.heap.level().is_some_and(|level| level.befores().any(|(each, _)| each == handle));
        if !is_dirty && self.identities.id(handle).is_some() && !self.heap.is_hollow(handle) {
            self.heap.hollow_out(handle);
            self.heap.renew_epoch();
        }
    }

    fn edit(&mut self, step: &Step) {
        match *step {
            Step::Push(at, of) => self.heap.list_push(self.handle(at), self.value(of)),
            Step::Fill(at) => {
                let values: Vec<Value> = (0..100).map(|number| self.value(number)).collect();
                self.heap.list_extend(self.handle(at), &values);
            }
            Step::Insert(at, index, of) => {
                if let Some(length) = self.heap.list(self.handle(at)).map(<[Value]>::len) {
                    self.heap.list_insert(self.handle(at), index % (length + 1), self.value(of));
                }
            }
            Step::SetItem(at, index, of) => {
                if let Some(length @ 1..) = self.heap.list(self.handle(at)).map(<[Value]>::len) {
                    self.heap.list_set(self.handle(at), index % length, self.value(of));
                }
            }
            Step::RemoveItem(at, index) => {
                if let Some(length @ 1..) = self.heap.list(self.handle(at)).map(<[Value]>::len) {
                    self.heap.list_remove(self.handle(at), index % length);
                }
            }
            Step::Reverse(at) => drop(self.heap.list_edit(self.handle(at), |items| items.reverse())),
            Step::Put(at, name, of) => self.heap.map_put(self.handle(at), self.names[name], self.value(of)),
            Step::FillMap(at) => {
                for name in self.names.clone() {
                    self.heap.map_put(self.handle(at), name, Value::TRUE);
                }
            }
            Step::RemoveKey(at, name) => drop(self.heap.map_remove(self.handle(at), self.names[name])),
            Step::ClearMap(at) => self.heap.map_clear(self.handle(at)),
            Step::SetField(at, index, of) => {
                if !self.heap.record(self.handle(at)).is_empty() {
                    self.heap.record_set(self.handle(at), index, self.value(of));
                }
            }
            _ => self.edit_text(step),
        }
    }

    fn edit_text(&mut self, step: &Step) {
        match *step {
            Step::Append(at, byte) => {
                let edit = |text: &mut object::sequence::Sequence| text.append_number(f64::from(byte));
                self.heap.sequence_edit(self.handle(at), edit);
            }
            Step::Truncate(at, length) => {
                self.heap.sequence_edit(self.handle(at), |text| text.set_size(length));
            }
            Step::Widen(at) => {
                self.heap.sequence_edit(self.handle(at), |text| {
                    text.set_encoding(Encoding::Number);
                    text.convert_to_item_type(ItemType::Uint16);
                });
            }
            _ => unreachable!("{step:?} is done elsewhere"),
        }
    }
}
