//! A merge as the changes of one commit, of the dream's own actor. What a change makes has the id of that change, so the new
//! objects of the journal keep their numbers; the other numbers up to the journal's last stand for nothing. Behind them come
//! what was woven of both sides, the other effects, what the image writes down about the merge, and the note.

use super::arrival::MergePlan;
use super::book::Book;
use super::note::Note;
use crate::error::ImageError;
use crate::landmarks::Landmarks;
use crate::retell::no_operation;
use merge::Effect;
use object::change::{Change, ChangeId, ObjectId, Operation, Time};
use store::Store;

pub fn batch(store: &Store, plan: &MergePlan, time: Time) -> Result<Vec<Change>, ImageError> {
    let landmarks = Landmarks::of(store)?;
    let actor = plan.arrival.actor;
    let mut operations = effects(plan, landmarks.root);
    let books = operations.len() as u64 + 1;
    let root = landmarks.root;
    let mut book = Book::new(store, plan, books)?;
    let (record, opened) = book.write(time)?;
    operations.extend(book.into_operations());
    let note = Note {
        actor,
        name: plan.arrival.name.clone(),
        fork_commit: plan.arrival.fork_commit,
        forked: plan.arrival.forked,
        receipt: plan.arrival.receipt,
        policy: plan.arrival.policy,
        is_partial: plan.arrival.only.is_some(),
        parents: plan.arrival.parents.clone(),
        books,
        record,
        opened,
        exceptions: plan.exceptions.clone(),
        decided: plan.decided.clone(),
        aliases: plan.aliases.clone(),
        journal: plan.journal.clone(),
    };
    operations.push((root, note.operation()?));
    Ok(numbered(plan, operations, time))
}

/// The same without all that is written down about the merge.
pub fn effects_only(store: &Store, plan: &MergePlan, time: Time) -> Result<Vec<Change>, ImageError> {
    let landmarks = Landmarks::of(store)?;
    Ok(numbered(plan, effects(plan, landmarks.root), time))
}

fn numbered(plan: &MergePlan, operations: Vec<(ObjectId, Operation)>, time: Time) -> Vec<Change> {
    let actor = plan.arrival.actor;
    let numbered = operations.into_iter().zip(1..);
    let change = |((object, operation), seq)| Change::new(ChangeId::new(actor, seq), time, object, operation);
    numbered.map(change).collect()
}

/// What is done to the image on account of the journal, by the numbers of the changes.
fn effects(plan: &MergePlan, root: ObjectId) -> Vec<(ObjectId, Operation)> {
    let last = plan.arrival.changes.len();
    let mut numbered = vec![(root, no_operation()); last];
    let mut others = Vec::new();
    for Effect { object, operation } in &plan.effects {
        let place = object.minted_by().filter(|change| change.actor == plan.arrival.actor);
        let place = place
            .filter(|_| matches!(operation, Operation::Create(_)))
            .and_then(|change| numbered.get_mut(usize::try_from(change.seq.checked_sub(1)?).ok()?));
        match place {
            Some(place) => *place = (*object, operation.clone()),
            None => others.push((*object, operation.clone())),
        }
    }
    let woven = plan.woven.iter().map(|(object, creation)| (*object, Operation::Create(Box::new(creation.clone()))));
    numbered.extend(woven);
    numbered.extend(others);
    numbered
}
