//! What the objects of a journal were before it, and what they are after it.

use super::Names;
use crate::journal::Journal;
use image::Flags;
use object::Kind;
use object::change::{Creation, Datum, Draft, Field, ObjectId, Operation};
use std::cell::Cell;
use std::collections::HashMap;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum When {
    Before,
    After,
}

/// Messages that are shown as source, in all: sharing can make endless code out of a few of them.
const CODE_NODES_MOST: usize = 1_000_000;

/// Text that is shown at once: of a diff, or of one change in JSON.
pub const ROOM_BYTES: usize = 64 << 20;
/// What a value costs beside its text.
const VALUE_BYTES: usize = 64;

pub struct View<'v> {
    pub names: &'v dyn Names,
    /// Objects that the journal makes, as they are at its end.
    made: HashMap<ObjectId, Draft>,
    /// The last value of each field of the others.
    fields: HashMap<(ObjectId, Field), Datum>,
    /// Changes that do not fit their object, with the reason.
    pub unfit: Vec<(ObjectId, String)>,
    /// How many messages may still be shown.
    pub code_nodes: Cell<usize>,
    /// How many bytes of text may still be.
    room_bytes: Cell<usize>,
}

impl<'v> View<'v> {
    pub fn new(journal: &Journal, names: &'v dyn Names) -> View<'v> {
        let (made, fields) = (HashMap::default(), HashMap::default());
        let mut view = View {
            names,
            made,
            fields,
            unfit: Vec::new(),
            code_nodes: Cell::new(CODE_NODES_MOST),
            room_bytes: Cell::new(ROOM_BYTES),
        };
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

    /// Whether there is room for a value with so much text.
    pub fn has_room(&self, text_bytes: usize) -> bool {
        let left = self.room_bytes.get().checked_sub(text_bytes.saturating_add(VALUE_BYTES));
        self.room_bytes.set(left.unwrap_or(0));
        left.is_some()
    }

    /// What was said is said: there is room again.
    pub fn make_room(&self) {
        self.room_bytes.set(ROOM_BYTES);
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
