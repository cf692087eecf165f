//! What a journal must keep to. It comes from a sandbox and may be anything: who wrote it, when, and with what rank is
//! the primary's knowledge, and what it names must be what its author could see.

use crate::ledger::Ledger;
use crate::register::{Register, Replaced, Version};
use crate::stamp::{Fork, View};
use object::change::*;
use std::collections::BTreeSet;

/// Why a journal is refused. Nothing of it is kept then.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Refusal {
    #[error("no fork of actor {0:?} is known")]
    UnknownFork(ActorId),
    #[error("actor {0:?} exists already")]
    ActorTaken(ActorId),
    #[error("the fork was made inside of {0:?}, whose change {1} has not been merged")]
    ParentNotMerged(ActorId, u64),
    #[error("the fork was made inside of {0:?}, of which more than change {1} has been merged")]
    ParentMovedOn(ActorId, u64),
    #[error("change {found} follows change {expected} of its actor, with a gap")]
    Gap { expected: u64, found: u64 },
    #[error("change {0} refers to object {1}, which its author cannot know")]
    UnknownObject(ChangeId, ObjectId),
    #[error("change {0} makes object {1}, which exists")]
    ObjectExists(ChangeId, ObjectId),
    #[error("change {0} replaces {1}, which its author cannot have seen there")]
    UnknownPred(ChangeId, ChangeId),
    #[error("change {0} leaves more versions of one place side by side than are allowed")]
    Crowded(ChangeId),
    #[error("change {0} is about an index beyond the end")]
    OutOfRange(ChangeId),
    #[error("change {0} puts into object {1} what that has no room for")]
    Unfit(ChangeId, ObjectId),
    #[error("object {0} would hold units of {1} and of {2} bytes")]
    Widths(ObjectId, u8, u8),
    #[error("what {0:?} did to protos leads in circles so entangled that to merge it would take too long")]
    Knotted(ActorId),
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
        let known = journal.iter().take_while(|change| (1..=last).contains(&change.id.seq)).count();
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

/// How many versions of its own a journal may leave side by side in one place.
const VERSIONS_MOST: usize = 64;

/// What a write replaces that names it, if its author may say so; none if that is all that it sees.
pub(crate) fn replaced<T: Clone + PartialEq>(
    register: &Register<T>,
    change: ChangeId,
    named: &[ChangeId],
    view: &View,
    is_undo: bool,
) -> Result<Option<Replaced>, Refusal> {
    let heads = register.heads_in(view);
    let is_own = |version: &&Version<T>| version.stamp.id.actor == change.actor;
    let last = register.versions.iter().rfind(is_own).map_or(0, |own| own.stamp.id.seq);
    let mut ids: BTreeSet<ChangeId> = BTreeSet::new();
    for id in named {
        let is_head = heads.iter().any(|head| head.stamp.id == *id);
        let is_found = is_head || ((is_undo || id.actor == change.actor) && register.find(*id).is_some());
        // What left the ledger was replaced long ago, and so was what its author wrote over.
        let is_gone = is_undo || (id.actor == change.actor && id.seq < last);
        match (is_found, is_gone) {
            (true, _) => {
                ids.insert(*id);
            }
            (false, true) => {}
            (false, false) => return Err(Refusal::UnknownPred(change, *id)),
        }
    }
    if !is_undo && heads.iter().all(|head| ids.contains(&head.stamp.id)) {
        return Ok(None);
    }
    if register.versions.iter().filter(is_own).count() >= VERSIONS_MOST {
        return Err(Refusal::Crowded(change));
    }
    Ok(Some(Replaced::from_ids(ids.into_iter().collect())))
}

/// Whether an object of this form can hold what the operation brings.
pub fn fits(operation: &Operation, form: impl FnOnce() -> Form) -> bool {
    match operation {
        Operation::Create(_) | Operation::Call { .. } | Operation::Put { field: Field::Slot(_), .. } => true,
        Operation::Put { field: Field::Flags, value } => is_flags(value),
        Operation::Put { field: Field::Data, .. } => form() == Form::Plain,
        Operation::Put { field: Field::Entry(_), .. } => form() == Form::Map,
        Operation::Insert { line, run, .. } => is_run_of(run, *line) && has_line(form, *line),
        Operation::Delete { line, .. } | Operation::Move { line, .. } => has_line(form, *line),
        Operation::Set { .. } => form() == Form::Items,
        Operation::Count { .. } => form() == Form::Counters,
        Operation::Add { .. } | Operation::Remove { .. } => form() == Form::Members,
    }
}

fn has_line(form: impl FnOnce() -> Form, line: Line) -> bool {
    match line {
        Line::Protos => true,
        Line::Items => form() == Form::Items,
        Line::Units => form() == Form::Units,
    }
}

fn is_run_of(run: &Run, line: Line) -> bool {
    match (run, line) {
        (Run::Items(items), Line::Protos) => items.iter().all(|item| matches!(item, Datum::Object(_))),
        (Run::Items(_), Line::Items) | (Run::Units { .. }, Line::Units) => true,
        _ => false,
    }
}

fn is_flags(value: &Datum) -> bool {
    match value {
        Datum::Absent => true,
        Datum::Number(number) => f64::from(*number as u32).to_bits() == number.to_bits(),
        _ => false,
    }
}
