//! One merge taken back.

use crate::lab::*;
use merge::*;
use object::change::*;

fn undo(lab: &mut Lab, dream: &Dream, policy: Policy) -> Outcome {
    let time = lab.next_time();
    let actor = ActorId(dream.actor.0 + 1000);
    lab.ledger.fork_for_undo(actor, time, policy).expect("the actor is new");
    let changes = lab.ledger.undo(&dream.changes, actor, time);
    lab.merge_with(actor, &changes, &NoReconciler).expect("an undo keeps to the rules")
}

#[test]
fn an_uncontended_merge_taken_back_leaves_what_was() {
    let mut lab = Lab::new();
    let object = lab.object();
    lab.live(object, Operation::set_slot("x", 1.0));
    let list = lab.list(&["a", "b", "c", "d"]);
    let bag = lab.create(Creation { body: Body::Members(vec![(Datum::Nil, 2)]), ..Creation::default() });
    let before = lab.image.clone();
    let mut dream = lab.fork(2, Policy::ForkWins);
    dream.does(object, Operation::set_slot("x", 2.0)).does(object, Operation::set_slot("x", 3.0));
    dream.does(object, Operation::set_slot("y", 1.0));
    dream.does(list, delete(1, 2)).does(list, insert(1, &["P", "Q"]));
    dream.does(list, Operation::Move { line: Line::Items, from: 0, to: 3 });
    dream.does(list, Operation::Set { index: 2, value: Datum::text("Z") });
    dream.does(bag, Operation::Remove { member: Datum::Nil, count: 1 });
    dream.does(bag, Operation::Add { member: Datum::text("m"), count: 2 });
    dream.does(bag, Operation::Count { key: Datum::Nil, delta: 7 });
    lab.merge(&dream);
    assert_eq!(lab.items(list), "PQZa");
    undo(&mut lab, &dream, Policy::ForkWins);
    assert_eq!(lab.image.things(), before.things());
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
