//! Where a value comes from: which commits wrote a slot, the newest first, who wanted them and why, and which were merges of a
//! dream. Found in the history, as far back as the caller pays for.

use crate::error::ImageError;
use crate::image::Image;
use crate::merging::note_of;
use object::change::{Change, ChangeId, Datum, Field, ObjectId, Operation, Time};

/// How far it is looked.
#[derive(Clone, Copy, Debug)]
pub struct Search {
    /// Commits that are looked at, and writings that are found, at most.
    pub commits: u64,
    pub writings: usize,
}

/// A commit that wrote there.
#[derive(Clone, PartialEq, Debug)]
pub struct Writing {
    pub commit: u64,
    /// The last of its changes there.
    pub change: ChangeId,
    pub time: Time,
    pub author: String,
    pub cause: String,
    /// What a slot holds since then; `Absent` if it was removed. None for an object as a whole.
    pub value: Option<Datum>,
    /// None for what the image did itself.
    pub dream: Option<Dreamt>,
}

/// The dream that a commit merged.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Dreamt {
    pub name: String,
    pub fork_commit: u64,
    /// The object in `Telos merges`, which has mandate, agent and verdict.
    pub record: ObjectId,
    /// Whether the change is an effect of its journal; else it is what the image wrote down about the merge.
    pub is_effect: bool,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Provenance {
    /// The newest first.
    pub writings: Vec<Writing>,
    /// Whether there can be no older ones: the object was made by the last one, or the history began.
    pub is_whole: bool,
}

impl Image {
    /// Who wrote a slot of an object, or anything of it. The machine's interrupt stops it.
    pub fn provenance(&self, object: ObjectId, slot: Option<&str>, search: Search) -> Result<Provenance, ImageError> {
        let interrupt = self.vm().interrupt();
        let mut writings = Vec::new();
        for (commit, looked_at) in self.store.history().zip(0..) {
            let commit = commit?;
            if interrupt.take() {
                return Err(ImageError::Interrupted);
            }
            if looked_at >= search.commits || writings.len() >= search.writings {
                return Ok(Provenance { writings, is_whole: false });
            }
            let of_object = || commit.changes.iter().filter(|change| change.object == object);
            if let Some((change, value)) = of_object().rev().find_map(|change| Some((change, written(change, slot)?))) {
                let note = note_of(&commit, self.store.actor())?;
                let is_effect = note.as_ref().is_some_and(|note| change.id.seq < note.books);
                let dream = note.map(|note| Dreamt {
                    name: note.name,
                    fork_commit: note.fork_commit,
                    record: note.record,
                    is_effect,
                });
                let (author, cause) = (commit.author.clone(), commit.cause.clone());
                let (commit, time, change) = (commit.number, commit.time, change.id);
                writings.push(Writing { commit, change, time, author, cause, value, dream });
            }
            if of_object().any(|change| matches!(change.operation, Operation::Create(_))) {
                break;
            }
        }
        Ok(Provenance { writings, is_whole: true })
    }
}

/// What a change puts there, if it does.
#[expect(clippy::option_option, reason = "whether it writes there, and what, if that is one value")]
fn written(change: &Change, slot: Option<&str>) -> Option<Option<Datum>> {
    let Some(slot) = slot else {
        return (!matches!(change.operation, Operation::Call { .. })).then_some(None);
    };
    match &change.operation {
        Operation::Put { field: Field::Slot(name), value } if name.as_bytes() == slot.as_bytes() => {
            Some(Some(value.clone()))
        }
        Operation::Create(creation) => match creation.field(&Field::Slot(slot.into())) {
            Datum::Absent => None,
            value => Some(Some(value)),
        },
        _ => None,
    }
}
