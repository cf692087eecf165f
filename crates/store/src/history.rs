//! Commits, newest first: those that the image holds, and before them those that are still in the log.

use crate::checkpoint::in_order;
use crate::error::StoreError;
use crate::pending::Committed;
use crate::reader::apply;
use crate::record::{Commit, decode_history};
use crate::store::Store;
use object::change::{Change, Draft, ObjectId, Preds};
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

/// Goes back from commit to commit. What is committed meanwhile is not seen.
pub struct History<'s> {
    store: &'s Store,
    next: u64,
}

impl Iterator for History<'_> {
    type Item = Result<Commit, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        let number = self.next;
        self.next = number.checked_sub(1)?;
        self.store.commit_at(number).transpose()
    }
}

impl Store {
    /// Commits from the newest back.
    pub fn history(&self) -> History<'_> {
        History { store: self, next: self.last_commit() }
    }

    /// Commits from this one back.
    pub fn history_before(&self, number: u64) -> History<'_> {
        History { store: self, next: number.min(self.last_commit()) }
    }

    /// One commit, with what takes it back; none if there is none of that number, or the history does not reach it.
    pub fn commit_at(&self, number: u64) -> Result<Option<Commit>, StoreError> {
        let shared = &self.shared;
        let snapshot = shared.reader.lock();
        let inside = shared.journal.lock();
        let before: Vec<Arc<Committed>> =
            inside.pending.commits().take_while(|commit| commit.number <= number).cloned().collect();
        drop(inside);
        let Some(commit) = before.last().filter(|commit| commit.number == number) else {
            let value = snapshot.commit(number)?;
            return value.map(|value| decode_history(number, value, shared.image.path())).transpose();
        };
        let mut drafts: FxHashMap<ObjectId, Option<Draft>> = FxHashMap::default();
        for change in &commit.changes {
            if let Entry::Vacant(place) = drafts.entry(change.object) {
                let stored = snapshot.object(change.object)?;
                let stored = stored.map(|value| shared.image.object(change.object, value)).transpose()?;
                place.insert(stored.map(Draft::from));
            }
        }
        drop(snapshot);
        inverse(commit, &before, drafts).map(Some)
    }
}

/// The commit with its inverse, from the objects as the image has them and the commits since then.
fn inverse(
    commit: &Committed,
    before: &[Arc<Committed>],
    mut drafts: FxHashMap<ObjectId, Option<Draft>>,
) -> Result<Commit, StoreError> {
    let mut undo = Vec::new();
    for each in before {
        for change in &each.changes {
            let Some(draft) = drafts.get_mut(&change.object) else { continue };
            let taken_back = apply(draft, change.object, each.number, &change.operation)?;
            if let Some(operation) = taken_back.filter(|_| each.number == commit.number) {
                let preds = Preds::Named([change.id].into());
                undo.push(Change { id: change.id, time: change.time, object: change.object, operation, preds });
            }
        }
    }
    Ok(Commit {
        number: commit.number,
        time: commit.time,
        author: commit.author.clone(),
        cause: commit.cause.clone(),
        changes: commit.changes.clone(),
        inverse: in_order(undo),
    })
}
