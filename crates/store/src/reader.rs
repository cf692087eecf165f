//! Reading an object: what the image holds, and what was committed since then. One snapshot of the image is kept and moved
//! on only by the checkpoint, so that an ordinary read begins no transaction.

use crate::error::StoreError;
use crate::image::Image;
use crate::journal::Journal;
use crate::pending::Committed;
use crate::stages::{Stages, Story, WORTH_CHANGES};
use crate::state::State;
use object::change::{Creation, Draft, ObjectId, Operation, Outline, Resting};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use system::lmdb::{Pin, ReadTransaction};

/// The snapshot that readers share.
pub struct Reader {
    snapshot: Mutex<Snapshot>,
    pub stages: Stages,
}

/// A state of the image's file.
pub struct Snapshot {
    image: Image,
    transaction: ReadTransaction,
    /// Tells the writer what is read, where `image` itself has no way to: since copies of this process may read it too. Each of
    /// them is known by a share in this.
    pin: Option<(Image, Arc<Pin>)>,
}

impl Reader {
    pub fn new(image: &Image) -> Result<Reader, StoreError> {
        let snapshot = Snapshot { image: image.clone(), transaction: image.environment.read()?, pin: None };
        Ok(Reader { snapshot: Mutex::new(snapshot), stages: Stages::default() })
    }

    /// Locked before the journal, never after.
    pub fn lock(&self) -> MutexGuard<'_, Snapshot> {
        self.snapshot.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn read(&self, journal: &Journal, object: ObjectId) -> Result<Option<Creation>, StoreError> {
        let snapshot = self.lock();
        let story = journal.lock().pending.story(object, u64::MAX, u64::MAX, &self.stages);
        let Story { mut draft, done } = match story {
            // Nothing was done to it.
            Story { draft: None, done } if done.is_empty() => return snapshot.creation(object),
            Story { draft: None, done } => Story { draft: snapshot.creation(object)?.map(Draft::from), done },
            story => story,
        };
        drop(snapshot);
        for (commit, index) in &done {
            apply(&mut draft, object, commit.number, &commit.changes[*index].operation)?;
        }
        if let (true, Some((last, _)), Some(draft)) = (done.len() >= WORTH_CHANGES, done.last(), &draft) {
            self.stages.keep(object, last.number, draft);
        }
        Ok(draft.map(Creation::from))
    }

    /// Shows an object to somebody who takes in what it needs. Readers wait meanwhile: `look` must read nothing.
    pub fn look_at<A>(
        &self,
        journal: &Journal,
        object: ObjectId,
        look: impl FnOnce(Found<'_>) -> A,
    ) -> Result<Option<A>, StoreError> {
        let snapshot = self.lock();
        if journal.lock().pending.touches(object) {
            drop(snapshot);
            return Ok(self.read(journal, object)?.map(|creation| look(Found::Changed(creation))));
        }
        match snapshot.object(object)? {
            Some(value) => Ok(Some(look(Found::Stored(snapshot.image.borrowed_object(object, value)?)))),
            None => Ok(None),
        }
    }
}

impl Snapshot {
    pub fn creation(&self, object: ObjectId) -> Result<Option<Creation>, StoreError> {
        self.object(object)?.map(|value| self.image.object(object, value)).transpose()
    }

    pub fn object(&self, object: ObjectId) -> Result<Option<&[u8]>, StoreError> {
        Ok(self.transaction.find(self.image.objects, &object.to_bytes())?)
    }

    pub fn outline(&self, object: ObjectId) -> Result<Option<Outline>, StoreError> {
        self.image.outline(&self.transaction, object)
    }

    /// What the history holds under a number.
    pub fn commit(&self, number: u64) -> Result<Option<&[u8]>, StoreError> {
        Ok(self.transaction.get(self.image.history, &number.to_be_bytes())?)
    }

    pub fn state(&self) -> Result<State, StoreError> {
        self.image.state(&self.transaction)
    }

    /// Moves on to the file as it is now.
    pub fn renew(&mut self) -> Result<(), StoreError> {
        if let Some((image, pin)) = &mut self.pin {
            match Arc::get_mut(pin) {
                Some(pin) => pin.renew()?,
                // Somebody else still reads what it keeps.
                None => *pin = Arc::new(Pin::new(image.environment.read()?)),
            }
        }
        Ok(self.transaction.renew()?)
    }

    /// Reads from now on in a way that copies of this process can go on with. No checkpoint may be under way.
    pub fn prepare_forks(&mut self, map_bytes: usize) -> Result<(), StoreError> {
        if self.pin.is_none() {
            let image = self.image.for_forks(map_bytes)?;
            let transaction = image.environment.read()?;
            let pinned = std::mem::replace(&mut self.transaction, transaction);
            let writer = std::mem::replace(&mut self.image, image);
            self.pin = Some((writer, Arc::new(Pin::new(pinned))));
        }
        Ok(())
    }

    /// Keeps this state of the file for a copy of this process. None before `prepare_forks`.
    pub fn pin(&self) -> Option<Arc<Pin>> {
        self.pin.as_ref().map(|(_, pin)| pin.clone())
    }
}

/// An object that somebody looks at.
pub enum Found<'r> {
    /// As it is in the image, from which its texts are borrowed.
    Stored(Resting<'r>),
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
