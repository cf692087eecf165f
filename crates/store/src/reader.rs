//! Reading an object: what the image holds, and what was committed since then. One snapshot of the image is kept and moved
//! on only by the checkpoint, so that an ordinary read begins no transaction.

use crate::error::StoreError;
use crate::image::Image;
use crate::journal::Journal;
use crate::pending::Committed;
use object::change::{Creation, CreationOf, Draft, ObjectId, Operation};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use system::lmdb::ReadTransaction;

/// The snapshot that readers share.
pub struct Reader {
    snapshot: Mutex<ReadTransaction>,
}

impl Reader {
    pub fn new(image: &Image) -> Result<Reader, StoreError> {
        Ok(Reader { snapshot: Mutex::new(image.environment.read()?) })
    }

    /// Locked before the journal, never after.
    pub fn lock(&self) -> MutexGuard<'_, ReadTransaction> {
        self.snapshot.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn read(&self, image: &Image, journal: &Journal, object: ObjectId) -> Result<Option<Creation>, StoreError> {
        let snapshot = self.lock();
        let later = journal.lock().pending.of_object(object);
        let stored = match snapshot.get(image.objects, &object.to_bytes())? {
            Some(value) => Some(image.object(object, value)?),
            None => None,
        };
        drop(snapshot);
        if later.is_empty() { Ok(stored) } else { replay(object, stored, &later) }
    }

    /// Shows an object to somebody who takes in what it needs. Readers wait meanwhile: `look` must read nothing.
    pub fn look_at<A>(
        &self,
        image: &Image,
        journal: &Journal,
        object: ObjectId,
        look: impl FnOnce(Found<'_>) -> A,
    ) -> Result<Option<A>, StoreError> {
        let snapshot = self.lock();
        if journal.lock().pending.touches(object) {
            drop(snapshot);
            return Ok(self.read(image, journal, object)?.map(|creation| look(Found::Changed(creation))));
        }
        match snapshot.get(image.objects, &object.to_bytes())? {
            Some(value) => Ok(Some(look(Found::Stored(image.borrowed_object(object, value)?)))),
            None => Ok(None),
        }
    }
}

/// An object that somebody looks at.
pub enum Found<'r> {
    /// As it is in the image, from which its texts are borrowed.
    Stored(CreationOf<&'r [u8]>),
    /// Changed since then.
    Changed(Creation),
}

/// An object with what was done to it later, in order.
pub fn replay(
    object: ObjectId,
    stored: Option<Creation>,
    later: &[(Arc<Committed>, usize)],
) -> Result<Option<Creation>, StoreError> {
    let mut draft = stored.map(Draft::from);
    for (commit, index) in later {
        apply(&mut draft, object, commit.number, &commit.changes[*index].operation)?;
    }
    Ok(draft.map(Creation::from))
}

/// Applies one change to an object that may not exist yet, and returns what takes it back.
pub fn apply(
    draft: &mut Option<Draft>,
    object: ObjectId,
    commit: u64,
    operation: &Operation,
) -> Result<Option<Operation>, StoreError> {
    match (&mut *draft, operation) {
        (None, Operation::Create(creation)) => {
            *draft = Some(Draft::from((**creation).clone()));
            Ok(None)
        }
        // A call may be about anything, and changes nothing.
        (None, Operation::Call { .. }) => Ok(None),
        (None, _) => Err(StoreError::Unknown { commit, object }),
        (Some(draft), operation) => {
            draft.apply(operation).map_err(|source| StoreError::Unfit { commit, object, source })
        }
    }
}
