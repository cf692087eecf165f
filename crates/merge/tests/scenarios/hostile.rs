//! Journals that lie. Each is refused whole, or what it lies about does not count.

use crate::lab::*;
use merge::*;
use object::change::*;

/// An image with one object, and a fork of it.
fn prepared() -> (Lab, ObjectId, Dream) {
    let mut lab = Lab::new();
    let object = lab.object();
    lab.live(object, Operation::set_slot("x", 1.0));
    let dream = lab.fork(2, Policy::ForkWins);
    (lab, object, dream)
}

fn id(actor: u64, seq: u64) -> ChangeId {
    ChangeId::new(ActorId(actor), seq)
}

#[test]
fn another_actor_is_overwritten() {
    let (mut lab, object, mut dream) = prepared();
    dream.does(object, Operation::set_slot("x", 2.0));
    let mut changes = dream.changes.clone();
    changes[0].id.actor = LIVE;
    lab.merge_with(dream.actor, &changes, &NoReconciler).expect("it counts as the dream's own");
    assert_eq!(lab.ledger.admitted(ActorId(2)), 1);
    assert_eq!(lab.slot(object, "x"), Datum::number(2.0));
}

#[test]
fn time_is_between_fork_and_receipt() {
    let (mut lab, object, mut dream) = prepared();
    lab.ledger.close(dream.actor);
    dream = lab.fork(3, Policy::LastWriterWins);
    let receipt = lab.next_time();
    dream.at(Time::MAX).does(object, Operation::set_slot("x", 2.0));
    let outcome = lab.ledger.merge(dream.actor, &dream.changes, receipt, &lab.image, &NoReconciler).expect("in order");
    lab.image.take(&outcome);
    let mut other = lab.fork(4, Policy::LastWriterWins);
    other.at(Time(0)).does(object, Operation::set_slot("y", 2.0));
    lab.live(object, Operation::set_slot("x", 3.0));
    lab.merge(&other);
    assert_eq!(lab.slot(object, "x"), Datum::number(3.0));
}

#[test]
fn a_far_future_does_not_win() {
    let (mut lab, object, mut dream) = prepared();
    lab.ledger.close(dream.actor);
    dream = lab.fork(3, Policy::LastWriterWins);
    dream.at(Time::MAX).does(object, Operation::set_slot("x", 2.0));
    let receipt = lab.next_time();
    lab.live(object, Operation::set_slot("x", 3.0));
    let outcome = lab.ledger.merge(dream.actor, &dream.changes, receipt, &lab.image, &NoReconciler).expect("in order");
    lab.image.take(&outcome);
    assert_eq!(lab.slot(object, "x"), Datum::number(3.0), "live wrote after the journal came in");
}

#[test]
fn what_it_cannot_have_seen_it_cannot_replace() {
    let (mut lab, object, mut dream) = prepared();
    lab.live(object, Operation::set_slot("x", 5.0));
    dream.does(object, Operation::set_slot("x", 2.0));
    for stolen in [id(1, 3), id(7, 1), id(2, 9)] {
        dream.changes[0].preds = Preds::Named([stolen].into());
        assert_eq!(lab.try_merge(&dream), Err(Refusal::UnknownPred(id(2, 1), stolen)));
    }
    assert_eq!(lab.slot(object, "x"), Datum::number(5.0));
}

#[test]
fn objects_of_others_are_out_of_reach() {
    let (mut lab, object, mut dream) = prepared();
    let later = lab.object();
    dream.does(object, Operation::set_slot("x", later));
    assert_eq!(lab.try_merge(&dream), Err(Refusal::UnknownObject(id(2, 1), later)));
    dream.changes.clear();
    dream.does(later, Operation::set_slot("x", 1.0));
    assert_eq!(lab.try_merge(&dream), Err(Refusal::UnknownObject(id(2, 1), later)));
    dream.changes.clear();
    let never = ObjectId::minted(id(9, 9));
    dream.does(object, Operation::set_slot("x", never));
    assert_eq!(lab.try_merge(&dream), Err(Refusal::UnknownObject(id(2, 1), never)));
}

#[test]
fn an_object_is_not_used_before_it_is_made() {
    let (mut lab, _, mut dream) = prepared();
    let made = ObjectId::minted(id(2, 2));
    dream.does(made, Operation::set_slot("x", 1.0));
    dream.create(Creation::default());
    assert_eq!(lab.try_merge(&dream), Err(Refusal::UnknownObject(id(2, 1), made)));
}

#[test]
fn new_objects_may_refer_to_each_other() {
    let (mut lab, object, mut dream) = prepared();
    let second = ObjectId::minted(id(2, 2));
    let first = dream.create(Creation { slots: vec![("other".into(), second.into())], ..Creation::default() });
    dream.create(Creation { slots: vec![("other".into(), first.into())], ..Creation::default() });
    dream.does(object, Operation::set_slot("x", first)).does(second, Operation::set_slot("y", 1.0));
    lab.merge(&dream);
    assert_eq!(lab.slot(first, "other"), Datum::Object(second));
    assert_eq!((lab.slot(second, "other"), lab.slot(second, "y")), (Datum::Object(first), Datum::number(1.0)));
}

#[test]
fn a_gap_is_refused() {
    let (mut lab, object, mut dream) = prepared();
    dream.does(object, Operation::set_slot("x", 2.0));
    dream.changes[0].id.seq = 2;
    assert_eq!(lab.try_merge(&dream), Err(Refusal::Gap { expected: 1, found: 2 }));
}

#[test]
fn an_unknown_or_closed_fork_is_refused() {
    let (mut lab, object, mut dream) = prepared();
    dream.does(object, Operation::set_slot("x", 2.0));
    lab.ledger.close(dream.actor);
    assert_eq!(lab.try_merge(&dream), Err(Refusal::UnknownFork(ActorId(2))));
    let time = lab.next_time();
    assert_eq!(lab.ledger.fork(LIVE, time, Policy::ForkWins), Err(Refusal::ActorTaken(LIVE)));
}

/// A refused journal leaves nothing behind: what comes after finds the ledger as if it had never been.
#[test]
fn what_is_refused_leaves_no_trace() {
    let (mut lab, object, mut dream) = prepared();
    let list = lab.list(&["a", "b"]);
    let bag = lab.create(Creation { body: Body::Members(vec![(Datum::Nil, 2)]), ..Creation::default() });
    let mut bad = lab.fork(3, Policy::ForkWins);
    bad.does(object, Operation::set_slot("x", 7.0));
    bad.does(list, delete(0, 1)).does(list, insert(1, &["z"]));
    bad.does(bag, Operation::Remove { member: Datum::Nil, count: 2 });
    bad.create(Creation::default());
    bad.does(list, delete(5, 1));
    let before = lab.image.clone();
    assert_eq!(lab.try_merge(&bad), Err(Refusal::OutOfRange(id(3, 6))));
    assert_eq!(lab.image, before);
    assert_eq!(lab.ledger.admitted(ActorId(3)), 0);
    assert!(lab.ledger.conflicts().is_empty());
    dream.does(object, Operation::set_slot("x", 2.0));
    let outcome = lab.merge(&dream);
    assert_eq!((lab.slot(object, "x"), outcome.conflicts.len()), (Datum::number(2.0), 0));
    bad.changes.pop();
    lab.merge(&bad);
    assert_eq!(lab.items(list), "bz");
}

#[test]
fn indexes_are_within_what_was_seen() {
    let (mut lab, _, _) = prepared();
    let list = lab.list(&["a"]);
    let operations = [
        insert(2, &["z"]),
        insert(u64::MAX, &["z"]),
        insert(2, &[]),
        delete(0, 2),
        delete(0, u64::MAX),
        Operation::Move { line: Line::Items, from: 0, to: 1 },
        Operation::Move { line: Line::Items, from: 1, to: 0 },
        Operation::Set { index: 1, value: Datum::Nil },
    ];
    for (operation, actor) in operations.into_iter().zip(10..) {
        let mut dream = lab.fork(actor, Policy::ForkWins);
        dream.does(list, operation);
        assert_eq!(lab.try_merge(&dream), Err(Refusal::OutOfRange(id(actor, 1))));
    }
    assert_eq!(lab.items(list), "a");
}
