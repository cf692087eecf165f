//! Of an object at rest just what decides whether an operation fits it: how many protos and elements it has, and what its
//! content is. Made without a look at the elements, so that a list of a million items is asked as fast as an empty one.
//!
//! It says the same as a `Draft`; a property test compares both.

use super::creation::{Body, Creation};
use super::datum::Datum;
use super::draft::flags_of;
use super::error::ChangeError;
use super::operation::{Field, Line, Operation, Run};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Debug)]
pub struct Outline {
    protos: u64,
    content: Content,
}

#[derive(Clone, Debug)]
pub(super) enum Content {
    Nothing,
    Data(Datum),
    Items(u64),
    Units {
        width: u8,
        bytes: u64,
    },
    Map,
    Counters,
    /// How often each is in it: no count may grow beyond all bounds.
    Members(BTreeMap<Datum, u64>),
}

impl From<&Creation> for Outline {
    fn from(creation: &Creation) -> Outline {
        let content = match &creation.body {
            Body::Nothing => Content::Nothing,
            Body::Data(data) => Content::Data(data.clone()),
            Body::Elements(Run::Items(items)) => Content::Items(items.len() as u64),
            Body::Elements(Run::Units { width, bytes }) => Content::Units { width: *width, bytes: bytes.len() as u64 },
            Body::Map(_) => Content::Map,
            Body::Counters(_) => Content::Counters,
            Body::Members(members) => Content::Members(members.iter().cloned().collect()),
        };
        Outline::new(creation.protos.len(), content)
    }
}

impl Outline {
    pub(super) fn new(protos: usize, content: Content) -> Outline {
        Outline { protos: protos as u64, content }
    }

    /// Whether it takes little memory, whatever the object is.
    pub fn is_short(&self) -> bool {
        match &self.content {
            Content::Data(datum) => !matches!(datum, Datum::Text(_) | Datum::Bytes(_) | Datum::Record(_)),
            Content::Members(_) => false,
            Content::Nothing | Content::Items(_) | Content::Units { .. } | Content::Map | Content::Counters => true,
        }
    }

    /// What the object is after the operation; an error if it does not fit, and then it is as it was.
    pub fn apply(&mut self, operation: &Operation) -> Result<(), ChangeError> {
        match operation {
            Operation::Create(_) => Err(ChangeError::Existing),
            Operation::Call { .. } | Operation::Put { field: Field::Slot(_), .. } => Ok(()),
            Operation::Put { field: Field::Flags, value } => flags_of(value).map(drop),
            Operation::Put { field: Field::Entry(_), .. } => self.put_entry(),
            Operation::Put { field: Field::Data, value } => self.put_data(value),
            Operation::Insert { line, index, run } => self.insert(*line, *index, run),
            Operation::Delete { line, index, count } => self.delete(*line, *index, *count),
            Operation::Move { line, from, to } => self.shift(*line, *from, *to),
            Operation::Set { index, .. } => self.set(*index),
            Operation::Count { .. } if matches!(self.content, Content::Counters) => Ok(()),
            Operation::Count { .. } => Err(ChangeError::Mismatch("a counter")),
            Operation::Add { member, count } => self.recount(member, |before| before.checked_add(*count)),
            Operation::Remove { member, count } => self.recount(member, |before| Some(before.saturating_sub(*count))),
        }
    }

    fn put_entry(&mut self) -> Result<(), ChangeError> {
        let is_map = match &self.content {
            Content::Map | Content::Nothing => true,
            Content::Data(Datum::Record(fields)) => are_pairs(fields),
            _ => false,
        };
        if !is_map {
            return Err(ChangeError::Mismatch("a key"));
        }
        self.content = Content::Map;
        Ok(())
    }

    fn put_data(&mut self, value: &Datum) -> Result<(), ChangeError> {
        if matches!(self.content, Content::Counters | Content::Members(_)) {
            return Err(ChangeError::Mismatch("data"));
        }
        self.content = if value.is_absent() { Content::Nothing } else { Content::Data(value.clone()) };
        Ok(())
    }

    fn insert(&mut self, line: Line, index: u64, run: &Run) -> Result<(), ChangeError> {
        let (taken, length) = self.line(line)?;
        within(index, length)?;
        let count = run.len() as u64;
        match (line, run, taken) {
            (Line::Protos, Run::Items(items), _) if items.iter().all(|item| matches!(item, Datum::Object(_))) => {
                self.protos += count;
            }
            (Line::Items, Run::Items(_), Content::Items(_)) => self.content = Content::Items(length + count),
            (Line::Units, Run::Units { width, bytes: more }, Content::Units { width: own, bytes }) => {
                if *width != own && bytes > 0 {
                    return Err(ChangeError::Mismatch("units of another width"));
                }
                self.content = Content::Units { width: *width, bytes: bytes + more.len() as u64 };
            }
            _ => return Err(ChangeError::Mismatch("a run of this form")),
        }
        Ok(())
    }

    fn delete(&mut self, line: Line, index: u64, count: u64) -> Result<(), ChangeError> {
        let (taken, length) = self.line(line)?;
        let end = index.checked_add(count).ok_or(ChangeError::Position { index, length })?;
        within(index, length)?;
        within(end, length)?;
        match (line, taken) {
            (Line::Protos, _) => self.protos -= count,
            (_, Content::Items(items)) => self.content = Content::Items(items - count),
            (_, Content::Units { width, bytes }) => {
                self.content = Content::Units { width, bytes: bytes - count * u64::from(width) };
            }
            _ => {}
        }
        Ok(())
    }

    fn shift(&mut self, line: Line, from: u64, to: u64) -> Result<(), ChangeError> {
        let (taken, length) = self.line(line)?;
        let last = length.checked_sub(1).ok_or(ChangeError::Position { index: from, length: 0 })?;
        within(from, last)?;
        within(to, last)?;
        if line != Line::Protos {
            self.content = taken;
        }
        Ok(())
    }

    fn set(&mut self, index: u64) -> Result<(), ChangeError> {
        let (taken, length) = self.line(Line::Items)?;
        if index >= length {
            return Err(ChangeError::Position { index, length });
        }
        self.content = taken;
        Ok(())
    }

    fn recount(&mut self, member: &Datum, count: impl FnOnce(u64) -> Option<u64>) -> Result<(), ChangeError> {
        let Content::Members(members) = &mut self.content else { return Err(ChangeError::Mismatch("a member")) };
        let before = members.get(member).copied().unwrap_or(0);
        let after = count(before).ok_or(ChangeError::Mismatch("as many members"))?;
        members.insert(member.clone(), after);
        Ok(())
    }

    /// What the content is taken for by an operation on a part of it, and how long the line is then.
    fn line(&self, line: Line) -> Result<(Content, u64), ChangeError> {
        let taken = match (line, &self.content) {
            (Line::Protos, _) => return Ok((Content::Map, self.protos)),
            (Line::Items, Content::Nothing) => Content::Items(0),
            (Line::Items, Content::Data(Datum::Record(fields))) => Content::Items(fields.len() as u64),
            (Line::Units, Content::Nothing) => Content::Units { width: 1, bytes: 0 },
            (Line::Units, Content::Data(Datum::Bytes(bytes))) => match bytes.split_first() {
                Some((&width @ 1.., bytes)) => Content::Units { width, bytes: bytes.len() as u64 },
                _ => return Err(ChangeError::Mismatch("units")),
            },
            (_, content) => content.clone(),
        };
        match (line, &taken) {
            (Line::Items, Content::Items(items)) => Ok((taken.clone(), *items)),
            (Line::Units, Content::Units { width, bytes }) => Ok((taken.clone(), bytes / u64::from(*width).max(1))),
            (Line::Items, _) => Err(ChangeError::Mismatch("items")),
            _ => Err(ChangeError::Mismatch("units")),
        }
    }
}

fn within(index: u64, length: u64) -> Result<(), ChangeError> {
    if index <= length { Ok(()) } else { Err(ChangeError::Position { index, length }) }
}

/// Whether these are keys and values in turn, each key once.
fn are_pairs(fields: &[Datum]) -> bool {
    let keys: BTreeSet<&Datum> = fields.iter().step_by(2).collect();
    fields.len() == keys.len() * 2 && fields.iter().skip(1).step_by(2).all(|value| !value.is_absent())
}
