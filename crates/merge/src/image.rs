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
    /// In the order of the fields.
    pub fields: Vec<(Field, Datum)>,
    /// Not reachable any more, and kept only for open forks.
    pub is_kept: bool,
    /// What most objects have none of.
    pub parts: Option<Box<Parts>>,
}

#[derive(Clone, PartialEq, Debug, Default)]
pub struct Parts {
    pub protos: Vec<Datum>,
    pub items: Vec<Datum>,
    pub units: Vec<u8>,
    pub width: u8,
    pub counters: BTreeMap<Datum, i64>,
    pub members: BTreeMap<Datum, u64>,
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

    fn parts(&self, object: ObjectId) -> Option<&Parts> {
        self.things.get(&object)?.parts.as_deref()
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
        match operation {
            Operation::Create(creation) => drop(self.things.insert(object, Thing::new(creation))),
            Operation::Put { field, value } => self.things.entry(object).or_default().put(field, value),
            Operation::Call { .. } => {}
            _ => self.things.entry(object).or_default().edit(operation),
        }
    }
}

impl Thing {
    fn new(creation: &Creation) -> Thing {
        let mut thing = Thing { kind: creation.kind, ..Thing::default() };
        if !creation.protos.is_empty() {
            thing.edit(&Operation::Insert { line: Line::Protos, index: 0, run: creation.run(Line::Protos) });
        }
        for step in &creation.steps() {
            match step {
                Operation::Put { field, value } => thing.put(field, value),
                _ => thing.edit(step),
            }
        }
        thing
    }

    fn edit(&mut self, operation: &Operation) {
        let mut parts = self.parts.take().unwrap_or_default();
        parts.apply(operation);
        self.parts = Some(parts).filter(|parts| !parts.is_empty());
    }

    fn find(&self, field: &Field) -> Result<usize, usize> {
        self.fields.binary_search_by(|(other, _)| other.cmp(field))
    }

    fn put(&mut self, field: &Field, value: &Datum) {
        match (self.find(field), value) {
            (Ok(at), Datum::Absent) => drop(self.fields.remove(at)),
            (Err(_), Datum::Absent) => {}
            (Ok(at), _) => self.fields[at].1 = value.clone(),
            (Err(at), _) => self.fields.insert(at, (field.clone(), value.clone())),
        }
    }

    pub fn protos(&self) -> &[Datum] {
        self.parts.as_ref().map_or(&[], |parts| &parts.protos)
    }

    pub fn items(&self) -> &[Datum] {
        self.parts.as_ref().map_or(&[], |parts| &parts.items)
    }

    pub fn units(&self) -> &[u8] {
        self.parts.as_ref().map_or(&[], |parts| &parts.units)
    }

    pub fn counter(&self, key: &Datum) -> i64 {
        self.parts.as_ref().and_then(|parts| parts.counters.get(key)).copied().unwrap_or(0)
    }
}

impl Parts {
    fn apply(&mut self, operation: &Operation) {
        match operation {
            Operation::Insert { line, index, run } => self.insert(*line, *index as usize, run),
            Operation::Delete { line, index, count } => self.delete(*line, *index as usize, *count as usize),
            Operation::Move { line, from, to } => {
                let run = self.elements(*line, *from as usize, 1);
                self.delete(*line, *from as usize, 1);
                self.insert(*line, *to as usize, &run);
            }
            Operation::Set { index, value } => self.items[*index as usize] = value.clone(),
            Operation::Count { key, delta } => {
                let count = self.counters.entry(key.clone()).or_default();
                *count = count.wrapping_add(*delta);
                self.counters.retain(|_, count| *count != 0);
            }
            Operation::Add { member, count } => {
                let there = self.members.entry(member.clone()).or_default();
                *there = there.saturating_add(*count);
            }
            Operation::Remove { member, count } => {
                let left = self.members.get(member).map_or(0, |there| there.saturating_sub(*count));
                self.members.insert(member.clone(), left);
                self.members.retain(|_, count| *count > 0);
            }
            Operation::Create(_) | Operation::Put { .. } | Operation::Call { .. } => {}
        }
    }

    fn is_empty(&self) -> bool {
        let lines = self.protos.is_empty() && self.items.is_empty() && self.units.is_empty();
        lines && self.counters.is_empty() && self.members.is_empty()
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
        let Some(thing) = self.things.get(&object) else { return Datum::Absent };
        thing.find(field).map_or(Datum::Absent, |at| thing.fields[at].1.clone())
    }

    fn length(&self, object: ObjectId, line: Line) -> u64 {
        let Some(parts) = self.parts(object) else { return 0 };
        let length = match line {
            Line::Protos => parts.protos.len(),
            Line::Items => parts.items.len(),
            Line::Units => parts.units.len() / usize::from(parts.width.max(1)),
        };
        length as u64
    }

    fn elements(&self, object: ObjectId, line: Line, index: u64, count: u64) -> Run {
        self.parts(object).map_or(Run::items([]), |parts| parts.elements(line, index as usize, count as usize))
    }

    fn occurrences(&self, object: ObjectId, member: &Datum) -> u64 {
        self.parts(object).and_then(|parts| parts.members.get(member)).copied().unwrap_or(0)
    }
}
