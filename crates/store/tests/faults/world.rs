//! Random commits, and a plain map that says what a store must hold after each of them. The map does each change in its own
//! way: with the maps and lists of the standard library, not with the code under test.

use object::change::*;
use std::collections::BTreeMap;
use store::{Durability, NewCommit, Store};
use testkit::Random;

/// An object without any order that the store may choose.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Thing {
    kind: u32,
    flags: u32,
    protos: Vec<ObjectId>,
    slots: BTreeMap<Text, Datum>,
    items: Vec<Datum>,
    units: Vec<u8>,
    map: BTreeMap<Datum, Datum>,
    counters: BTreeMap<Datum, i64>,
    members: BTreeMap<Datum, u64>,
    data: Datum,
}

pub type Things = BTreeMap<ObjectId, Thing>;

/// What a random program made so far.
pub struct World {
    pub random: Random,
    pub things: Things,
    next: u64,
    time: u64,
}

const PLAIN: u32 = 0;
const LIST: u32 = 1;
const BYTES: u32 = 2;
const MAP: u32 = 3;
const COUNTERS: u32 = 4;
const MEMBERS: u32 = 5;
const DATA: u32 = 6;

impl World {
    pub fn new(seed: u64) -> World {
        World { random: Random::new(seed), things: Things::new(), next: 1, time: 1 }
    }

    /// Goes on after what a store holds, as `things` says.
    pub fn after(&mut self, things: &Things, store: &Store) {
        self.things = things.clone();
        self.next = store.next_change().seq;
    }

    /// A commit that the store must take.
    pub fn commit(&mut self) -> NewCommit {
        self.time += 1;
        let changes = (0..1 + self.random.below(4)).map(|_| self.change()).collect();
        let durability = if self.random.chance(20) { Durability::Os } else { Durability::Flush };
        let cause = "c".repeat(self.random.below(30));
        NewCommit { time: Time(self.time), author: "world".into(), cause, changes, durability }
    }

    fn change(&mut self) -> Change {
        let id = ChangeId::new(ActorId(1), self.next);
        self.next += 1;
        if self.things.len() < 2 || self.random.chance(15) {
            return self.create(id);
        }
        let object = self.any_object();
        let operation = self.operation(object);
        Change::new(id, Time(self.time), object, operation)
    }

    fn create(&mut self, id: ChangeId) -> Change {
        let kind = self.random.below(7) as u32;
        let protos = if self.things.is_empty() { vec![] } else { vec![self.any_object()] };
        let mut slots: Vec<(Text, Datum)> = Vec::new();
        for name in ["a", "b", "c"].iter().take(self.random.below(4)) {
            slots.push((Text::from(*name), self.datum()));
        }
        let body = match kind {
            LIST => Body::Elements(Run::items([self.datum(), self.datum()])),
            BYTES => Body::Elements(Run::bytes(b"some bytes")),
            MAP => Body::Map(vec![(Datum::text("k"), self.datum())]),
            COUNTERS => Body::Counters(vec![]),
            MEMBERS => Body::Members(vec![]),
            DATA => Body::Data(Datum::record([Datum::Nil, Datum::number(1.0)])),
            _ => Body::Nothing,
        };
        let creation = Creation { kind, flags: 0, protos, slots, body, under: None };
        let change = Change::create(id, Time(self.time), creation.clone());
        self.things.insert(change.object, thing(&creation));
        change
    }

    fn operation(&mut self, object: ObjectId) -> Operation {
        let (datum, number) = (self.datum(), self.random.next());
        let name = Text::from(*self.random.pick(&[&"a", &"b", &"c", &"d"]));
        let mut thing = self.things.remove(&object).expect("it was chosen among them");
        let kind = if number.is_multiple_of(3) { thing.kind } else { PLAIN };
        let operation = match kind {
            LIST => list_operation(&mut thing.items, datum, number >> 8),
            BYTES => units_operation(&mut thing.units, number >> 8),
            MAP => {
                let key = Datum::number((number >> 8) as f64 % 5.0);
                set(&mut thing.map, key.clone(), &datum);
                Operation::Put { field: Field::Entry(key), value: datum }
            }
            COUNTERS => {
                let (key, delta) = (Datum::text("n"), (number >> 8) as i64 % 100 + 1);
                let sum = thing.counters.remove(&key).unwrap_or(0) + delta;
                if sum != 0 {
                    thing.counters.insert(key.clone(), sum);
                }
                Operation::Count { key, delta }
            }
            MEMBERS => member_operation(&mut thing.members, number >> 8),
            DATA => {
                thing.data = datum.clone();
                Operation::Put { field: Field::Data, value: datum }
            }
            _ if number % 11 == 1 => {
                thing.flags = (number >> 8) as u32 % 4;
                Operation::Put { field: Field::Flags, value: Datum::number(f64::from(thing.flags)) }
            }
            _ => {
                set(&mut thing.slots, name.clone(), &datum);
                Operation::Put { field: Field::Slot(name), value: datum }
            }
        };
        self.things.insert(object, thing);
        operation
    }

    fn any_object(&mut self) -> ObjectId {
        let at = self.random.below(self.things.len());
        *self.things.keys().nth(at).expect("there are so many")
    }

    fn datum(&mut self) -> Datum {
        match self.random.below(7) {
            0 => Datum::Absent,
            1 => Datum::Nil,
            2 if !self.things.is_empty() => Datum::Object(self.any_object()),
            3 => Datum::text(&"text ".repeat(self.random.below(8))),
            4 => Datum::bytes(&vec![7; self.random.below(300)]),
            _ => Datum::number(self.random.below(1000) as f64),
        }
    }
}

fn set<K: Ord>(map: &mut BTreeMap<K, Datum>, key: K, value: &Datum) {
    if value.is_absent() {
        map.remove(&key)
    } else {
        map.insert(key, value.clone())
    };
}

fn list_operation(items: &mut Vec<Datum>, datum: Datum, number: u64) -> Operation {
    let line = Line::Items;
    if items.is_empty() || number.is_multiple_of(4) {
        let index = number as usize / 4 % (items.len() + 1);
        items.splice(index..index, [datum.clone(), Datum::Nil]);
        return Operation::Insert { line, index: index as u64, run: Run::items([datum, Datum::Nil]) };
    }
    let index = number as usize / 4 % items.len();
    match number % 4 {
        1 => {
            items.remove(index);
            Operation::Delete { line, index: index as u64, count: 1 }
        }
        2 => {
            let item = items.remove(index);
            items.insert(0, item);
            Operation::Move { line, from: index as u64, to: 0 }
        }
        _ => {
            items[index] = datum.clone();
            Operation::Set { index: index as u64, value: datum }
        }
    }
}

fn units_operation(units: &mut Vec<u8>, number: u64) -> Operation {
    let index = number as usize % (units.len() + 1);
    let count = (number as usize >> 16) % (units.len() - index + 1);
    if number.is_multiple_of(2) {
        units.drain(index..index + count);
        return Operation::Delete { line: Line::Units, index: index as u64, count: count as u64 };
    }
    units.splice(index..index, *b"new");
    Operation::Insert { line: Line::Units, index: index as u64, run: Run::bytes(b"new") }
}

fn member_operation(members: &mut BTreeMap<Datum, u64>, number: u64) -> Operation {
    let (member, count) = (Datum::number((number / 2 % 3) as f64), 1 + number / 8 % 3);
    if number.is_multiple_of(2) {
        *members.entry(member.clone()).or_default() += count;
        return Operation::Add { member, count };
    }
    let left = members.remove(&member).unwrap_or(0).saturating_sub(count);
    if left > 0 {
        members.insert(member.clone(), left);
    }
    Operation::Remove { member, count }
}

/// An object of the store as the plain map would have it.
pub fn thing(creation: &Creation) -> Thing {
    let mut thing = Thing { kind: creation.kind, flags: creation.flags, ..Thing::default() };
    thing.protos = creation.protos.clone();
    thing.slots = creation.slots.iter().filter(|(_, value)| !value.is_absent()).cloned().collect();
    match &creation.body {
        Body::Nothing => {}
        Body::Data(data) => thing.data = data.clone(),
        Body::Elements(Run::Items(items)) => thing.items = items.to_vec(),
        Body::Elements(Run::Units { bytes, .. }) => thing.units = bytes.to_vec(),
        Body::Map(entries) => thing.map = entries.iter().filter(|(_, value)| !value.is_absent()).cloned().collect(),
        Body::Counters(counters) => thing.counters = counters.iter().cloned().collect(),
        Body::Members(members) => thing.members = members.iter().cloned().collect(),
    }
    thing
}

/// Fails unless the store holds exactly these.
pub fn assert_holds(store: &Store, things: &Things, when: &str) {
    for (object, expected) in things {
        let found = store.read(*object).unwrap_or_else(|error| panic!("{when}: {error}"));
        let found = found.unwrap_or_else(|| panic!("{when}: object {object} is missing"));
        assert_eq!(thing(&found), *expected, "{when}: object {object}");
    }
}
