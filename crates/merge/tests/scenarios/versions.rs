//! Versions of one place: which of them stand beside each other, what they started from, and which are let go of.

use crate::lab::*;
use merge::*;
use object::change::*;

fn set(value: f64) -> Operation {
    Operation::set_slot("x", value)
}

fn bases(conflicts: &[Conflict]) -> Vec<&Datum> {
    conflicts.iter().map(|conflict| &conflict.base).collect()
}

/// What live wrote and wrote over before the dream began stood beside it, as if both were there.
#[test]
fn what_was_replaced_before_the_fork_is_no_sibling() {
    let mut lab = Lab::new();
    let object = lab.object();
    lab.fork(9, Policy::ForkWins);
    lab.live(object, set(1.0));
    lab.fork(8, Policy::ForkWins);
    lab.live(object, set(2.0));
    let mut dream = lab.fork(2, Policy::ForkWins);
    lab.live(object, set(3.0));
    dream.does(object, set(4.0));
    assert_eq!(bases(&lab.merge(&dream).conflicts), [&Datum::number(2.0)]);
}

/// Live has written twice since, and what it wrote goes back to what the dream saw all the same.
#[test]
fn the_base_of_a_conflict_is_found_however_far_back() {
    let mut lab = Lab::new();
    let object = lab.object();
    lab.fork(9, Policy::ForkWins);
    lab.live(object, set(1.0));
    let mut dream = lab.fork(2, Policy::KeepBoth);
    lab.live(object, set(2.0));
    lab.fork(8, Policy::ForkWins);
    lab.live(object, set(3.0));
    dream.does(object, set(4.0));
    assert_eq!(bases(&lab.merge(&dream).conflicts), [&Datum::number(1.0)]);
}

/// The same where what live wrote in between was dropped.
#[test]
fn the_base_of_a_conflict_is_found_past_what_was_dropped() {
    let mut lab = Lab::new();
    let object = lab.object();
    lab.fork(9, Policy::ForkWins);
    lab.live(object, set(1.0));
    let mut dream = lab.fork(2, Policy::KeepBoth);
    lab.live(object, set(2.0));
    lab.live(object, set(3.0));
    dream.does(object, set(4.0));
    assert_eq!(bases(&lab.merge(&dream).conflicts), [&Datum::number(1.0)]);
}

/// Live had written over two, of which compaction drops one: the other must not come back for it.
#[test]
fn what_was_written_over_together_stays_so() {
    let mut lab = Lab::new();
    let object = lab.object();
    lab.fork(9, Policy::ForkWins);
    let mut dream = lab.fork(2, Policy::LiveWins);
    dream.does(object, set(2.0));
    lab.live(object, set(1.0));
    lab.merge(&dream);
    lab.live(object, set(3.0));
    lab.ledger.close(dream.actor);
    lab.ledger.compact();
    let conflicts = lab.ledger.conflicts();
    assert!(conflicts.iter().all(|conflict| conflict.status == Status::Superseded), "{conflicts:?}");
}

/// One fork stays open, and others come and go: what only those saw was kept as long.
#[test]
fn what_nobody_sees_any_more_is_let_go_of() {
    for is_merged in [false, true] {
        let mut lab = Lab::new();
        let object = lab.object();
        lab.fork(1000, Policy::ForkWins);
        for actor in 2..50 {
            let mut dream = lab.fork(actor, Policy::ForkWins);
            if is_merged {
                dream.does(object, set(0.5));
                lab.merge(&dream);
            }
            lab.live(object, set(actor as f64));
            lab.ledger.close(dream.actor);
            lab.ledger.compact();
            assert!(lab.ledger.weight() < 6, "{} after {actor}", lab.ledger.weight());
        }
    }
}

/// A merge that all forks have seen will not be taken back any more, and what it replaced is not needed for that.
#[test]
fn what_a_merge_replaced_that_all_saw_is_let_go_of() {
    let mut lab = Lab::new();
    let object = lab.object();
    lab.fork(9, Policy::ForkWins);
    lab.live(object, set(1.0));
    let mut dream = lab.fork(2, Policy::ForkWins);
    dream.does(object, set(2.0));
    lab.merge(&dream);
    lab.fork(3, Policy::ForkWins);
    lab.live(object, set(3.0));
    assert_eq!(lab.ledger.weight(), 3);
    lab.ledger.close(ActorId(9));
    lab.ledger.close(dream.actor);
    lab.ledger.compact();
    assert_eq!(lab.ledger.weight(), 2, "what the open fork sees, and what live wrote over it");
}

/// Where a place is kept was not looked up again when others before it were dropped.
#[test]
fn a_place_is_found_when_others_were_dropped() {
    let mut lab = Lab::new();
    let object = lab.object();
    lab.fork(9, Policy::ForkWins);
    lab.live(object, set(1.0));
    let mut dream = lab.fork(2, Policy::LiveWins);
    lab.live(object, Operation::set_slot("y", 1.0));
    lab.ledger.close(ActorId(9));
    lab.ledger.compact();
    assert_eq!(lab.ledger.len(), 1);
    dream.does(object, Operation::set_slot("y", 2.0)).does(object, set(2.0));
    assert_eq!(lab.merge(&dream).conflicts.len(), 1);
    assert_eq!((lab.slot(object, "x"), lab.slot(object, "y")), (Datum::number(2.0), Datum::number(1.0)));
}

/// They are kept in pieces of some hundred.
#[test]
fn a_thousand_places_are_each_found_again() {
    let mut lab = Lab::new();
    let object = lab.object();
    let mut dream = lab.fork(2, Policy::LiveWins);
    let slot = |number: u32, value: f64| Operation::set_slot(&format!("slot{number}"), value);
    for number in 0..1000 {
        lab.live(object, slot(number, 1.0));
        dream.does(object, slot(number, 2.0));
    }
    assert_eq!(lab.ledger.len(), 1000);
    assert_eq!(lab.merge(&dream).conflicts.len(), 1000);
    assert!((0..1000).all(|number| lab.slot(object, &format!("slot{number}")) == Datum::number(1.0)));
}

/// Whoever asks the ledger is told where in the list the item is now.
#[test]
fn a_conflict_about_an_item_names_its_index_in_live() {
    let mut lab = Lab::new();
    let list = lab.list(&["a", "b", "c"]);
    let mut dream = lab.fork(2, Policy::KeepBoth);
    lab.live(list, insert(0, &["-"]));
    lab.live(list, Operation::Set { index: 2, value: Datum::text("L") });
    dream.does(list, Operation::Set { index: 1, value: Datum::text("D") });
    lab.merge(&dream);
    let positions = |lab: &Lab| -> Vec<Position> {
        lab.ledger.conflicts().into_iter().map(|conflict| conflict.place.position).collect()
    };
    assert_eq!(positions(&lab), [Position::Item(2)]);
    lab.live(list, Operation::Move { line: Line::Items, from: 2, to: 3 });
    assert_eq!(positions(&lab), [Position::Item(3)]);
    lab.live(list, delete(3, 1));
    assert_eq!(positions(&lab), []);
}
