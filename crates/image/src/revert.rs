//! Taking one commit back, in a new one. Owns what counts as contended: a place that a later commit wrote to stays as it
//! is, and is told.

use crate::error::ImageError;
use crate::image::{Cause, Image};
use object::change::{Change, Datum, Field, Line, ObjectId, Operation};
use rustc_hash::FxHashSet;
use store::Ticket;

/// What a revert did.
pub struct Reverted {
    /// None if there was nothing left to take back.
    pub ticket: Option<Ticket>,
    /// Places that a later commit wrote to, and that were left alone.
    pub contended: Vec<(ObjectId, String)>,
}

/// A part of an object that is written as one.
#[derive(PartialEq, Eq, Hash, Clone)]
enum Part {
    Field(Field),
    Line(Line),
    Count(Datum),
    Member(Datum),
}

fn part_of(operation: &Operation) -> Option<Part> {
    Some(match operation {
        Operation::Put { field, .. } => Part::Field(field.clone()),
        Operation::Insert { line, .. } | Operation::Delete { line, .. } | Operation::Move { line, .. } => {
            Part::Line(*line)
        }
        Operation::Set { .. } => Part::Line(Line::Items),
        Operation::Count { key, .. } => Part::Count(key.clone()),
        Operation::Add { member, .. } | Operation::Remove { member, .. } => Part::Member(member.clone()),
        Operation::Create(_) | Operation::Call { .. } => return None,
    })
}

fn text_of(part: &Part) -> String {
    match part {
        Part::Field(Field::Slot(name)) => format!("slot \"{name}\""),
        Part::Field(Field::Entry(key)) => format!("key {key:?}"),
        Part::Field(Field::Data | Field::Flags) => "content".into(),
        Part::Line(Line::Protos) => "protos".into(),
        Part::Line(_) => "items".into(),
        Part::Count(key) | Part::Member(key) => format!("{key:?}"),
    }
}

impl Image {
    /// Takes back what a commit did, except where later commits wrote to the same place. Objects that it made stay: if
    /// nothing refers to them any more, nobody sees them.
    pub fn revert(&mut self, number: u64, cause: &Cause) -> Result<Reverted, ImageError> {
        let commit = self.store.commit_at(number)?.ok_or(ImageError::NoCommit(number))?;
        let mut later = FxHashSet::default();
        for newer in self.store.history() {
            let newer = newer?;
            if newer.number <= number {
                break;
            }
            let parts = newer.changes.iter().filter_map(|change| Some((change.object, part_of(&change.operation)?)));
            later.extend(parts);
        }
        let (mut changes, mut contended) = (Vec::new(), Vec::new());
        for Change { object, operation, .. } in commit.inverse {
            match part_of(&operation) {
                Some(part) if later.contains(&(object, part.clone())) => contended.push((object, text_of(&part))),
                _ => changes.push((object, operation)),
            }
        }
        contended.dedup();
        let ticket = self.adopt(cause, changes)?;
        Ok(Reverted { ticket, contended })
    }
}
