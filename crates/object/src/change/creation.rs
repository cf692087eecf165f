//! A new object in one record: what it is, what it inherits and all that it holds.

use super::datum::{Datum, DatumOf, Text};
use super::id::{ChangeId, ObjectId};
use super::operation::{Field, FieldOf, Line, Operation, Run, RunOf};
use smallvec::SmallVec;

/// A new object, or one at rest, with texts of its own.
pub type Creation = CreationOf<Text>;

/// The same with its texts as `T`, as `DatumOf`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CreationOf<T: Ord> {
    /// Which built-in kind, by a number that the language gives.
    pub kind: u32,
    pub flags: u32,
    /// Objects that were there before this one.
    pub protos: Vec<ObjectId>,
    pub slots: Vec<(T, DatumOf<T>)>,
    pub body: BodyOf<T>,
    /// The place in which it is made, for a container that is one and the same whoever makes it there.
    pub under: Option<(ObjectId, FieldOf<T>)>,
}

/// An object at rest as whoever takes it into a heap needs it: its texts are those of the record, and of what most objects
/// have few, nothing is allocated.
#[derive(Default)]
pub struct Resting<'b> {
    pub flags: u32,
    pub protos: SmallVec<[ObjectId; 2]>,
    pub slots: SmallVec<[RestingSlot<'b>; 4]>,
    pub body: BodyOf<&'b [u8]>,
}

/// A slot's name and what it holds.
pub type RestingSlot<'b> = (&'b [u8], DatumOf<&'b [u8]>);

/// What an object holds beside its slots.
pub type Body = BodyOf<Text>;

/// The same with its texts as `T`, as `DatumOf`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum BodyOf<T: Ord> {
    #[default]
    Nothing,
    /// What only the object's language understands.
    Data(DatumOf<T>),
    /// The elements of a list or of a mutable sequence.
    Elements(RunOf<T>),
    Map(Vec<(DatumOf<T>, DatumOf<T>)>),
    Counters(Vec<(DatumOf<T>, i64)>),
    /// The members of a set or bag, and how often each is in it.
    Members(Vec<(DatumOf<T>, u64)>),
}

/// What an object has room for beside its slots. It never changes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Form {
    /// Nothing, or data.
    Plain,
    Items,
    Units,
    Map,
    Counters,
    Members,
}

impl Body {
    pub const fn form(&self) -> Form {
        match self {
            Body::Nothing | Body::Data(_) => Form::Plain,
            Body::Elements(Run::Items(_)) => Form::Items,
            Body::Elements(Run::Units { .. }) => Form::Units,
            Body::Map(_) => Form::Map,
            Body::Counters(_) => Form::Counters,
            Body::Members(_) => Form::Members,
        }
    }
}

impl<T: Ord + AsRef<[u8]>> CreationOf<T> {
    /// Which object the change of this id makes.
    pub fn object(&self, change: ChangeId) -> ObjectId {
        match &self.under {
            None => ObjectId::minted(change),
            Some((parent, field)) => ObjectId::derived(*parent, field, self.kind, &self.protos),
        }
    }
}

impl Creation {
    pub fn references(&self, visit: &mut dyn FnMut(ObjectId)) {
        self.protos.iter().for_each(|proto| visit(*proto));
        self.slots.iter().for_each(|(_, value)| value.references(visit));
        match &self.body {
            Body::Nothing | Body::Elements(Run::Units { .. }) => {}
            Body::Data(data) => data.references(visit),
            Body::Elements(Run::Items(items)) => items.iter().for_each(|item| item.references(visit)),
            Body::Map(entries) => entries.iter().for_each(|(key, value)| {
                key.references(visit);
                value.references(visit);
            }),
            Body::Counters(counters) => counters.iter().for_each(|(key, _)| key.references(visit)),
            Body::Members(members) => members.iter().for_each(|(member, _)| member.references(visit)),
        }
        if let Some((parent, field)) = &self.under {
            visit(*parent);
            if let Field::Entry(key) = field {
                key.references(visit);
            }
        }
    }

    /// What the new object has in a field.
    pub fn field(&self, field: &Field) -> Datum {
        let found = match (field, &self.body) {
            (Field::Slot(name), _) => self.slots.iter().rfind(|(other, _)| other == name).map(|(_, value)| value),
            (Field::Entry(key), Body::Map(entries)) => {
                entries.iter().rfind(|(other, _)| other == key).map(|(_, value)| value)
            }
            (Field::Data, Body::Data(data)) => Some(data),
            (Field::Flags, _) if self.flags != 0 => return Datum::number(f64::from(self.flags)),
            _ => None,
        };
        found.cloned().unwrap_or_default()
    }

    /// What the new object has in a line.
    pub fn run(&self, line: Line) -> Run {
        match (line, &self.body) {
            (Line::Protos, _) => Run::items(self.protos.iter().map(|proto| Datum::Object(*proto))),
            (Line::Items, Body::Elements(run @ Run::Items(_)))
            | (Line::Units, Body::Elements(run @ Run::Units { .. })) => run.clone(),
            (Line::Items, _) => Run::items([]),
            (Line::Units, _) => Run::bytes(&[]),
        }
    }

    /// How often the new set or bag has a member.
    pub fn occurrences(&self, member: &Datum) -> u64 {
        let Body::Members(members) = &self.body else { return 0 };
        members.iter().filter(|(other, _)| other == member).map(|(_, count)| *count).fold(0, u64::saturating_add)
    }

    /// The same object before anything was put into it.
    pub fn shell(&self) -> Creation {
        let body = match &self.body {
            Body::Nothing | Body::Data(_) => Body::Nothing,
            Body::Elements(Run::Items(_)) => Body::Elements(Run::items([])),
            Body::Elements(Run::Units { width, .. }) => Body::Elements(Run::Units { width: *width, bytes: [].into() }),
            Body::Map(_) => Body::Map(Vec::new()),
            Body::Counters(_) => Body::Counters(Vec::new()),
            Body::Members(_) => Body::Members(Vec::new()),
        };
        Creation {
            flags: 0,
            slots: Vec::new(),
            body,
            protos: self.protos.clone(),
            under: self.under.clone(),
            kind: self.kind,
        }
    }

    /// What fills the shell, step by step.
    pub fn steps(&self) -> Vec<Operation> {
        let put = |field, value: &Datum| Operation::Put { field, value: value.clone() };
        let mut steps: Vec<Operation> =
            self.slots.iter().map(|(name, value)| put(Field::Slot(name.clone()), value)).collect();
        if self.flags != 0 {
            steps.push(put(Field::Flags, &Datum::number(f64::from(self.flags))));
        }
        match &self.body {
            Body::Nothing => {}
            Body::Data(data) => steps.push(put(Field::Data, data)),
            Body::Elements(run) => {
                let line = if matches!(run, Run::Items(_)) { Line::Items } else { Line::Units };
                steps.push(Operation::Insert { line, index: 0, run: run.clone() });
            }
            Body::Map(entries) => {
                steps.extend(entries.iter().map(|(key, value)| put(Field::Entry(key.clone()), value)));
            }
            Body::Counters(counters) => {
                steps.extend(counters.iter().map(|(key, delta)| Operation::Count { key: key.clone(), delta: *delta }));
            }
            Body::Members(members) => {
                steps.extend(
                    members.iter().map(|(member, count)| Operation::Add { member: member.clone(), count: *count }),
                );
            }
        }
        steps
    }
}
