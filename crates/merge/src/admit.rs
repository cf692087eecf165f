//! What a journal must keep to. It comes from a sandbox and may be anything: who wrote it, when, and with what rank is
//! the primary's knowledge, and what it names must be what its author could see.

use crate::ledger::Ledger;
use crate::register::{Register, Replaced};
use crate::stamp::{Fork, View};
use object::change::{ActorId, Change, ChangeId, ObjectId, Operation, Preds, Time};

/// Why a journal is refused. Nothing of it is kept then.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Refusal {
    #[error("no fork of actor {0:?} is known")]
    UnknownFork(ActorId),
    #[error("actor {0:?} exists already")]
    ActorTaken(ActorId),
    #[error("the fork was made inside of {0:?}, whose change {1} has not been merged")]
    ParentNotMerged(ActorId, u64),
    #[error("change {found} follows change {expected} of its actor, with a gap")]
    Gap { expected: u64, found: u64 },
    #[error("change {0} refers to object {1}, which its author cannot know")]
    UnknownObject(ChangeId, ObjectId),
    #[error("change {0} makes object {1}, which exists")]
    ObjectExists(ChangeId, ObjectId),
    #[error("change {0} replaces {1}, which its author cannot have seen there")]
    UnknownPred(ChangeId, ChangeId),
    #[error("change {0} is about an index beyond the end")]
    OutOfRange(ChangeId),
}

/// A change as the primary knows it: what the journal says, under the author, number and time that count.
#[derive(Clone, Copy)]
pub(crate) struct Told<'c> {
    pub id: ChangeId,
    pub time: Time,
    pub object: ObjectId,
    pub operation: &'c Operation,
    pub preds: &'c Preds,
}

impl<'c> From<&'c Change> for Told<'c> {
    fn from(change: &'c Change) -> Told<'c> {
        let Change { id, time, object, operation, preds } = change;
        Told { id: *id, time: *time, object: *object, operation, preds }
    }
}

impl Ledger {
    /// The changes that are new, which follow the last one without gaps.
    pub(crate) fn new_changes<'c>(&self, fork: &Fork, journal: &'c [Change]) -> Result<&'c [Change], Refusal> {
        for (parent, seq) in &fork.view.parents {
            if self.admitted(*parent) < *seq {
                return Err(Refusal::ParentNotMerged(*parent, *seq));
            }
        }
        let last = self.admitted(fork.actor);
        let known = journal.iter().take_while(|change| change.id.seq <= last).count();
        let changes = &journal[known..];
        match changes.iter().zip(last + 1..).find(|(change, seq)| change.id.seq != *seq) {
            Some((change, expected)) => Err(Refusal::Gap { expected, found: change.id.seq }),
            None => Ok(changes),
        }
    }
}

/// The change under the actor and within the times that the primary knows.
pub(crate) fn owned(change: &Change, actor: ActorId, forked: Time, receipt: Time) -> Told<'_> {
    let id = ChangeId::new(actor, change.id.seq);
    let time = change.time.max(forked).min(receipt.max(forked));
    let object = match &change.operation {
        Operation::Create(creation) => creation.object(id),
        _ => change.object,
    };
    Told { id, time, object, ..Told::from(change) }
}

/// What a write replaces, if its author may say so.
pub(crate) fn replaced<T: Clone + PartialEq>(
    register: &Register<T>,
    change: ChangeId,
    preds: &Preds,
    view: &View,
    is_undo: bool,
) -> Result<Replaced, Refusal> {
    let Preds::Named(named) = preds else { return Ok(register.seen(view)) };
    let mut ids: Vec<ChangeId> = Vec::with_capacity(named.len());
    for id in named {
        let is_own = id.actor == change.actor && register.find(*id).is_some();
        let is_known = is_own || if is_undo { register.find(*id).is_some() } else { register.is_head_in(*id, view) };
        match (is_known, is_undo) {
            (true, _) if !ids.contains(id) => ids.push(*id),
            // What left the ledger was replaced long ago.
            (true, _) | (false, true) => {}
            (false, false) => return Err(Refusal::UnknownPred(change, *id)),
        }
    }
    Ok(Replaced::from_ids(ids))
}
