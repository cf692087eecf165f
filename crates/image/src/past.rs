//! Some objects as they were at a moment of the past, and all others as they are now: what the merge kernel stands on when
//! it takes a commit back or merges a dream. Owns the way there, backwards through what takes commits back, and forwards again.

use merge::{Presence, Rest};
use object::change::{Change, Creation, Datum, Draft, Field, Form, Line, ObjectId, Operation, Run};
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::collections::hash_map::Entry;
use store::{Store, StoreError};

pub struct Past<'s> {
    store: &'s Store,
    /// None: not made yet.
    drafts: FxHashMap<ObjectId, Option<Draft>>,
    /// The ring of protos that every image is born with.
    ring: [ObjectId; 4],
    /// Why an object could not be read: the kernel takes it for one that never was.
    failure: RefCell<Option<StoreError>>,
}

/// A change of some commit that does not fit what its object was then: the history is not what happened.
pub struct Impossible(pub ObjectId);

impl<'s> Past<'s> {
    /// These objects as they are now.
    pub fn of(
        store: &'s Store,
        ring: [ObjectId; 4],
        objects: impl Iterator<Item = ObjectId>,
    ) -> Result<Past<'s>, StoreError> {
        let mut drafts: FxHashMap<ObjectId, Option<Draft>> = FxHashMap::default();
        for object in objects {
            if let Entry::Vacant(place) = drafts.entry(object) {
                place.insert(store.read(object)?.map(Draft::from));
            }
        }
        Ok(Past { store, drafts, ring, failure: RefCell::default() })
    }

    /// The same moment once more.
    pub fn again(&self) -> Past<'s> {
        Past { store: self.store, drafts: self.drafts.clone(), ring: self.ring, failure: RefCell::default() }
    }

    pub fn holds(&self, object: ObjectId) -> bool {
        self.drafts.contains_key(&object)
    }

    /// What an object was; none if it was not made yet.
    pub fn record(&self, object: ObjectId) -> Option<Creation> {
        match self.drafts.get(&object) {
            Some(draft) => draft.clone().map(Creation::from),
            None => self.elsewhere(object),
        }
    }

    /// To the moment before a commit, by what takes it back.
    pub fn go_back(&mut self, changes: &[Change], inverse: &[Change]) -> Result<(), Impossible> {
        for Change { object, operation, .. } in inverse {
            self.apply(*object, operation)?;
        }
        for made in changes.iter().filter(|change| matches!(change.operation, Operation::Create(_))) {
            self.drafts.entry(made.object).and_modify(|draft| *draft = None);
        }
        Ok(())
    }

    /// To the moment after a change.
    pub fn go_on(&mut self, change: &Change) -> Result<(), Impossible> {
        self.apply(change.object, &change.operation)
    }

    fn apply(&mut self, object: ObjectId, operation: &Operation) -> Result<(), Impossible> {
        let Some(draft) = self.drafts.get_mut(&object) else { return Ok(()) };
        match (&mut *draft, operation) {
            (_, Operation::Call { .. }) => Ok(()),
            (None, Operation::Create(creation)) => {
                *draft = Some(Draft::from((**creation).clone()));
                Ok(())
            }
            (Some(draft), operation) => draft.apply(operation).map(drop).map_err(|_| Impossible(object)),
            (None, _) => Err(Impossible(object)),
        }
    }

    pub fn take_failure(&self) -> Result<(), StoreError> {
        self.failure.take().map_or(Ok(()), Err)
    }

    fn look<T: Default>(&self, object: ObjectId, look: impl FnOnce(&Draft) -> T) -> T {
        match self.drafts.get(&object) {
            Some(Some(draft)) => look(draft),
            Some(None) => T::default(),
            None => self.elsewhere(object).map_or_else(T::default, |creation| look(&Draft::from(creation))),
        }
    }

    fn elsewhere(&self, object: ObjectId) -> Option<Creation> {
        self.known(self.store.read(object))
    }

    fn is_elsewhere(&self, object: ObjectId) -> bool {
        self.known(self.store.look_at(object, |_| ())).is_some()
    }

    fn known<T>(&self, read: Result<Option<T>, StoreError>) -> Option<T> {
        read.unwrap_or_else(|error| {
            self.failure.replace(Some(error));
            None
        })
    }

    /// One of these objects goes by another name from here on. It must not be made yet.
    pub fn rename(&mut self, object: ObjectId, name: ObjectId) {
        if let Some(draft) = self.drafts.remove(&object) {
            self.drafts.insert(name, draft);
        }
    }
}

impl Rest for Past<'_> {
    fn presence(&self, object: ObjectId) -> Presence {
        let is_there = match self.drafts.get(&object) {
            Some(draft) => draft.is_some(),
            None => self.is_elsewhere(object),
        };
        if is_there { Presence::Live } else { Presence::Never }
    }

    fn form(&self, object: ObjectId) -> Form {
        self.look(object, |draft| Some(draft.form())).unwrap_or(Form::Plain)
    }

    fn field(&self, object: ObjectId, field: &Field) -> Datum {
        self.look(object, |draft| draft.field(field))
    }

    fn length(&self, object: ObjectId, line: Line) -> u64 {
        self.look(object, |draft| draft.len(line))
    }

    fn elements(&self, object: ObjectId, line: Line, index: u64, count: u64) -> Run {
        self.look(object, |draft| Some(draft.elements(line, index, count))).unwrap_or_else(|| Run::items([]))
    }

    fn occurrences(&self, object: ObjectId, member: &Datum) -> u64 {
        self.look(object, |draft| draft.occurrences(member))
    }

    fn is_ring(&self, object: ObjectId, proto: ObjectId) -> bool {
        self.ring.contains(&object) && self.ring.contains(&proto)
    }
}
