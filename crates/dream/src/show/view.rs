//! What the objects of a journal were before it, and what they are after it.

use super::Names;
use crate::journal::Journal;
use image::Flags;
use object::Kind;
use object::change::{Creation, Datum, Draft, Field, ObjectId, Operation};
use rustc_hash::FxHashMap;
use std::cell::Cell;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum When {
    Before,
    After,
}

/// Messages that are shown as source, in all: sharing can make endless code out of a few of them.
const CODE_NODES_MOST: usize = 1_000_000;

pub struct View<'v> {
    pub names: &'v dyn Names,
    /// Objects that the journal makes, as they are at its end.
    made: FxHashMap<ObjectId, Draft>,
    /// The last value of each field of the others.
    fields: FxHashMap<(ObjectId, Field), Datum>,
    /// Changes that do not fit their object, with the reason.
    pub unfit: Vec<(ObjectId, String)>,
    /// How many messages may still be shown.
    pub code_nodes: Cell<usize>,
}

impl<'v> View<'v> {
    pub fn new(journal: &Journal, names: &'v dyn Names) -> View<'v> {
        let (made, fields) = (FxHashMap::default(), FxHashMap::default());
        let mut view = View { names, made, fields, unfit: Vec::new(), code_nodes: Cell::new(CODE_NODES_MOST) };
        for change in journal.changes() {
            view.note(change.object, &change.operation);
        }
        view
    }

    fn note(&mut self, object: ObjectId, operation: &Operation) {
        match (self.made.get_mut(&object), operation) {
            (_, Operation::Call { .. }) => {}
            (Some(draft), operation) => {
                if let Err(why) = draft.apply(operation) {
                    self.unfit.push((object, why.to_string()));
                }
            }
            (None, Operation::Create(creation)) => {
                self.made.insert(object, Draft::from((**creation).clone()));
            }
            (None, Operation::Put { field, value }) => {
                self.fields.insert((object, field.clone()), value.clone());
            }
            (None, _) => {}
        }
    }

    pub fn is_made(&self, object: ObjectId) -> bool {
        self.made.contains_key(&object)
    }

    /// A new object as it is at the end.
    pub fn made(&self, object: ObjectId) -> Option<Creation> {
        self.made.get(&object).cloned().map(Creation::from)
    }

    /// None if nobody knows.
    pub fn field(&self, when: When, object: ObjectId, field: &Field) -> Option<Datum> {
        match (when, self.made.get(&object)) {
            (When::Before, Some(_)) => Some(Datum::Absent),
            (When::After, Some(draft)) => Some(draft.field(field)),
            (When::Before, None) => self.names.before(object, field),
            (When::After, None) => match self.fields.get(&(object, field.clone())) {
                Some(value) => Some(value.clone()),
                None => self.names.before(object, field),
            },
        }
    }

    /// What the object's flags say it is; none if they say nothing that is.
    pub fn flags(&self, when: When, object: ObjectId) -> Option<Flags> {
        let number = match self.field(when, object, &Field::Flags)? {
            Datum::Absent => 0,
            Datum::Number(number) => number as u32,
            _ => return None,
        };
        Flags::from_number(number)
    }

    pub fn kind(&self, when: When, object: ObjectId) -> Option<Kind> {
        self.flags(when, object).map(|flags| flags.kind)
    }
}
