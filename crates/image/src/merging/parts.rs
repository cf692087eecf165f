//! A dream that is merged part by part: what each of its merges took, and the rest, which comes like a dream of its own that was
//! dreamt inside of them. So to the kernel no journal is ever other than it was.

use super::arrival::Arrival;
use super::note::{Note, note_of};
use super::renaming::renamed;
use crate::error::ImageError;
use crate::image::Image;
use crate::retell::{is_nothing, nothing};
use crate::taken_back::TakenBack;
use object::change::{ActorId, Change, ChangeId, ObjectId, Operation, Preds};
use rustc_hash::{FxHashMap, FxHashSet};

/// A merge of a dream, or of a part of one.
pub struct Part {
    pub commit: u64,
    /// The commit that took it back.
    pub taken_back_by: Option<u64>,
    note: Note,
}

impl Part {
    /// Whether some of the dream was left out.
    pub const fn is_partial(&self) -> bool {
        self.note.is_partial
    }

    fn takes(&self, change: &Change) -> bool {
        let place = change.id.seq.checked_sub(1).and_then(|place| usize::try_from(place).ok());
        place.and_then(|place| self.note.journal.get(place)).is_some_and(|taken| !is_nothing(taken))
    }
}

impl Image {
    /// The merges of a dream since a commit, the oldest first.
    pub fn merges_of(&self, dream: &str, since: u64) -> Result<Vec<Part>, ImageError> {
        let interrupt = self.vm().interrupt();
        let (mut parts, mut taken_back) = (Vec::new(), TakenBack::default());
        let mut history = self.store.history().taking_back(|_| false);
        while let Some(commit) = history.next_after(since) {
            let commit = commit?;
            if interrupt.take() {
                return Err(ImageError::Interrupted);
            }
            taken_back.hear(&commit, self.store.actor());
            if let Some(note) = note_of(&commit, self.store.actor())?.filter(|note| note.name == dream) {
                parts.push(Part { commit: commit.number, taken_back_by: taken_back.by(commit.number), note });
            }
        }
        parts.reverse();
        Ok(parts)
    }

    /// The dream that this commit merged.
    pub fn dream_merged_by(&self, commit: u64) -> Result<Option<String>, ImageError> {
        let Some(commit) = self.store.commit_at(commit)? else { return Ok(None) };
        Ok(note_of(&commit, self.store.actor())?.map(|note| note.name))
    }
}

impl Arrival {
    /// What these merges, of which there are some, did not take: a journal of another actor, who saw them.
    pub fn rest(self, actor: ActorId, parts: &[Part]) -> Arrival {
        let Some(Part { note: last, .. }) = parts.last() else { return self };
        let mut parents = last.parents.clone();
        parents.push((last.actor, last.journal.len() as u64));
        let changes = rest_of(&self.changes, actor, |change| parts.iter().any(|part| part.takes(change)));
        Arrival { actor, parents, changes, ..self }
    }
}

/// With a change that is none in the place of each that was taken, so that numbers stay. New objects that were left out are made
/// under other ids; one that was taken was taken whole.
fn rest_of(changes: &[Change], actor: ActorId, is_taken: impl Fn(&Change) -> bool) -> Vec<Change> {
    let (mut names, mut taken_objects) = (FxHashMap::default(), FxHashSet::default());
    let mut taken_changes = FxHashSet::default();
    for change in changes {
        if is_taken(change) {
            taken_changes.insert(change.id);
        }
        match &change.operation {
            Operation::Create(_) if is_taken(change) => _ = taken_objects.insert(change.object),
            Operation::Create(creation) => {
                names.insert(change.object, creation.object(ChangeId::new(actor, change.id.seq)));
            }
            _ => {}
        }
    }
    let name = |object: ObjectId| names.get(&object).copied().unwrap_or(object);
    let own = |id: &ChangeId| if taken_changes.contains(id) { *id } else { ChangeId::new(actor, id.seq) };
    let told = |change: &Change| {
        let id = ChangeId::new(actor, change.id.seq);
        if taken_changes.contains(&change.id) || taken_objects.contains(&change.object) {
            return Change { id, ..nothing(change) };
        }
        let preds = match &change.preds {
            Preds::Seen => Preds::Seen,
            Preds::Named(ids) => Preds::Named(ids.iter().map(own).collect()),
        };
        let (object, operation) = (name(change.object), renamed(&change.operation, &name));
        Change { id, object, operation, preds, ..change.clone() }
    };
    changes.iter().map(told).collect()
}
