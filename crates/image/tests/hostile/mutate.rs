//! What can be wrong with a record.

use crate::template::Template;
use object::change::{Body, ChangeId, Creation, Datum, Field, Line, ObjectId, Operation, Run, Text};
use testkit::Random;

pub struct Mutator<'m> {
    pub random: &'m mut Random,
    pub template: &'m Template,
    /// That is being made worse.
    pub object: ObjectId,
}

const TEXTS: &[&str] = &[
    "",
    "a",
    "self",
    "call",
    "type",
    "activate",
    "forward",
    "parentCoroutine",
    "runMessage",
    "runTarget",
    "yieldingCoros",
    "asString",
    "clone",
    "init",
    "+",
    ";",
    "setSlot",
    "main",
    "lobby",
    "exception",
    "result",
    "é",
    "\u{1F600}",
];

impl Mutator<'_> {
    pub fn operations(&mut self, creation: &Creation) -> Vec<Operation> {
        (0..1 + self.random.below(3)).map(|_| self.operation(creation)).collect()
    }

    fn operation(&mut self, creation: &Creation) -> Operation {
        match self.random.below(12) {
            0 => Operation::Put { field: Field::Flags, value: Datum::number(f64::from(self.flags())) },
            1..6 => Operation::Put { field: Field::Data, value: self.perturbed(creation) },
            6 => Operation::Put { field: Field::Data, value: self.body() },
            7 | 8 => {
                let own = (!creation.slots.is_empty())
                    .then(|| creation.slots[self.random.below(creation.slots.len())].0.clone());
                let name = own.filter(|_| self.random.chance(70)).unwrap_or_else(|| self.text());
                Operation::Put { field: Field::Slot(name), value: self.datum() }
            }
            9 => {
                let protos = (0..1 + self.random.below(3)).map(|_| Datum::Object(self.reference())).collect::<Vec<_>>();
                Operation::Insert { line: Line::Protos, index: 0, run: Run::items(protos) }
            }
            10 => Operation::Delete { line: Line::Protos, index: 0, count: creation.protos.len() as u64 },
            _ => {
                let items = (0..self.random.below(4)).map(|_| self.datum()).collect::<Vec<_>>();
                Operation::Insert { line: Line::Items, index: 0, run: Run::items(items) }
            }
        }
    }

    /// Mostly a kind that exists.
    fn flags(&mut self) -> u32 {
        let rest =
            (self.random.next() & 1) as u32 | (self.random.below(11) as u32) << 5 | (self.random.below(6) as u32) << 9;
        (self.random.below(14) as u32) << 1 | rest
    }

    /// What is there, with one field something else, missing, or one too many.
    fn perturbed(&mut self, creation: &Creation) -> Datum {
        let mut fields: Vec<Datum> = match &creation.body {
            Body::Data(Datum::Record(fields)) => fields.to_vec(),
            Body::Elements(Run::Items(items)) => items.to_vec(),
            Body::Map(entries) => entries.iter().flat_map(|(key, value)| [key.clone(), value.clone()]).collect(),
            _ => return self.body(),
        };
        let at = self.random.below(fields.len());
        match self.random.below(6) {
            0 => fields.truncate(at),
            1 => fields.insert(at, self.datum()),
            2 if !fields.is_empty() => drop(fields.remove(at)),
            _ if !fields.is_empty() => fields[at] = self.datum(),
            _ => fields.push(self.datum()),
        }
        Datum::record(fields)
    }

    fn body(&mut self) -> Datum {
        match self.random.below(6) {
            0 => Datum::bytes(&self.bytes()),
            1 => self.datum(),
            2 => {
                let name = [Datum::bytes(if self.random.chance(70) { b"Coroutine" } else { b"Other" })];
                let version = [1.0, 1.0].map(Datum::number);
                let frames = (0..self.random.below(30)).map(|_| self.datum()).collect::<Vec<_>>();
                Datum::record(name.into_iter().chain(version).chain(frames))
            }
            _ => {
                let fields = (0..self.random.below(10)).map(|_| self.datum()).collect::<Vec<_>>();
                Datum::record(fields)
            }
        }
    }

    fn bytes(&mut self) -> Vec<u8> {
        (0..self.random.below(12)).map(|_| self.random.next() as u8).collect()
    }

    fn text(&mut self) -> Text {
        match self.random.chance(80) {
            true => Text::from(TEXTS[self.random.below(TEXTS.len())]),
            false => Text::from(self.bytes().as_slice()),
        }
    }

    fn datum(&mut self) -> Datum {
        match self.random.below(16) {
            0 => Datum::Absent,
            1 => Datum::Nil,
            2 => Datum::Boolean(self.random.chance(50)),
            3 | 4 => Datum::number(self.random.below(24) as f64),
            5 => {
                let odd = [f64::NAN, f64::INFINITY, -1.0, 1e308, 0.5, 4294967296.0, f64::from_bits(u64::MAX)];
                Datum::number(odd[self.random.below(odd.len())])
            }
            6..9 => Datum::Text(self.text()),
            9 => Datum::bytes(&self.bytes()),
            10 => Datum::record([Datum::Nil]),
            _ => Datum::Object(self.reference()),
        }
    }

    fn reference(&mut self) -> ObjectId {
        match self.random.below(10) {
            0 => self.object,
            1 => ObjectId::minted(ChangeId::new(object::change::ActorId(7), 7)),
            _ => self.template.any(self.random),
        }
    }
}
