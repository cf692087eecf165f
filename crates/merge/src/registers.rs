//! All registers: found by object, then by field, and kept in one run of memory in the order in which they came.

use crate::ledger::Keyed;
use crate::register::Register;
use indexmap::IndexMap;
use object::change::{Datum, Field, ObjectId};
use std::collections::BTreeMap;

#[derive(Clone)]
pub(crate) struct Registers {
    objects: IndexMap<ObjectId, Fields, Keyed>,
    entries: Vec<Entry>,
}

#[derive(Clone, Default)]
struct Fields {
    places: BTreeMap<Field, usize>,
    /// The number of the merge that last found that its author may know the object.
    known: u64,
}

#[derive(Clone)]
pub(crate) struct Entry {
    pub object: ObjectId,
    pub field: Field,
    pub register: Register<Datum>,
}

/// How much there was at some time.
#[derive(Clone, Copy, Default)]
pub(crate) struct Mark {
    objects: usize,
    entries: usize,
}

impl Registers {
    pub fn new(keyed: Keyed) -> Registers {
        Registers { objects: IndexMap::with_hasher(keyed), entries: Vec::new() }
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn iter(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter()
    }

    pub fn get(&self, object: ObjectId, field: &Field) -> Option<&Register<Datum>> {
        let at = self.objects.get(&object)?.places.get(field)?;
        Some(&self.entries[*at].register)
    }

    /// Where the fields of an object are kept.
    pub fn object(&mut self, object: ObjectId) -> usize {
        match self.objects.get_index_of(&object) {
            Some(at) => at,
            None => self.objects.insert_full(object, Fields::default()).0,
        }
    }

    pub fn is_known(&self, object: usize, order: u64) -> bool {
        self.objects[object].known == order
    }

    pub fn set_known(&mut self, object: usize, order: u64) {
        self.objects[object].known = order;
    }

    pub fn find(&self, object: usize, field: &Field) -> Option<usize> {
        self.objects[object].places.get(field).copied()
    }

    /// A register that is not there yet.
    pub fn add(&mut self, object: usize, field: &Field, register: Register<Datum>) -> usize {
        let at = self.entries.len();
        let Some((id, fields)) = self.objects.get_index_mut(object) else { return at };
        fields.places.insert(field.clone(), at);
        self.entries.push(Entry { object: *id, field: field.clone(), register });
        at
    }

    pub fn at(&mut self, at: usize) -> &mut Entry {
        &mut self.entries[at]
    }

    pub fn mark(&self) -> Mark {
        Mark { objects: self.objects.len(), entries: self.entries.len() }
    }

    /// Forgets all that was added since.
    pub fn truncate(&mut self, mark: Mark) {
        for entry in self.entries.drain(mark.entries..) {
            if let Some(fields) = self.objects.get_mut(&entry.object) {
                fields.places.remove(&entry.field);
            }
        }
        self.objects.truncate(mark.objects);
    }

    pub fn clear(&mut self) {
        self.objects.clear();
        self.entries.clear();
    }

    pub fn retain(&mut self, mut keep: impl FnMut(&mut Register<Datum>) -> bool) {
        let before = self.entries.len();
        self.entries.retain_mut(|entry| keep(&mut entry.register));
        if self.entries.len() == before {
            return;
        }
        self.objects.clear();
        for (at, entry) in self.entries.iter().enumerate() {
            self.objects.entry(entry.object).or_default().places.insert(entry.field.clone(), at);
        }
    }
}
