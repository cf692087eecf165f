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

impl Ledger {
    /// The changes that are new, as the primary knows them: actor, number and time in order, ids its own.
    pub(crate) fn new_changes(&self, fork: &Fork, journal: &[Change], receipt: Time) -> Result<Vec<Change>, Refusal> {
        for (parent, seq) in &fork.view.parents {
            if self.admitted(*parent) < *seq {
                return Err(Refusal::ParentNotMerged(*parent, *seq));
            }
        }
        let mut last = self.admitted(fork.actor);
        let mut changes = Vec::with_capacity(journal.len());
        for change in journal {
            if change.id.seq <= last {
                continue;
            }
            if change.id.seq != last + 1 {
                return Err(Refusal::Gap { expected: last + 1, found: change.id.seq });
            }
            last += 1;
            changes.push(owned(change, fork.actor, fork.time, receipt));
        }
        Ok(changes)
    }
}

fn owned(change: &Change, actor: ActorId, forked: Time, receipt: Time) -> Change {
    let mut change = change.clone();
    change.id.actor = actor;
    change.time = change.time.max(forked).min(receipt.max(forked));
    if let Operation::Create(creation) = &change.operation {
        change.object = creation.object(change.id);
    }
    change
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
