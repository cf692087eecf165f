//! What no open fork needs is let go of, and nothing else.

use crate::lab::*;
use merge::*;
use object::change::*;

/// A queue that live works on while a dream is open would else grow by a piece with every item.
#[test]
fn what_live_does_alone_stays_small() {
    let mut lab = Lab::new();
    let list = lab.list(&["a", "b"]);
    let object = lab.object();
    let mut dream = lab.fork(2, Policy::ForkWins);
    for step in 0..2000 {
        let end = lab.image.length(list, Line::Items);
        lab.live(list, insert(end, &["x"]));
        lab.live(list, insert(end + 1, &["y", "z"]));
        lab.live(list, delete(0, 2));
        lab.live(object, Operation::set_slot("x", f64::from(step)));
    }
    assert!(lab.ledger.weight() < 10, "{}", lab.ledger.weight());
    dream.does(list, insert(1, &["D"])).does(list, insert(3, &["E"]));
    lab.merge(&dream);
    let items = lab.items(list);
    assert!(items.starts_with('D') && items.ends_with('E') && items.len() == 2004, "{items}");
}

#[test]
fn with_no_fork_open_the_ledger_is_empty() {
    let mut lab = Lab::new();
    let object = lab.object();
    lab.live(object, Operation::set_slot("x", 1.0));
    assert!(lab.ledger.is_empty());
    let dream = lab.fork(2, Policy::ForkWins);
    for step in 0..1000 {
        lab.live(object, Operation::set_slot("x", f64::from(step)));
    }
    assert_eq!(lab.ledger.len(), 1);
    lab.ledger.close(dream.actor);
    lab.ledger.compact();
    assert!(lab.ledger.is_empty());
}

/// Every commit left a version in the list.
#[test]
fn items_that_live_sets_stay_small() {
    let mut lab = Lab::new();
    let list = lab.list(&["a", "b"]);
    let mut dream = lab.fork(2, Policy::ForkWins);
    for step in 0..3000 {
        lab.live(list, Operation::Set { index: 0, value: Datum::number(f64::from(step)) });
    }
    assert!(lab.ledger.weight() < 10, "{}", lab.ledger.weight());
    dream.does(list, Operation::Set { index: 1, value: Datum::text("B") });
    lab.merge(&dream);
    assert_eq!(items(&lab.image, list), [Datum::number(2999.0), Datum::text("B")]);
}

/// There is always some fork open, and each sees what the one before did not: what all of them see is let go of.
#[test]
fn forks_that_overlap_for_ever_keep_nothing_for_ever() {
    let mut lab = Lab::new();
    let (list, object) = (lab.list(&["a", "b", "c"]), lab.object());
    let bag = lab.create(Creation { body: Body::Members(vec![(Datum::Nil, 2)]), ..Creation::default() });
    let mut dream = lab.fork(2, Policy::ForkWins);
    for step in 0..500u64 {
        let next = lab.fork(step + 3, Policy::ForkWins);
        lab.live(list, insert(3, &["x"]));
        lab.live(list, delete(0, 1));
        lab.live(list, Operation::Set { index: 1, value: Datum::number(step as f64) });
        lab.live(object, Operation::set_slot("x", step as f64));
        lab.live(bag, Operation::Add { member: Datum::Nil, count: 1 });
        lab.live(bag, Operation::Remove { member: Datum::Nil, count: 1 });
        dream.does(list, insert(1, &["y"])).does(list, delete(2, 1));
        lab.merge(&dream);
        lab.ledger.close(dream.actor);
        lab.ledger.compact();
        dream = next;
        assert!(lab.ledger.weight() < 40, "{} after {step}", lab.ledger.weight());
    }
}

/// What a dream had replaced was dropped once nobody saw it any more, and taking the dream back brought back less.
#[test]
fn compaction_leaves_what_an_undo_needs() {
    let mut lab = Lab::new();
    let object = lab.object();
    lab.fork(2, Policy::ForkWins);
    lab.live(object, Operation::set_slot("x", 1.0));
    let mut dream = lab.fork(3, Policy::ForkWins);
    dream.does(object, Operation::set_slot("x", 2.0));
    lab.merge(&dream);
    lab.ledger.compact();
    let time = lab.next_time();
    lab.ledger.fork_for_undo(ActorId(9), time, Policy::ForkWins).expect("the actor is new");
    let changes = lab.ledger.undo(&dream.changes, &[], ActorId(9), time);
    lab.merge_with(ActorId(9), &changes, &NoReconciler).expect("an undo keeps to the rules");
    assert_eq!(lab.slot(object, "x"), Datum::number(1.0));
}

/// The same where live had written over what the dream lost to.
#[test]
fn compaction_leaves_what_stood_beside() {
    let mut lab = Lab::new();
    let object = lab.object();
    lab.fork(9, Policy::ForkWins);
    let mut dream = lab.fork(2, Policy::LiveWins);
    dream.does(object, Operation::set_slot("x", 2.0));
    lab.live(object, Operation::set_slot("x", 1.0));
    lab.merge(&dream);
    lab.live(object, Operation::set_slot("x", 3.0));
    lab.ledger.compact();
    let time = lab.next_time();
    lab.ledger.fork_for_undo(ActorId(5), time, Policy::ForkWins).expect("the actor is new");
    let changes = lab.ledger.undo(&dream.changes, &[], ActorId(5), time);
    lab.merge_with(ActorId(5), &changes, &NoReconciler).expect("an undo keeps to the rules");
    assert_eq!(lab.slot(object, "x"), Datum::number(1.0));
}

/// What live wrote between two forks stood beside what it wrote later, as if in conflict.
#[test]
fn what_is_dropped_takes_its_place_in_the_chain_with_it() {
    let mut lab = Lab::new();
    let object = lab.object();
    lab.fork(2, Policy::ForkWins);
    lab.live(object, Operation::set_slot("x", 1.0));
    lab.fork(3, Policy::ForkWins);
    lab.live(object, Operation::set_slot("x", 2.0));
    lab.live(object, Operation::set_slot("x", 3.0));
    assert_eq!(lab.ledger.conflicts(), []);
}

/// A refused write over something left that replaced for ever.
#[test]
fn what_a_refused_journal_replaced_is_shown_again() {
    let mut lab = Lab::new();
    let object = lab.object();
    lab.fork(2, Policy::ForkWins);
    lab.live(object, Operation::set_slot("x", 1.0));
    let mut bad = lab.fork(3, Policy::ForkWins);
    bad.does(object, Operation::set_slot("x", 2.0)).does(object, delete(0, 1));
    lab.try_merge(&bad).expect_err("it has no items");
    let mut dream = lab.fork(4, Policy::ForkWins);
    dream.does(object, Operation::set_slot("x", 3.0));
    lab.merge(&dream);
    let (actor, time) = (ActorId(5), lab.next_time());
    lab.ledger.fork_for_undo(actor, time, Policy::ForkWins).expect("the actor is new");
    let changes = lab.ledger.undo(&dream.changes, &[], actor, time);
    lab.merge_with(actor, &changes, &NoReconciler).expect("an undo keeps to the rules");
    assert_eq!((lab.slot(object, "x"), lab.ledger.conflicts()), (Datum::number(1.0), vec![]));
}

/// A proto that was left out comes back when the cycle is gone, whether or not the ledger was compacted in between.
#[test]
fn what_was_left_out_is_not_forgotten() {
    for compacts in [false, true] {
        let mut lab = Lab::new();
        let (a, b) = (lab.object(), lab.object());
        let mut dream = lab.fork(2, Policy::LiveWins);
        lab.live(a, add_proto(b));
        dream.does(b, add_proto(a));
        lab.merge(&dream);
        lab.fork(3, Policy::ForkWins);
        lab.ledger.close(dream.actor);
        if compacts {
            lab.ledger.compact();
        }
        assert_eq!((protos(&lab.image, a), protos(&lab.image, b)), (vec![b], vec![]));
        let mut last = lab.fork(4, Policy::ForkWins);
        last.does(a, Operation::Delete { line: Line::Protos, index: 0, count: 1 });
        lab.merge(&last);
        assert_eq!((protos(&lab.image, a), protos(&lab.image, b)), (vec![], vec![a]), "{compacts}");
        assert_eq!(lab.ledger.violations(), []);
    }
}
