//! An object at rest while changes are applied to it. Owns what each operation does to the state of one object, and what
//! would take it back; the object is taken apart once, however many changes there are.
//!
//! What an operation asks for and the object does not have is an error, never a panic: changes come from files.
//!
//! **Taking back** restores every value. It does not restore the order of slots and keys: one that was removed and comes
//! back is the last.

use super::creation::{Body, Creation};
use super::datum::{Datum, Text};
use super::error::ChangeError;
use super::id::ObjectId;
use super::operation::{Field, Line, Operation, Run};
use super::table::Table;
use std::collections::{BTreeSet, VecDeque};

/// A creation, taken apart.
#[derive(Clone, Debug)]
pub struct Draft {
    kind: u32,
    pub(super) flags: u32,
    pub(super) protos: Vec<ObjectId>,
    pub(super) slots: Table<Text, Datum>,
    pub(super) body: Content,
    under: Option<(ObjectId, Field)>,
}

#[derive(Clone, Debug)]
pub(super) enum Content {
    Nothing,
    Data(Datum),
    /// With room at both ends, where most lists are changed.
    Items(VecDeque<Datum>),
    Units {
        width: u8,
        bytes: Vec<u8>,
    },
    Map(Table<Datum, Datum>),
    Counters(Table<Datum, i64>),
    Members(Table<Datum, u64>),
}

impl From<Creation> for Draft {
    fn from(creation: Creation) -> Draft {
        let body = match creation.body {
            Body::Nothing => Content::Nothing,
            Body::Data(data) => Content::Data(data),
            Body::Elements(Run::Items(items)) => Content::Items(items.iter().cloned().collect()),
            Body::Elements(Run::Units { width, bytes }) => Content::Units { width, bytes: bytes.to_vec() },
            Body::Map(entries) => Content::Map(Table::new(entries)),
            Body::Counters(counters) => Content::Counters(Table::new(counters)),
            Body::Members(members) => Content::Members(Table::new(members)),
        };
        let Creation { kind, flags, protos, slots, under, .. } = creation;
        Draft { kind, flags, protos, slots: Table::new(slots), body, under }
    }
}

impl From<Draft> for Creation {
    fn from(draft: Draft) -> Creation {
        let body = match draft.body {
            Content::Nothing => Body::Nothing,
            Content::Data(data) => Body::Data(data),
            Content::Items(items) => Body::Elements(Run::items(items)),
            Content::Units { width, bytes } => Body::Elements(Run::Units { width, bytes: bytes.into() }),
            Content::Map(entries) => Body::Map(entries.into_pairs()),
            Content::Counters(counters) => Body::Counters(counters.into_pairs()),
            Content::Members(members) => Body::Members(members.into_pairs()),
        };
        let Draft { kind, flags, protos, slots, under, .. } = draft;
        Creation { kind, flags, protos, slots: slots.into_pairs(), body, under }
    }
}

impl Draft {
    /// How many things it holds: what copying it takes.
    pub fn element_count(&self) -> usize {
        let body = match &self.body {
            Content::Nothing | Content::Data(_) => 0,
            Content::Items(items) => items.len(),
            Content::Units { bytes, .. } => bytes.len(),
            Content::Map(entries) => entries.room(),
            Content::Counters(counters) => counters.room(),
            Content::Members(members) => members.room(),
        };
        self.protos.len() + self.slots.room() + body
    }

    /// Applies one operation and returns the one that takes it back; none for a call to the outside, which cannot be
    /// taken back. After an error the object is as it was.
    pub fn apply(&mut self, operation: &Operation) -> Result<Option<Operation>, ChangeError> {
        match operation {
            Operation::Create(_) => Err(ChangeError::Existing),
            Operation::Put { field, value } => self.put(field, value.clone()).map(Some),
            Operation::Insert { line, index, run } => self.on_line(*line, |draft| draft.insert(*line, *index, run)),
            Operation::Delete { line, index, count } => {
                self.on_line(*line, |draft| draft.delete(*line, *index, *count))
            }
            Operation::Move { line, from, to } => self.on_line(*line, |draft| draft.shift(*line, *from, *to)),
            Operation::Set { index, value } => self.on_line(Line::Items, |draft| draft.set(*index, value.clone())),
            Operation::Count { key, delta } => self.count(key, *delta).map(Some),
            Operation::Add { member, count } => self.add(member, *count).map(Some),
            Operation::Remove { member, count } => self.remove(member, *count).map(Some),
            Operation::Call { .. } => Ok(None),
        }
    }

    /// Does something to a line of a body that may have come as one datum.
    fn on_line(
        &mut self,
        line: Line,
        edit: impl FnOnce(&mut Draft) -> Result<Operation, ChangeError>,
    ) -> Result<Option<Operation>, ChangeError> {
        let before = self.body.take_for(line);
        let result = edit(self);
        if let (Err(_), Some(before)) = (&result, before) {
            self.body = before;
        }
        result.map(Some)
    }

    fn put(&mut self, field: &Field, value: Datum) -> Result<Operation, ChangeError> {
        let before = match (field, &mut self.body) {
            (Field::Slot(name), _) => exchange(&mut self.slots, name, value),
            (Field::Entry(key), body) => exchange(body.entries()?, key, value),
            (Field::Flags, _) => {
                let flags = flags_of(&value)?;
                flags_datum(std::mem::replace(&mut self.flags, flags))
            }
            (Field::Data, Content::Counters(_) | Content::Members(_)) => return Err(ChangeError::Mismatch("data")),
            (Field::Data, body) => {
                let after = if value.is_absent() { Content::Nothing } else { Content::Data(value) };
                std::mem::replace(body, after).into_datum()
            }
        };
        Ok(Operation::Put { field: field.clone(), value: before })
    }

    fn insert(&mut self, line: Line, index: u64, run: &Run) -> Result<Operation, ChangeError> {
        let at = position(index, self.length(line)?)?;
        match (line, run, &mut self.body) {
            (Line::Protos, Run::Items(items), _) => {
                let protos: Vec<ObjectId> = items.iter().map(proto_of).collect::<Result<_, _>>()?;
                self.protos.splice(at..at, protos);
            }
            (Line::Items, Run::Items(items), Content::Items(elements)) => insert_items(elements, at, items),
            (Line::Units, Run::Units { width, bytes }, Content::Units { width: own, bytes: elements }) => {
                if *width != *own && !elements.is_empty() {
                    return Err(ChangeError::Mismatch("units of another width"));
                }
                *own = *width;
                let at = at * usize::from(*width);
                elements.splice(at..at, bytes.iter().copied());
            }
            _ => return Err(mismatch(line)),
        }
        Ok(Operation::Delete { line, index, count: run.len() as u64 })
    }

    fn delete(&mut self, line: Line, index: u64, count: u64) -> Result<Operation, ChangeError> {
        let length = self.length(line)?;
        let end = index.checked_add(count).ok_or(ChangeError::Position { index, length: length as u64 })?;
        let (at, end) = (position(index, length)?, position(end, length)?);
        let run = match (line, &mut self.body) {
            (Line::Protos, _) => Run::items(self.protos.drain(at..end).map(Datum::Object)),
            (Line::Items, Content::Items(elements)) => Run::items(elements.drain(at..end)),
            (Line::Units, Content::Units { width, bytes }) => {
                let range = at * usize::from(*width)..end * usize::from(*width);
                Run::Units { width: *width, bytes: bytes.drain(range).collect() }
            }
            _ => return Err(mismatch(line)),
        };
        Ok(Operation::Insert { line, index, run })
    }

    fn shift(&mut self, line: Line, from: u64, to: u64) -> Result<Operation, ChangeError> {
        let length = self.length(line)?;
        let last = length.checked_sub(1).ok_or(ChangeError::Position { index: from, length: 0 })?;
        let (source, target) = (position(from, last)?, position(to, last)?);
        match (line, &mut self.body) {
            (Line::Protos, _) => {
                let proto = self.protos.remove(source);
                self.protos.insert(target, proto);
            }
            (Line::Items, Content::Items(elements)) => {
                let element = elements.remove(source).ok_or(ChangeError::Position { index: from, length: 0 })?;
                elements.insert(target, element);
            }
            (Line::Units, Content::Units { width, bytes }) => {
                let width = usize::from(*width);
                let unit: Vec<u8> = bytes.drain(source * width..(source + 1) * width).collect();
                bytes.splice(target * width..target * width, unit);
            }
            _ => return Err(mismatch(line)),
        }
        Ok(Operation::Move { line, from: to, to: from })
    }

    fn set(&mut self, index: u64, value: Datum) -> Result<Operation, ChangeError> {
        let Content::Items(elements) = &mut self.body else { return Err(mismatch(Line::Items)) };
        let length = elements.len() as u64;
        let place = usize::try_from(index).ok().and_then(|at| elements.get_mut(at));
        let place = place.ok_or(ChangeError::Position { index, length })?;
        Ok(Operation::Set { index, value: std::mem::replace(place, value) })
    }

    /// A counter at nought is none.
    fn count(&mut self, key: &Datum, delta: i64) -> Result<Operation, ChangeError> {
        let Content::Counters(counters) = &mut self.body else { return Err(ChangeError::Mismatch("a counter")) };
        match counters.get(key).copied().unwrap_or(0).wrapping_add(delta) {
            0 => counters.remove(key),
            sum => counters.put(key.clone(), sum),
        };
        Ok(Operation::Count { key: key.clone(), delta: delta.wrapping_neg() })
    }

    fn add(&mut self, member: &Datum, count: u64) -> Result<Operation, ChangeError> {
        let Content::Members(members) = &mut self.body else { return Err(ChangeError::Mismatch("a member")) };
        let before = members.get(member).copied().unwrap_or(0);
        let sum = before.checked_add(count).ok_or(ChangeError::Mismatch("as many members"))?;
        if sum > 0 {
            members.put(member.clone(), sum);
        }
        Ok(Operation::Remove { member: member.clone(), count })
    }

    /// Takes out at most as many as there are.
    fn remove(&mut self, member: &Datum, count: u64) -> Result<Operation, ChangeError> {
        let Content::Members(members) = &mut self.body else { return Err(ChangeError::Mismatch("a member")) };
        let before = members.get(member).copied().unwrap_or(0);
        let taken = count.min(before);
        if taken == before {
            members.remove(member);
        } else {
            members.put(member.clone(), before - taken);
        }
        Ok(Operation::Add { member: member.clone(), count: taken })
    }

    pub(super) fn length(&self, line: Line) -> Result<usize, ChangeError> {
        match (line, &self.body) {
            (Line::Protos, _) => Ok(self.protos.len()),
            (Line::Items, Content::Items(elements)) => Ok(elements.len()),
            (Line::Units, Content::Units { width, bytes }) => Ok(bytes.len() / usize::from(*width).max(1)),
            _ => Err(mismatch(line)),
        }
    }
}

impl Content {
    /// An object that becomes one of another kind gets its new content as one datum: this is its form, and what it is
    /// taken for by the first operation on a part of it.
    fn into_datum(self) -> Datum {
        match self {
            Content::Nothing | Content::Counters(_) | Content::Members(_) => Datum::Absent,
            Content::Data(data) => data,
            Content::Items(items) => Datum::record(items),
            Content::Units { width, bytes } => Datum::bytes(&[&[width], bytes.as_slice()].concat()),
            Content::Map(entries) => {
                let pairs = entries.into_pairs().into_iter().filter(|(_, value)| !value.is_absent());
                Datum::record(pairs.flat_map(|(key, value)| [key, value]))
            }
        }
    }

    /// Returns what it was before, if it is something else now.
    fn take_for(&mut self, line: Line) -> Option<Content> {
        let taken = match (line, &*self) {
            (Line::Items, Content::Nothing) => Content::Items(VecDeque::new()),
            (Line::Items, Content::Data(Datum::Record(fields))) => Content::Items(fields.iter().cloned().collect()),
            (Line::Units, Content::Nothing) => Content::Units { width: 1, bytes: Vec::new() },
            (Line::Units, Content::Data(Datum::Bytes(bytes))) => match bytes.split_first() {
                Some((&width @ 1.., bytes)) => Content::Units { width, bytes: bytes.to_vec() },
                _ => return None,
            },
            _ => return None,
        };
        Some(std::mem::replace(self, taken))
    }

    fn entries(&mut self) -> Result<&mut Table<Datum, Datum>, ChangeError> {
        match &*self {
            Content::Nothing => *self = Content::Map(Table::new(Vec::new())),
            Content::Data(Datum::Record(fields)) => {
                let pairs: Vec<(Datum, Datum)> =
                    fields.chunks_exact(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect();
                let keys: BTreeSet<&Datum> = pairs.iter().map(|(key, _)| key).collect();
                let is_map = fields.len() == keys.len() * 2 && pairs.iter().all(|(_, value)| !value.is_absent());
                if !is_map {
                    return Err(ChangeError::Mismatch("a key"));
                }
                *self = Content::Map(Table::new(pairs));
            }
            _ => {}
        }
        match self {
            Content::Map(entries) => Ok(entries),
            _ => Err(ChangeError::Mismatch("a key")),
        }
    }
}

/// Puts a value, or removes the key if it is `Absent`; returns what was there.
fn exchange<K: std::hash::Hash + Eq + Clone>(table: &mut Table<K, Datum>, key: &K, value: Datum) -> Datum {
    let before = if value.is_absent() { table.remove(key) } else { table.put(key.clone(), value) };
    before.unwrap_or_default()
}

/// At the ends without moving what is there; in the middle with one move, however long the run.
fn insert_items(elements: &mut VecDeque<Datum>, at: usize, items: &[Datum]) {
    if let [item] = items {
        elements.insert(at, item.clone());
    } else if at == 0 {
        items.iter().rev().for_each(|item| elements.push_front(item.clone()));
    } else {
        let tail = elements.split_off(at);
        elements.extend(items.iter().cloned());
        elements.extend(tail);
    }
}

fn position(index: u64, length: usize) -> Result<usize, ChangeError> {
    let at = usize::try_from(index).ok().filter(|at| *at <= length);
    at.ok_or(ChangeError::Position { index, length: length as u64 })
}

fn proto_of(datum: &Datum) -> Result<ObjectId, ChangeError> {
    if let Datum::Object(object) = datum {
        Ok(*object)
    } else {
        Err(ChangeError::Mismatch("a proto that is no object"))
    }
}

fn mismatch(line: Line) -> ChangeError {
    ChangeError::Mismatch(match line {
        Line::Protos => "protos of this form",
        Line::Items => "items",
        Line::Units => "units",
    })
}

pub(super) fn flags_of(value: &Datum) -> Result<u32, ChangeError> {
    match value {
        Datum::Absent => Ok(0),
        Datum::Number(number) if f64::from(*number as u32).to_bits() == number.to_bits() => Ok(*number as u32),
        _ => Err(ChangeError::Mismatch("flags that are no whole number")),
    }
}

pub(super) fn flags_datum(flags: u32) -> Datum {
    if flags == 0 { Datum::Absent } else { Datum::number(f64::from(flags)) }
}
