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

/// So many commits that are still in the log are made ready at once: each time all that is in there before them is gone through.
const TOGETHER_MAX: usize = 256;

/// Goes back from commit to commit. What is committed meanwhile is not seen.
pub struct History<'s> {
    store: &'s Store,
    next: u64,
    /// Those that come next, the newest last.
    ready: Vec<Commit>,
    /// How many of them are made ready the next time: few for who wants few.
    together: usize,
}

impl<'s> History<'s> {
    fn new(store: &'s Store, next: u64) -> History<'s> {
        History { store, next, ready: Vec::new(), together: 1 }
    }

    fn get_ready(&mut self) -> Result<(), StoreError> {
        self.ready = self.store.commits_up_to(self.next, self.together)?;
        self.together = (self.together * 2).min(TOGETHER_MAX);
        Ok(())
    }
}

impl Iterator for History<'_> {
    type Item = Result<Commit, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ready.is_empty() && self.next > 0 {
            // Who goes on after a failure goes on behind it.
            let next = self.next;
            if let Err(error) = self.get_ready() {
                self.next = next - 1;
                return Some(Err(error));
            }
        }
        let commit = self.ready.pop()?;
        self.next = commit.number.saturating_sub(1);
        Some(Ok(commit))
    }
}

impl Store {
    /// Commits from the newest back.
    pub fn history(&self) -> History<'_> {
        History::new(self, self.last_commit())
    }

    /// Commits from this one back.
    pub fn history_before(&self, number: u64) -> History<'_> {
        History::new(self, number.min(self.last_commit()))
    }

    /// One commit, with what takes it back; none if there is none of that number, or the history does not reach it.
    pub fn commit_at(&self, number: u64) -> Result<Option<Commit>, StoreError> {
        Ok(self.commits_up_to(number, 1)?.pop())
    }

    /// Tells all changes that were made after a commit, in no order that anybody should rely on.
    pub fn visit_changes_since(&self, since: u64, mut visit: impl FnMut(&Change)) -> Result<(), StoreError> {
        let newest = self.last_commit();
        let pending: Vec<Arc<Committed>> = {
            let _snapshot = self.shared.reader.lock();
            let inside = self.shared.journal.lock();
            inside.pending.commits().filter(|commit| commit.number > since).cloned().collect()
        };
        let oldest = pending.first().map_or(newest + 1, |commit| commit.number);
        pending.iter().flat_map(|commit| &commit.changes).for_each(&mut visit);
        for commit in self.history_before(oldest.saturating_sub(1)) {
            let commit = commit?;
            if commit.number <= since {
                break;
            }
            commit.changes.iter().for_each(&mut visit);
        }
        Ok(())
    }

    /// The commit of this number, if there is one, as the last of some: at most so many, one behind the other.
    fn commits_up_to(&self, number: u64, most: usize) -> Result<Vec<Commit>, StoreError> {
        let shared = &self.shared;
        let snapshot = shared.reader.lock();
        let inside = shared.journal.lock();
        let before: Vec<Arc<Committed>> =
            inside.pending.commits().take_while(|commit| commit.number <= number).cloned().collect();
        drop(inside);
        if before.last().is_none_or(|commit| commit.number != number) {
            let value = snapshot.commit(number)?;
            let commit = value.map(|value| decode_history(number, value, shared.image.path())).transpose()?;
            return Ok(commit.into_iter().collect());
        }
        let wanted = &before[before.len().saturating_sub(most)..];
        let mut drafts: FxHashMap<ObjectId, Option<Draft>> = FxHashMap::default();
        for change in wanted.iter().flat_map(|commit| &commit.changes) {
            if let Entry::Vacant(place) = drafts.entry(change.object) {
                let stored = snapshot.object(change.object)?;
                let stored = stored.map(|value| shared.image.object(change.object, value)).transpose()?;
                place.insert(stored.map(Draft::from));
            }
        }
        drop(snapshot);
        with_inverses(&before, wanted.len(), drafts)
    }
}

/// The last so many of these commits with their inverses, from the objects as the image has them and all commits since then.
fn with_inverses(
    before: &[Arc<Committed>],
    count: usize,
    mut drafts: FxHashMap<ObjectId, Option<Draft>>,
) -> Result<Vec<Commit>, StoreError> {
    let first = before.len() - count;
    let mut commits = Vec::with_capacity(count);
    for (index, each) in before.iter().enumerate() {
        let mut undo = Vec::new();
        for change in &each.changes {
            let Some(draft) = drafts.get_mut(&change.object) else { continue };
            let taken_back = apply(draft, change.object, each.number, &change.operation)?;
            if let Some(operation) = taken_back.filter(|_| index >= first) {
                let preds = Preds::Named([change.id].into());
                undo.push(Change { id: change.id, time: change.time, object: change.object, operation, preds });
            }
        }
        if index >= first {
            commits.push(Commit {
                number: each.number,
                time: each.time,
                author: each.author.clone(),
                cause: each.cause.clone(),
                changes: each.changes.clone(),
                inverse: in_order(undo),
            });
        }
    }
    Ok(commits)
}
