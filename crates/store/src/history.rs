//! Commits, newest first: those that the image holds, and before them those that are still in the log.

use crate::checkpoint::in_order;
use crate::error::StoreError;
use crate::pending::{Committed, Sought};
use crate::reader::apply;
use crate::record::{Commit, decode_history};
use crate::stages::{Stages, Story, WORTH_CHANGES};
use crate::store::Store;
use object::change::{Change, Datum, Draft, Field, ObjectId, Operation, Preds, Text};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// So many commits that are still in the log are made ready at first, for who wants few, and so many times more each time after that:
/// what takes one back is found by doing again all that was done to its objects in there.
const TOGETHER_FIRST: usize = 32;
const TOGETHER_MORE: usize = 8;
const TOGETHER_MAX: usize = 2048;

/// Goes back from commit to commit. What is committed meanwhile is not seen.
pub struct History<'s> {
    store: &'s Store,
    next: u64,
    /// Those that come next, the newest last.
    ready: Vec<Commit>,
    /// How many of them are made ready the next time.
    together: usize,
    is_wanted: Box<dyn Fn(&Change) -> bool + 's>,
}

impl<'s> History<'s> {
    fn new(store: &'s Store, next: u64) -> History<'s> {
        History { store, next, ready: Vec::new(), together: TOGETHER_FIRST, is_wanted: Box::new(|_| true) }
    }

    /// The same commits. Of what takes them back, which is what takes time, only what concerns objects with such changes is sure to be
    /// there.
    #[must_use]
    pub fn taking_back(self, is_wanted: impl Fn(&Change) -> bool + 's) -> History<'s> {
        History { is_wanted: Box::new(is_wanted), ..self }
    }

    /// The next one, if it is later than `since`: nothing is made ready that is not.
    pub fn next_after(&mut self, since: u64) -> Option<Result<Commit, StoreError>> {
        if self.next <= since {
            return None;
        }
        if self.ready.is_empty() {
            // Who goes on after a failure goes on behind it.
            let next = self.next;
            if let Err(error) = self.get_ready(since) {
                self.next = next - 1;
                return Some(Err(error));
            }
        }
        let commit = self.ready.pop()?;
        self.next = commit.number.saturating_sub(1);
        Some(Ok(commit))
    }

    fn get_ready(&mut self, since: u64) -> Result<(), StoreError> {
        let most = usize::try_from(self.next - since).map_or(self.together, |all| all.min(self.together));
        self.ready = self.store.commits_up_to(self.next, most, &*self.is_wanted)?;
        self.together = (self.together * TOGETHER_MORE).min(TOGETHER_MAX);
        Ok(())
    }
}

impl Iterator for History<'_> {
    type Item = Result<Commit, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_after(0)
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
        Ok(self.commits_up_to(number, 1, &|_| true)?.pop())
    }

    /// What a slot of an object held after a commit; none if that is not to be found in a short way.
    pub fn slot_after(&self, commit: u64, object: ObjectId, name: &Text) -> Result<Option<Datum>, StoreError> {
        let slot = Field::Slot(name.clone());
        let snapshot = self.shared.reader.lock();
        let inside = self.shared.journal.lock();
        // What the image holds is later than that.
        if commit + 1 < inside.pending.oldest_number().unwrap_or(inside.counters.number + 1) {
            return Ok(None);
        }
        let written = inside.pending.find_back(object, commit, |operation| match operation {
            Operation::Put { field, value } if *field == slot => Some(value.clone()),
            Operation::Create(creation) => Some(creation.field(&slot)),
            _ => None,
        });
        drop(inside);
        match written {
            Sought::Found(value) => Ok(Some(value)),
            Sought::Far => Ok(None),
            Sought::Nowhere => {
                Ok(Some(snapshot.creation(object)?.map_or(Datum::Absent, |creation| creation.field(&slot))))
            }
        }
    }

    /// Tells all changes that were made after a commit, each with the number of its own: commits in any order, the changes of each in theirs.
    /// Fails if the history does not go back so far: whoever took that for nothing done would be wrong.
    pub fn visit_changes_since(&self, since: u64, mut visit: impl FnMut(u64, &Change)) -> Result<(), StoreError> {
        let newest = self.last_commit();
        let pending: Vec<Arc<Committed>> = {
            let _snapshot = self.shared.reader.lock();
            let inside = self.shared.journal.lock();
            inside.pending.commits().filter(|commit| commit.number > since).cloned().collect()
        };
        let oldest = pending.first().map_or(newest + 1, |commit| commit.number);
        for commit in &pending {
            commit.changes.iter().for_each(|change| visit(commit.number, change));
        }
        let mut older = self.history_before(oldest.saturating_sub(1)).taking_back(|_| false);
        while let Some(commit) = older.next_after(since) {
            let commit = commit?;
            commit.changes.iter().for_each(|change| visit(commit.number, change));
        }
        match older.next {
            missing if missing > since => {
                let what = format!("commit {missing} is missing in its history");
                Err(StoreError::corrupt(self.shared.image.path(), what))
            }
            _ => Ok(()),
        }
    }

    /// The commit of this number, if there is one, as the last of some: at most so many, one behind the other.
    fn commits_up_to(
        &self,
        number: u64,
        most: usize,
        is_wanted: &dyn Fn(&Change) -> bool,
    ) -> Result<Vec<Commit>, StoreError> {
        let shared = &self.shared;
        // While this is held nothing goes from the log into the image.
        let snapshot = shared.reader.lock();
        let wanted = shared.journal.lock().pending.last_of(number, most);
        if wanted.is_empty() {
            let value = snapshot.commit(number)?;
            let commit = value.map(|value| decode_history(number, value, shared.image.path())).transpose()?;
            return Ok(commit.into_iter().collect());
        }
        let before = wanted.first().map_or(0, |commit| commit.number - 1);
        let changes = wanted.iter().flat_map(|commit| &commit.changes).filter(|change| is_wanted(change));
        let objects: FxHashSet<ObjectId> = changes.map(|change| change.object).collect();
        let mut stories: FxHashMap<ObjectId, Story> = FxHashMap::default();
        for object in objects {
            let story = shared.journal.lock().pending.story(object, before, number, &shared.reader.stages);
            stories.insert(object, story);
        }
        for (object, story) in &mut stories {
            if story.draft.is_none() {
                story.draft = snapshot.creation(*object)?.map(Draft::from);
            }
        }
        drop(snapshot);
        with_inverses(&wanted, stories, &shared.reader.stages)
    }
}

/// These commits, one behind the other, with what takes back what they did to the objects whose stories are known.
fn with_inverses(
    wanted: &[Arc<Committed>],
    stories: FxHashMap<ObjectId, Story>,
    stages: &Stages,
) -> Result<Vec<Commit>, StoreError> {
    let first = wanted.first().map_or(0, |commit| commit.number);
    let mut undone: Vec<Vec<(usize, Change)>> = wanted.iter().map(|_| Vec::new()).collect();
    for (object, Story { mut draft, done }) in stories {
        let earlier = done.iter().take_while(|(commit, _)| commit.number < first).count();
        for (turn, (commit, index)) in done.into_iter().enumerate() {
            let Some(change) = commit.changes.get(index) else { continue };
            let place = commit.number.checked_sub(first).and_then(|place| usize::try_from(place).ok());
            if let (true, Some(draft)) = (turn == earlier && earlier >= WORTH_CHANGES, &draft) {
                stages.keep(object, first - 1, draft);
            }
            if place.is_some_and(|place| place >= undone.len()) {
                break;
            }
            let operation = apply(&mut draft, object, commit.number, &change.operation)?;
            if let Some((undo, operation)) = place.and_then(|place| undone.get_mut(place)).zip(operation) {
                let preds = Preds::Named([change.id].into());
                undo.push((index, Change { id: change.id, time: change.time, object, operation, preds }));
            }
        }
    }
    let commits = wanted.iter().zip(undone).map(|(each, mut undo)| {
        undo.sort_unstable_by_key(|(index, _)| *index);
        Commit {
            number: each.number,
            time: each.time,
            author: each.author.clone(),
            cause: each.cause.clone(),
            changes: each.changes.clone(),
            inverse: in_order(undo.into_iter().map(|(_, change)| change).collect()),
        }
    });
    Ok(commits.collect())
}
