//! Sets and bags: who took which one, and what comes back.

use crate::lab::*;
use merge::*;
use object::change::*;

fn take(count: u64) -> Operation {
    Operation::Remove { member: Datum::Nil, count }
}

fn add(count: u64) -> Operation {
    Operation::Add { member: Datum::Nil, count }
}

fn bag(lab: &mut Lab, count: u64) -> ObjectId {
    lab.create(Creation { body: Body::Members(vec![(Datum::Nil, count)]), ..Creation::default() })
}

fn undo(lab: &mut Lab, dream: &Dream) -> Vec<Change> {
    let (actor, time) = (ActorId(dream.actor.0 + 1000), lab.next_time());
    lab.ledger.fork_for_undo(actor, time, Policy::ForkWins).expect("the actor is new");
    let changes = lab.ledger.undo(&dream.changes, &[], actor, time);
    lab.merge_with(actor, &changes, &NoReconciler).expect("an undo keeps to the rules");
    changes
}

/// Nothing is left to do where both did the same.
#[test]
fn what_both_took_asks_for_nothing() {
    let mut lab = Lab::new();
    let bag = bag(&mut lab, 3);
    let mut dream = lab.fork(2, Policy::ForkWins);
    dream.does(bag, take(1));
    lab.live(bag, take(1));
    assert_eq!(lab.merge(&dream).effects, []);
    assert_eq!(undo(&mut lab, &dream), [], "live has taken it too");
}

#[test]
fn what_a_dream_alone_took_comes_back_once() {
    let mut lab = Lab::new();
    let bag = bag(&mut lab, 5);
    let mut dream = lab.fork(2, Policy::ForkWins);
    dream.does(bag, take(1)).does(bag, take(2));
    lab.live(bag, take(1));
    lab.merge(&dream);
    assert_eq!(lab.image.occurrences(bag, &Datum::Nil), 2);
    undo(&mut lab, &dream);
    assert_eq!(lab.image.occurrences(bag, &Datum::Nil), 4, "the one that live took too is gone");
}

/// Who found none there has taken none, and does not hold up those that come back.
#[test]
fn who_took_nothing_keeps_nothing_back() {
    let mut lab = Lab::new();
    let bag = bag(&mut lab, 2);
    let mut dream = lab.fork(2, Policy::ForkWins);
    dream.does(bag, take(2));
    lab.merge(&dream);
    let mut other = lab.fork(3, Policy::ForkWins);
    other.does(bag, take(1));
    lab.merge(&other);
    undo(&mut lab, &dream);
    assert_eq!(lab.image.occurrences(bag, &Datum::Nil), 2);
}

/// The first by its name is taken first, and not the one that came in first.
#[test]
fn which_one_is_taken_does_not_hang_on_the_order_of_merges() {
    let mut lab = Lab::new();
    let bag = bag(&mut lab, 0);
    let (mut one, mut other) = (lab.fork(2, Policy::ForkWins), lab.fork(3, Policy::ForkWins));
    one.does(bag, add(1));
    other.does(bag, add(1));
    for order in [[&one, &other], [&other, &one]] {
        let mut lab = lab.clone();
        for dream in order {
            lab.merge(dream);
        }
        let mut last = lab.fork(4, Policy::ForkWins);
        last.does(bag, take(1));
        lab.merge(&last);
        undo(&mut lab, &one);
        assert_eq!(lab.image.occurrences(bag, &Datum::Nil), 1, "what is undone was taken already");
    }
}

/// What was taken before all forks began is gone for all of them, and is not taken again.
#[test]
fn compaction_of_a_bag_is_invisible() {
    for compacts in [false, true] {
        let mut lab = Lab::new();
        let bag = bag(&mut lab, 3);
        lab.fork(9, Policy::ForkWins);
        lab.live(bag, take(1));
        let mut dream = lab.fork(2, Policy::ForkWins);
        lab.live(bag, take(1));
        lab.ledger.close(ActorId(9));
        if compacts {
            lab.ledger.compact();
        }
        dream.does(bag, take(1));
        lab.merge(&dream);
        assert_eq!(lab.image.occurrences(bag, &Datum::Nil), 1, "{compacts}");
    }
}

/// Live is asked to count down nothing that came and goes with a new object.
#[test]
fn new_objects_are_left_as_they_are() {
    let mut lab = Lab::new();
    lab.object();
    let mut dream = lab.fork(2, Policy::ForkWins);
    dream.create(Creation { body: Body::Counters(vec![(Datum::Nil, 5)]), ..Creation::default() });
    lab.merge(&dream);
    assert_eq!(undo(&mut lab, &dream), []);
}
