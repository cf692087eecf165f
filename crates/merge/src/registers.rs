//! All registers: found by object, then by field, and kept in the order in which they came, in pieces that never move.

use crate::ledger::Keyed;
use crate::register::Register;
use indexmap::IndexMap;
use object::change::{Datum, Field, ObjectId};
use std::collections::BTreeMap;

#[derive(Clone)]
pub(crate) struct Registers {
    objects: IndexMap<ObjectId, Fields, Keyed>,
    /// Where the object was that was asked for last, and mostly is again.
    last: usize,
    /// Each but the last is full.
    pieces: Vec<Vec<Entry>>,
}

/// Entries in a piece: growing must not copy all that is there.
const PIECE: usize = 256;

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
        Registers { objects: IndexMap::with_hasher(keyed), last: 0, pieces: Vec::new() }
    }

    pub fn len(&self) -> usize {
        self.pieces.last().map_or(0, |last| (self.pieces.len() - 1) * PIECE + last.len())
    }

    pub fn iter(&self) -> impl Iterator<Item = &Entry> {
        self.pieces.iter().flatten()
    }

    pub fn get(&self, object: ObjectId, field: &Field) -> Option<&Register<Datum>> {
        let at = self.objects.get(&object)?.places.get(field)?;
        Some(&self.pieces[*at / PIECE][*at % PIECE].register)
    }

    /// Where the fields of an object are kept.
    pub fn object(&mut self, object: ObjectId) -> usize {
        if self.objects.get_index(self.last).is_none_or(|(last, _)| *last != object) {
            self.last = match self.objects.get_index_of(&object) {
                Some(at) => at,
                None => self.objects.insert_full(object, Fields::default()).0,
            };
        }
        self.last
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
        let at = self.len();
        let Some((id, fields)) = self.objects.get_index_mut(object) else { return at };
        fields.places.insert(field.clone(), at);
        let entry = Entry { object: *id, field: field.clone(), register };
        self.push(entry);
        at
    }

    fn push(&mut self, entry: Entry) {
        match self.pieces.last_mut().filter(|last| last.len() < PIECE) {
            Some(last) => last.push(entry),
            None => {
                let mut piece = Vec::with_capacity(PIECE);
                piece.push(entry);
                self.pieces.push(piece);
            }
        }
    }

    pub fn at(&mut self, at: usize) -> &mut Entry {
        &mut self.pieces[at / PIECE][at % PIECE]
    }

    pub fn mark(&self) -> Mark {
        Mark { objects: self.objects.len(), entries: self.len() }
    }

    /// Forgets all that was added since.
    pub fn truncate(&mut self, mark: Mark) {
        while self.len() > mark.entries {
            let Some(entry) = self.pieces.last_mut().and_then(Vec::pop) else { break };
            if let Some(fields) = self.objects.get_mut(&entry.object) {
                fields.places.remove(&entry.field);
            }
            self.pieces.pop_if(|last| last.is_empty());
        }
        self.objects.truncate(mark.objects);
    }

    pub fn clear(&mut self) {
        self.objects.clear();
        self.pieces.clear();
    }

    pub fn retain(&mut self, mut keep: impl FnMut(&mut Register<Datum>) -> bool) {
        let before = self.len();
        let kept = |mut entry: Entry| keep(&mut entry.register).then_some(entry);
        let entries: Vec<Entry> = std::mem::take(&mut self.pieces).into_iter().flatten().filter_map(kept).collect();
        if entries.len() < before {
            self.objects.clear();
            for (at, entry) in entries.iter().enumerate() {
                self.objects.entry(entry.object).or_default().places.insert(entry.field.clone(), at);
            }
        }
        entries.into_iter().for_each(|entry| self.push(entry));
    }
}
