//! Writes that name what they replace.

use crate::lab::*;
use merge::*;
use object::change::*;

fn id(actor: u64, seq: u64) -> ChangeId {
    ChangeId::new(ActorId(actor), seq)
}

/// It saw what live had written, and says so: that is no conflict, and no lie.
#[test]
fn what_its_author_saw_may_be_named() {
    let mut lab = Lab::new();
    let object = lab.object();
    lab.fork(9, Policy::ForkWins);
    lab.live(object, Operation::set_slot("x", 1.0));
    let seen = lab.done.last().expect("live wrote it").id;
    let mut dream = lab.fork(2, Policy::LiveWins);
    dream.does(object, Operation::set_slot("x", 2.0));
    dream.changes[0].preds = Preds::Named([seen].into());
    assert_eq!(lab.merge(&dream).conflicts, []);
    assert_eq!(lab.slot(object, "x"), Datum::number(2.0));
}

/// Changes are numbered from one. What has number 0 was taken for something of its own that left the ledger long ago.
#[test]
fn a_change_that_never_was_cannot_be_named() {
    let mut lab = Lab::new();
    let object = lab.object();
    let mut dream = lab.fork(2, Policy::ForkWins);
    dream.does(object, Operation::set_slot("x", 2.0));
    dream.changes[0].preds = Preds::Named([id(2, 0)].into());
    assert_eq!(lab.try_merge(&dream), Err(Refusal::UnknownPred(id(2, 1), id(2, 0))));
}

/// Live went on from what is undone, and so does the undo: that is what both started from.
#[test]
fn the_base_of_a_conflict_with_an_undo_is_what_was_undone() {
    let mut lab = Lab::new();
    let object = lab.object();
    lab.live(object, Operation::set_slot("x", 1.0));
    let mut dream = lab.fork(2, Policy::ForkWins);
    dream.does(object, Operation::set_slot("x", 2.0));
    lab.merge(&dream);
    lab.live(object, Operation::set_slot("x", 3.0));
    let (actor, time) = (ActorId(3), lab.next_time());
    lab.ledger.fork_for_undo(actor, time, Policy::KeepBoth).expect("the actor is new");
    let changes = lab.ledger.undo(&dream.changes, &[], actor, time);
    let outcome = lab.merge_with(actor, &changes, &NoReconciler).expect("an undo keeps to the rules");
    let [conflict] = &outcome.conflicts[..] else { panic!("one conflict: {outcome:?}") };
    assert_eq!((&conflict.base, &conflict.shown), (&Datum::number(2.0), &Datum::number(1.0)));
}
