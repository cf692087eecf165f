//! One merge taken back.

use crate::lab::*;
use merge::*;
use object::change::*;

fn undo(lab: &mut Lab, dream: &Dream, policy: Policy) -> Outcome {
    let time = lab.next_time();
    let actor = ActorId(dream.actor.0 + 1000);
    lab.ledger.fork_for_undo(actor, time, policy).expect("the actor is new");
    let changes = lab.ledger.undo(&dream.changes, &[], actor, time);
    lab.merge_with(actor, &changes, &NoReconciler).expect("an undo keeps to the rules")
}

#[test]
fn an_uncontended_merge_taken_back_leaves_what_was() {
    let mut lab = Lab::new();
    let object = lab.object();
    lab.live(object, Operation::set_slot("x", 1.0));
    let list = lab.list(&["a", "b", "c", "d"]);
    let bag = lab.create(Creation { body: Body::Members(vec![(Datum::Nil, 2)]), ..Creation::default() });
    let counter = lab.create(Creation { body: Body::Counters(vec![(Datum::Nil, 5)]), ..Creation::default() });
    let before = lab.image.objects();
    let mut dream = lab.fork(2, Policy::ForkWins);
    dream.does(object, Operation::set_slot("x", 2.0)).does(object, Operation::set_slot("x", 3.0));
    dream.does(object, Operation::set_slot("y", 1.0));
    dream.does(list, delete(1, 2)).does(list, insert(1, &["P", "Q"]));
    dream.does(list, Operation::Move { line: Line::Items, from: 0, to: 3 });
    dream.does(list, Operation::Set { index: 2, value: Datum::text("Z") });
    dream.does(bag, Operation::Remove { member: Datum::Nil, count: 1 });
    dream.does(bag, Operation::Add { member: Datum::text("m"), count: 2 });
    dream.does(counter, Operation::Count { key: Datum::Nil, delta: 7 });
    lab.merge(&dream);
    assert_eq!(lab.items(list), "PQZa");
    undo(&mut lab, &dream, Policy::ForkWins);
    assert_eq!(lab.image.objects(), before);
}

#[test]
fn what_was_written_since_is_an_ordinary_conflict() {
    let mut lab = Lab::new();
    let object = lab.object();
    lab.live(object, Operation::set_slot("x", 1.0));
    let mut dream = lab.fork(2, Policy::ForkWins);
    dream.does(object, Operation::set_slot("x", 2.0));
    lab.merge(&dream);
    lab.live(object, Operation::set_slot("x", 3.0));
    let outcome = undo(&mut lab, &dream, Policy::KeepBoth);
    assert_eq!(lab.slot(object, "x"), Datum::number(1.0), "the undo is the later one");
    assert_eq!(outcome.conflicts.iter().filter(|conflict| conflict.status == Status::Open).count(), 1);
}

/// The first of two is gone, and then the second: what was there before both comes back, and what live wrote in between if it did.
#[test]
fn what_is_gone_does_not_come_back() {
    for between in [None, Some(7.0)] {
        let mut lab = Lab::new();
        let object = lab.object();
        lab.live(object, Operation::set_slot("x", 1.0));
        let list = lab.list(&["a"]);
        let mut first = lab.fork(2, Policy::ForkWins);
        first.does(object, Operation::set_slot("x", 2.0)).does(list, insert(1, &["b"]));
        lab.merge(&first);
        lab.fork(3, Policy::ForkWins);
        between.into_iter().for_each(|value| lab.live(object, Operation::set_slot("x", value)));
        let mut second = lab.fork(4, Policy::ForkWins);
        second.does(object, Operation::set_slot("x", 3.0)).does(list, insert(2, &["c"]));
        lab.merge(&second);
        let (time, actor) = (lab.next_time(), ActorId(99));
        lab.ledger.fork_for_undo(actor, time, Policy::LiveWins).expect("the actor is new");
        let gone = [Span::of(&first.changes).expect("it has some")];
        let changes = lab.ledger.undo(&second.changes, &gone, actor, time);
        let outcome = lab.merge_with(actor, &changes, &NoReconciler).expect("an undo keeps to the rules");
        assert_eq!(lab.slot(object, "x"), Datum::number(between.unwrap_or(1.0)), "{outcome:?}");
        assert_eq!(lab.items(list), "a");
    }
}

#[test]
fn what_lost_is_taken_back_without_a_trace() {
    let mut lab = Lab::new();
    let object = lab.object();
    let mut dream = lab.fork(2, Policy::LiveWins);
    dream.does(object, Operation::set_slot("x", 2.0));
    lab.live(object, Operation::set_slot("x", 3.0));
    lab.merge(&dream);
    let outcome = undo(&mut lab, &dream, Policy::ForkWins);
    assert_eq!((lab.slot(object, "x"), outcome.conflicts.len()), (Datum::number(3.0), 0));
}

/// What a dream put into a container that live made too was left there.
#[test]
fn what_went_into_a_shared_container_is_taken_back() {
    let mut lab = Lab::new();
    let map = lab.create(Creation { body: Body::Map(Vec::new()), ..Creation::default() });
    let mut dream = lab.fork(2, Policy::ForkWins);
    let inner = |body| Creation { body, under: Some((map, Field::Entry(Datum::text("k")))), ..Creation::default() };
    let entries = |name: &str| Body::Map(vec![(Datum::text(name), Datum::number(1.0))]);
    let shared = lab.create(inner(entries("a")));
    let before = lab.image.objects();
    assert_eq!(dream.create(inner(entries("b"))), shared);
    lab.merge(&dream);
    assert_ne!(lab.image.objects(), before);
    undo(&mut lab, &dream, Policy::ForkWins);
    assert_eq!(lab.image.objects(), before);
}

/// A value that lost to a deletion is in no conflict; taking back the deletion brings it back.
#[test]
fn what_was_set_and_deleted_is_recovered() {
    let mut lab = Lab::new();
    let list = lab.list(&["a", "b", "c"]);
    let mut dream = lab.fork(2, Policy::ForkWins);
    dream.does(list, delete(1, 2));
    lab.live(list, Operation::Set { index: 1, value: Datum::text("B") });
    lab.merge(&dream);
    assert_eq!(lab.items(list), "a");
    undo(&mut lab, &dream, Policy::ForkWins);
    assert_eq!(lab.items(list), "aBc");
}

#[test]
fn one_commit_of_live_is_taken_back_between_two_forks() {
    let mut lab = Lab::new();
    let (list, object) = (lab.list(&["a", "b"]), lab.object());
    lab.live(list, insert(2, &["c"]));
    lab.fork(2, Policy::ForkWins);
    let first = lab.done.len();
    lab.live(list, insert(3, &["d"]));
    let commit = Dream { actor: LIVE, changes: vec![lab.done[first].clone()], time: Time(0) };
    lab.fork(3, Policy::ForkWins);
    lab.live(list, insert(4, &["e"]));
    lab.live(list, delete(0, 1));
    lab.live(object, Operation::set_slot("x", 1.0));
    assert_eq!(lab.items(list), "bcde");
    undo(&mut lab, &commit, Policy::ForkWins);
    assert_eq!(lab.items(list), "bce");
}

#[test]
fn an_undo_can_be_taken_back() {
    let mut lab = Lab::new();
    let (list, object) = (lab.list(&["a", "b", "c"]), lab.object());
    let bag = lab.create(Creation { body: Body::Members(vec![(Datum::Nil, 2)]), ..Creation::default() });
    let mut dream = lab.fork(2, Policy::ForkWins);
    dream.does(object, Operation::set_slot("x", 2.0)).does(list, delete(1, 1)).does(list, insert(0, &["z"]));
    dream.does(bag, Operation::Remove { member: Datum::Nil, count: 1 });
    dream.does(bag, Operation::Add { member: Datum::text("m"), count: 2 });
    lab.merge(&dream);
    let done = lab.image.objects();
    let (actor, time) = (ActorId(50), lab.next_time());
    lab.ledger.fork_for_undo(actor, time, Policy::ForkWins).expect("the actor is new");
    let changes = lab.ledger.undo(&dream.changes, &[], actor, time);
    lab.merge_with(actor, &changes, &NoReconciler).expect("an undo keeps to the rules");
    assert_ne!(lab.image.objects(), done);
    undo(&mut lab, &Dream { actor, changes, time }, Policy::ForkWins);
    assert_eq!(lab.image.objects(), done);
}
