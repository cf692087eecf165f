//! Objects as both sides of a merge have them, for whoever makes one method of two.

use super::story::Story;
use crate::past::Past;
use crate::reconcile::Views;
use object::change::{Change, Creation, Draft, ObjectId, Operation};
use rustc_hash::FxHashMap;
use std::cell::OnceCell;
use store::Store;

pub struct Sides<'v, 's> {
    store: &'s Store,
    story: &'v Story<'s>,
    at_fork: &'v Past<'s>,
    journal: &'v [Change],
    /// What the journal made, and what it made of what it found; none where it did what cannot be. Found out when
    /// somebody asks: mostly no method was changed by both.
    own: OnceCell<FxHashMap<ObjectId, Option<Draft>>>,
}

impl<'v, 's> Sides<'v, 's> {
    pub fn new(store: &'s Store, story: &'v Story<'s>, at_fork: &'v Past<'s>, journal: &'v [Change]) -> Sides<'v, 's> {
        Sides { store, story, at_fork, journal, own: OnceCell::new() }
    }

    fn own(&self) -> FxHashMap<ObjectId, Option<Draft>> {
        let mut own: FxHashMap<ObjectId, Option<Draft>> = FxHashMap::default();
        for change in self.journal.iter().filter(|change| !matches!(change.operation, Operation::Call { .. })) {
            if let Operation::Create(creation) = &change.operation {
                own.insert(change.object, Some(Draft::from((**creation).clone())));
                continue;
            }
            let found = || self.at_fork.record(change.object).map(Draft::from);
            let draft = own.entry(change.object).or_insert_with(found);
            if draft.as_mut().is_some_and(|draft| draft.apply(&change.operation).is_err()) {
                *draft = None;
            }
        }
        own
    }
}

impl Views for Sides<'_, '_> {
    fn before(&self, object: ObjectId) -> Option<Creation> {
        self.at_fork.record(object)
    }

    fn after(&self, object: ObjectId) -> Option<Creation> {
        match self.own.get_or_init(|| self.own()).get(&object) {
            Some(_) if self.story.touched.contains(&object) => None,
            Some(own) => own.clone().map(Creation::from),
            None => self.store.read(object).ok().flatten(),
        }
    }
}
