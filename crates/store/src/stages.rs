//! What objects were after some commit that is still in the log. An object that is written to all the time has thousands of changes in
//! there, and whoever reads it would do all of them again.

use crate::pending::{Done, Pending};
use object::change::{Draft, ObjectId};
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// After so many changes that were done again, what came of them is worth to be kept,
pub const WORTH_CHANGES: usize = 256;
/// if the object is not too large to be copied.
const ELEMENTS_MAX: usize = 4096;
/// So many are kept, of all objects together; the oldest go.
const COUNT_MAX: usize = 32;

/// An object at some moment, and all that was done to it since then.
pub struct Story {
    /// None if it has to be asked of the image.
    pub draft: Option<Draft>,
    pub done: Done,
}

impl Pending {
    /// How an object became what it was after commit `last`, from a moment that is not after commit `first`.
    pub fn story(&self, object: ObjectId, first: u64, last: u64, stages: &Stages) -> Story {
        let oldest = self.oldest_number().unwrap_or(u64::MAX);
        let (commit, draft) = stages.find(object, oldest, first).unzip();
        Story { draft, done: self.of_object_between(object, commit.unwrap_or(0), last) }
    }
}

#[derive(Default)]
pub struct Stages {
    kept: Mutex<VecDeque<Stage>>,
}

pub struct Stage {
    object: ObjectId,
    commit: u64,
    draft: Draft,
}

impl Stages {
    /// What an object was after a commit, with its number: the last one that is known and not after `last`. What was committed before
    /// `oldest` is in the image, and not to be done again from here on.
    pub fn find(&self, object: ObjectId, oldest: u64, last: u64) -> Option<(u64, Draft)> {
        let mut kept = self.lock();
        kept.retain(|stage| stage.commit + 1 >= oldest);
        let of_object = kept.iter().filter(|stage| stage.object == object && stage.commit <= last);
        of_object.max_by_key(|stage| stage.commit).map(|stage| (stage.commit, stage.draft.clone()))
    }

    /// Keeps what an object was after a commit that touched it.
    pub fn keep(&self, object: ObjectId, commit: u64, draft: &Draft) {
        if draft.element_count() > ELEMENTS_MAX {
            return;
        }
        let mut kept = self.lock();
        if kept.iter().any(|stage| (stage.object, stage.commit) == (object, commit)) {
            return;
        }
        if kept.len() >= COUNT_MAX {
            kept.pop_front();
        }
        kept.push_back(Stage { object, commit, draft: draft.clone() });
    }

    /// Locked after all others. A copy of this process must not be made while somebody else changes what is kept.
    pub fn lock(&self) -> MutexGuard<'_, VecDeque<Stage>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
