//! A conflict decided by somebody: the value is put in its place and the record says so, in one commit.

use crate::error::ImageError;
use crate::image::{Cause, Image};
use crate::landmarks::{slot, slot_object};
use object::change::{Body, Creation, Datum, Field, ObjectId, Operation, Run};
use store::Ticket;

/// What is to be shown.
#[derive(Clone, PartialEq, Debug)]
pub enum Choice {
    /// The value of one of the sides, counted from 0, the strongest first.
    Sibling(usize),
    /// A value: a number, a text, an object of the image. `Absent` removes the slot.
    Value(Datum),
    /// What is there now, whatever wrote it.
    Keep,
}

impl Image {
    /// Decides an open conflict of `Telos conflicts`. A later write does not: until this is called, its record stays open.
    pub fn resolve_conflict(
        &mut self,
        conflict: ObjectId,
        choice: &Choice,
        cause: &Cause,
    ) -> Result<Option<Ticket>, ImageError> {
        let record = self.store.read(conflict)?.ok_or_else(|| refused(format!("there is no object {conflict}")))?;
        match slot(&record, "status") {
            Some(Datum::Text(status)) if status.as_bytes() == b"open" => {}
            Some(Datum::Text(status)) => return Err(refused(format!("it is {status}"))),
            _ => return Err(refused(format!("object {conflict} is none"))),
        }
        let object = slot_object(&record, "object").ok_or_else(|| refused("it names no object".into()))?;
        let value = self.chosen(&record, choice)?;
        let mut changes = Vec::new();
        if let Some(value) = &value {
            changes.push((object, self.put(object, &record, value)?));
        }
        changes.push((conflict, Operation::set_slot("status", "resolved")));
        let shown = value.filter(|value| !matches!(value, Datum::Absent | Datum::Bytes(_) | Datum::Record(_)));
        changes.extend(shown.map(|value| (conflict, Operation::set_slot("resolution", value))));
        self.adopt(cause, changes)
    }

    /// What the place of a conflict holds now, if that is not what its record shows: somebody wrote there since.
    pub fn written_since(&self, conflict: ObjectId) -> Result<Option<Datum>, ImageError> {
        let Some(record) = self.store.read(conflict)? else { return Ok(None) };
        let (Some(object), Some(field)) = (slot_object(&record, "object"), field_of(&record)) else { return Ok(None) };
        let now = self.store.read(object)?.map_or(Datum::Absent, |object| object.field(&field));
        let shown = self.value_in(&record, &record, ("shown", "isShownAbsent"))?;
        Ok((now != shown).then_some(now))
    }

    /// None to leave all as it is.
    fn chosen(&self, record: &Creation, choice: &Choice) -> Result<Option<Datum>, ImageError> {
        let Choice::Sibling(which) = choice else {
            return Ok(if let Choice::Value(value) = choice { Some(value.clone()) } else { None });
        };
        let siblings = slot_object(record, "siblings").map(|id| self.store.read(id)).transpose()?.flatten();
        let sibling = siblings.and_then(|siblings| match siblings.body {
            Body::Elements(Run::Items(items)) => items.get(*which).cloned(),
            _ => None,
        });
        let Some(Datum::Object(sibling)) = sibling else { return Err(refused(format!("it has no side {which}"))) };
        let sibling = self.store.read(sibling)?.ok_or_else(|| refused(format!("side {which} is gone")))?;
        self.value_in(record, &sibling, ("value", "isAbsent")).map(Some)
    }

    /// A value that was written down about a conflict, and a slot that says whether there was none.
    fn value_in(
        &self,
        record: &Creation,
        holder: &Creation,
        (name, absent): (&str, &str),
    ) -> Result<Datum, ImageError> {
        let is_absent = matches!(slot(holder, absent), Some(Datum::Boolean(true)));
        Ok(match slot(holder, name).cloned().unwrap_or_default() {
            _ if is_absent => Datum::Absent,
            Datum::Object(held) if part_of(record) == Some("content") => {
                match self.store.read(held)?.map(|held| held.body) {
                    Some(Body::Data(data)) => data,
                    _ => Datum::Absent,
                }
            }
            value => value,
        })
    }

    fn put(&self, object: ObjectId, record: &Creation, value: &Datum) -> Result<Operation, ImageError> {
        if let (Some("item"), Some(Datum::Number(index))) = (part_of(record), slot(record, "key")) {
            return self.set_item(object, *index as u64, record, value);
        }
        let field = field_of(record).ok_or_else(|| refused("it names no place".into()))?;
        Ok(Operation::Put { field, value: value.clone() })
    }

    /// An item is known by its index only as long as it holds what the record says.
    fn set_item(
        &self,
        object: ObjectId,
        index: u64,
        record: &Creation,
        value: &Datum,
    ) -> Result<Operation, ImageError> {
        let held = self.store.read(object)?.and_then(|list| match list.body {
            Body::Elements(Run::Items(items)) => items.get(index as usize).cloned(),
            _ => None,
        });
        match held.as_ref() == slot(record, "shown") && !value.is_absent() {
            true => Ok(Operation::Set { index, value: value.clone() }),
            false => Err(refused(format!("item {index} is not where it was"))),
        }
    }
}

/// The place that a conflict is about, if that is a field.
fn field_of(record: &Creation) -> Option<Field> {
    match (part_of(record)?, slot(record, "key")) {
        ("slot", Some(Datum::Text(name))) => Some(Field::Slot(name.clone())),
        ("key", Some(key)) => Some(Field::Entry(key.clone())),
        ("content", _) => Some(Field::Data),
        ("flags", _) => Some(Field::Flags),
        _ => None,
    }
}

fn part_of(record: &Creation) -> Option<&str> {
    let Some(Datum::Text(part)) = slot(record, "part") else { return None };
    std::str::from_utf8(part.as_bytes()).ok()
}

fn refused(why: String) -> ImageError {
    ImageError::NotResolved(why)
}
