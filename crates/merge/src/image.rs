//! The least image that a ledger can stand on: objects in a table. For tests and measurements, and as an example of what
//! an image has to answer and to apply.

use crate::rest::{Presence, Rest};
use crate::settle::{Effect, Outcome};
use object::change::*;
use std::collections::BTreeMap;
use std::hash::BuildHasherDefault;

/// One object, whole.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Thing {
    pub kind: u32,
    pub fields: BTreeMap<Field, Datum>,
    pub protos: Vec<Datum>,
    pub items: Vec<Datum>,
    pub units: Vec<u8>,
    pub width: u8,
    pub counters: BTreeMap<Datum, i64>,
    pub members: BTreeMap<Datum, u64>,
    /// Not reachable any more, and kept only for open forks.
    pub is_kept: bool,
}

type Table = std::collections::HashMap<ObjectId, Thing, BuildHasherDefault<siphasher::sip::SipHasher13>>;

#[derive(Clone, PartialEq, Debug, Default)]
pub struct Image {
    things: Table,
}

impl Image {
    pub fn get(&self, object: ObjectId) -> Option<&Thing> {
        self.things.get(&object)
    }

    pub fn get_mut(&mut self, object: ObjectId) -> Option<&mut Thing> {
        self.things.get_mut(&object)
    }

    /// In the order of their ids.
    pub fn things(&self) -> BTreeMap<ObjectId, &Thing> {
        self.things.iter().map(|(object, thing)| (*object, thing)).collect()
    }

    /// Does what the live image's own changes say.
    pub fn commit(&mut self, changes: &[Change]) {
        for change in changes {
            self.apply(change.object, &change.operation);
        }
    }

    /// Does what a merge asks for.
    pub fn take(&mut self, outcome: &Outcome) {
        for object in &outcome.revived {
            self.things.entry(*object).and_modify(|thing| thing.is_kept = false);
        }
        for Effect { object, operation } in &outcome.effects {
            self.apply(*object, operation);
        }
    }

    pub fn apply(&mut self, object: ObjectId, operation: &Operation) {
        if let Operation::Create(creation) = operation {
            self.things.insert(object, Thing::new(creation));
            return;
        }
        let thing = self.things.entry(object).or_default();
        match operation {
            Operation::Put { field, value: Datum::Absent } => {
                thing.fields.remove(field);
            }
            Operation::Put { field, value } => {
                thing.fields.insert(field.clone(), value.clone());
            }
            Operation::Insert { line, index, run } => thing.insert(*line, *index as usize, run),
            Operation::Delete { line, index, count } => thing.delete(*line, *index as usize, *count as usize),
            Operation::Move { line, from, to } => {
                let run = thing.elements(*line, *from as usize, 1);
                thing.delete(*line, *from as usize, 1);
                thing.insert(*line, *to as usize, &run);
            }
            Operation::Set { index, value } => thing.items[*index as usize] = value.clone(),
            Operation::Count { key, delta } => {
                let count = thing.counters.entry(key.clone()).or_default();
                *count = count.wrapping_add(*delta);
            }
            Operation::Add { member, count } => {
                let there = thing.members.entry(member.clone()).or_default();
                *there = there.saturating_add(*count);
            }
            Operation::Remove { member, count } => {
                let left = thing.members.get(member).map_or(0, |there| there.saturating_sub(*count));
                thing.members.insert(member.clone(), left);
                thing.members.retain(|_, count| *count > 0);
            }
            Operation::Create(_) | Operation::Call { .. } => {}
        }
    }
}

impl Thing {
    fn new(creation: &Creation) -> Thing {
        let mut thing = Thing { kind: creation.kind, width: 1, ..Thing::default() };
        let Run::Items(protos) = creation.run(Line::Protos) else { return thing };
        thing.protos = protos.to_vec();
        let mut image = Image::default();
        let object = ObjectId::minted(ChangeId::new(ActorId(0), 0));
        image.things.insert(object, thing);
        creation.steps().iter().for_each(|step| image.apply(object, step));
        image.things.remove(&object).unwrap_or_default()
    }

    fn bytes_of(&self, index: usize) -> usize {
        index * usize::from(self.width.max(1))
    }

    fn insert(&mut self, line: Line, index: usize, run: &Run) {
        match run {
            Run::Items(items) => {
                let list = if line == Line::Protos { &mut self.protos } else { &mut self.items };
                list.splice(index..index, items.iter().cloned());
            }
            Run::Units { width, bytes } => {
                self.width = *width;
                let at = self.bytes_of(index);
                self.units.splice(at..at, bytes.iter().copied());
            }
        }
    }

    fn delete(&mut self, line: Line, index: usize, count: usize) {
        match line {
            Line::Protos => drop(self.protos.drain(index..index + count)),
            Line::Items => drop(self.items.drain(index..index + count)),
            Line::Units => drop(self.units.drain(self.bytes_of(index)..self.bytes_of(index + count))),
        }
    }

    fn elements(&self, line: Line, index: usize, count: usize) -> Run {
        match line {
            Line::Protos => Run::items(self.protos[index..index + count].iter().cloned()),
            Line::Items => Run::items(self.items[index..index + count].iter().cloned()),
            Line::Units => {
                let bytes = &self.units[self.bytes_of(index)..self.bytes_of(index + count)];
                Run::Units { width: self.width.max(1), bytes: bytes.into() }
            }
        }
    }
}

impl Rest for Image {
    fn presence(&self, object: ObjectId) -> Presence {
        match self.things.get(&object) {
            None => Presence::Never,
            Some(thing) if thing.is_kept => Presence::Kept,
            Some(_) => Presence::Live,
        }
    }

    fn field(&self, object: ObjectId, field: &Field) -> Datum {
        self.things.get(&object).and_then(|thing| thing.fields.get(field)).cloned().unwrap_or_default()
    }

    fn length(&self, object: ObjectId, line: Line) -> u64 {
        let Some(thing) = self.things.get(&object) else { return 0 };
        let length = match line {
            Line::Protos => thing.protos.len(),
            Line::Items => thing.items.len(),
            Line::Units => thing.units.len() / usize::from(thing.width.max(1)),
        };
        length as u64
    }

    fn elements(&self, object: ObjectId, line: Line, index: u64, count: u64) -> Run {
        let Some(thing) = self.things.get(&object) else { return Run::items([]) };
        thing.elements(line, index as usize, count as usize)
    }

    fn occurrences(&self, object: ObjectId, member: &Datum) -> u64 {
        self.things.get(&object).and_then(|thing| thing.members.get(member)).copied().unwrap_or(0)
    }
}
