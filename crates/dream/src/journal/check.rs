//! What can be known of a dream's changes without the image: who made them, in which order, when, and that they name nothing
//! that their author cannot know.
//!
//! An actor other than the dream's own is refused, not overwritten: the ids of new objects follow from it, so overwriting it
//! in the changes and not in every reference would make another program of them. What passes has the dream's actor anyway,
//! and to overwrite it again, as the merge does, changes nothing.

use super::call::Call;
use super::{Bounds, Entry, ForkPoint, JournalError};
use object::change::{Change, ChangeId, Field, ObjectId, Operation, Preds, Time};

/// What was seen of a journal so far.
#[derive(Clone, Debug)]
pub struct Check {
    fork: ForkPoint,
    last_seq: u64,
    /// One bit for each change: whether it made an object of its own number.
    made: Vec<u64>,
}

impl Check {
    pub const fn new(fork: ForkPoint) -> Check {
        Check { fork, last_seq: 0, made: Vec::new() }
    }

    pub const fn last_seq(&self) -> u64 {
        self.last_seq
    }

    /// Takes note of an entry that was checked before.
    pub fn note(&mut self, entry: &Entry) {
        for change in &entry.changes {
            self.last_seq = change.id.seq;
            self.note_made(change);
        }
    }

    /// Checks an entry and sets its times right. After an error the check is of no use.
    pub fn entry(&mut self, entry: &mut Entry, receipt: Time, bounds: &Bounds, at: u64) -> Result<(), JournalError> {
        entry.time = self.within(entry.time, receipt);
        for change in &mut entry.changes {
            self.order(change)?;
            change.time = self.within(change.time, receipt);
            self.own_object(change)?;
            self.note_made(change);
        }
        // Objects of one commit refer to each other, also to those that come later in it.
        entry.changes.iter().try_for_each(|change| self.content(change, bounds, at))
    }

    fn within(&self, time: Time, receipt: Time) -> Time {
        time.max(self.fork.forked).min(receipt.max(self.fork.forked))
    }

    fn order(&mut self, change: &Change) -> Result<(), JournalError> {
        let expected = self.last_seq + 1;
        match change.id {
            found if found.actor != self.fork.actor => Err(JournalError::Actor { expected: self.fork.actor, found }),
            found if found.seq != expected => Err(JournalError::Gap { expected, found: found.seq }),
            _ => {
                self.last_seq = expected;
                Ok(())
            }
        }
    }

    fn note_made(&mut self, change: &Change) {
        let word = (change.id.seq / 64) as usize;
        if word >= self.made.len() {
            self.made.resize(word + 1, 0);
        }
        let is_own = matches!(&change.operation, Operation::Create(creation) if creation.under.is_none());
        self.made[word] |= u64::from(is_own) << (change.id.seq % 64);
    }

    fn has_made(&self, seq: u64) -> bool {
        let word = usize::try_from(seq / 64).ok().and_then(|word| self.made.get(word));
        word.is_some_and(|word| word >> (seq % 64) & 1 == 1)
    }

    /// An object that the dream itself made is changed after it was made.
    fn own_object(&self, change: &Change) -> Result<(), JournalError> {
        match &change.operation {
            Operation::Create(_) => Ok(()),
            _ => self.object(change.id, change.object),
        }
    }

    fn object(&self, change: ChangeId, object: ObjectId) -> Result<(), JournalError> {
        let can_be = match object.minted_by() {
            // Only the image knows whether a container is there.
            None => true,
            Some(by) if by.actor == self.fork.actor => self.has_made(by.seq),
            Some(by) => by.actor < self.fork.actor && by.seq > 0,
        };
        if can_be { Ok(()) } else { Err(JournalError::UnknownObject(change, object)) }
    }

    fn content(&self, change: &Change, bounds: &Bounds, at: u64) -> Result<(), JournalError> {
        let mut found = Ok(());
        change.operation.references(&mut |object| {
            if found.is_ok() {
                found = self.object(change.id, object);
            }
        });
        found?;
        self.preds(change)?;
        names(&change.operation, |bytes| match bytes > bounds.name_bytes {
            true => Err(JournalError::TextBytes { what: "name", position: at, bytes, most: bounds.name_bytes }),
            false => Ok(()),
        })?;
        match &change.operation {
            Operation::Call { name, payload } if Call::read(change, name, payload).is_none() => {
                Err(JournalError::Call(change.id))
            }
            _ => Ok(()),
        }
    }

    /// Its own changes before this one, or somebody's whom it can have heard of.
    fn preds(&self, change: &Change) -> Result<(), JournalError> {
        let Preds::Named(preds) = &change.preds else { return Ok(()) };
        let can_be = |pred: &&ChangeId| match pred.actor {
            actor if actor == self.fork.actor => (1..change.id.seq).contains(&pred.seq),
            actor => actor < self.fork.actor && pred.seq > 0,
        };
        match preds.iter().find(|pred| !can_be(pred)) {
            Some(pred) => Err(JournalError::UnknownPred(change.id, *pred)),
            None => Ok(()),
        }
    }
}

/// How long the names are that an operation gives.
fn names(operation: &Operation, check: impl Fn(usize) -> Result<(), JournalError>) -> Result<(), JournalError> {
    match operation {
        Operation::Create(creation) => creation.slots.iter().try_for_each(|(name, _)| check(name.as_bytes().len())),
        Operation::Put { field: Field::Slot(name), .. } | Operation::Call { name, .. } => check(name.as_bytes().len()),
        _ => Ok(()),
    }
}
