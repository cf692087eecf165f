//! Whether a commit fits the objects that it changes: found out before it is taken, for a commit that was acknowledged must
//! be one that the checkpoint can apply. Looks at outlines only, and keeps those of objects with pending changes.

use crate::error::StoreError;
use crate::pending::Pending;
use crate::record::NewCommit;
use object::change::{ActorId, Change, ObjectId, Operation, Outline};
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;

/// What the objects of a commit are after it, but for those that it makes: they need no look at the image.
pub type Outlines = Vec<(ObjectId, Outline)>;

/// Why there is no answer.
pub enum Unfit {
    /// Only the image knows what some object is.
    Unknown,
    Refused(StoreError),
}

/// What an object is in the image; none if the image is not at hand.
pub type Stored<'s> = &'s dyn Fn(ObjectId) -> Result<Option<Outline>, StoreError>;

pub struct Fit<'f> {
    pub pending: &'f Pending,
    /// Whose new objects nobody can have made before.
    pub live: ActorId,
    pub number: u64,
    pub stored: Option<Stored<'f>>,
}

impl Fit<'_> {
    pub fn check(&self, commit: &NewCommit) -> Result<Outlines, Unfit> {
        let mut after: FxHashMap<ObjectId, Option<Outline>> = FxHashMap::default();
        // Many changes may be to few objects.
        after.reserve(commit.changes.len().min(64));
        for change in &commit.changes {
            if matches!(change.operation, Operation::Call { .. }) {
                continue;
            }
            let outline = match after.entry(change.object) {
                Entry::Occupied(entry) => entry.into_mut(),
                Entry::Vacant(place) => place.insert(self.before(change)?),
            };
            apply(outline, change, self.number).map_err(Unfit::Refused)?;
        }
        for made in commit.changes.iter().filter(|change| matches!(change.operation, Operation::Create(_))) {
            after.remove(&made.object);
        }
        Ok(after.into_iter().filter_map(|(object, outline)| Some((object, outline?))).collect())
    }

    /// What an object is before the commit.
    fn before(&self, change: &Change) -> Result<Option<Outline>, Unfit> {
        if let Some(outline) = self.pending.outline(change.object) {
            return Ok(Some(outline.clone()));
        }
        let is_new = matches!(change.operation, Operation::Create(_)) && change.object == ObjectId::minted(change.id);
        if is_new && change.id.actor == self.live {
            return Ok(None);
        }
        let pending = self.pending.of_object(change.object);
        let first = pending.first().map(|(commit, index)| &commit.changes[*index].operation);
        let mut outline = match (first, self.stored) {
            (Some(Operation::Create(_)), _) => None,
            (_, Some(stored)) => stored(change.object).map_err(Unfit::Refused)?,
            (_, None) => return Err(Unfit::Unknown),
        };
        for (commit, index) in pending {
            apply(&mut outline, &commit.changes[index], commit.number).map_err(Unfit::Refused)?;
        }
        Ok(outline)
    }
}

fn apply(outline: &mut Option<Outline>, change: &Change, commit: u64) -> Result<(), StoreError> {
    let object = change.object;
    match (&mut *outline, &change.operation) {
        (_, Operation::Call { .. }) => Ok(()),
        (None, Operation::Create(creation)) => {
            *outline = Some(Outline::from(&**creation));
            Ok(())
        }
        (None, _) => Err(StoreError::Unknown { commit, object }),
        (Some(outline), operation) => {
            outline.apply(operation).map_err(|source| StoreError::Unfit { commit, object, source })
        }
    }
}
