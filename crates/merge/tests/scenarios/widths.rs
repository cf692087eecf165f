//! Texts whose units are wider than a byte: every index counts units.

use crate::lab::*;
use merge::*;
use object::change::*;

fn units(bytes: &[u8]) -> Run {
    Run::Units { width: 2, bytes: bytes.into() }
}

fn type_in(index: u64, bytes: &[u8]) -> Operation {
    Operation::Insert { line: Line::Units, index, run: units(bytes) }
}

fn text(bytes: &[u8]) -> Creation {
    Creation { body: Body::Elements(units(bytes)), ..Creation::default() }
}

fn undo(lab: &mut Lab, dream: &Dream) {
    let (actor, time) = (ActorId(dream.actor.0 + 1000), lab.next_time());
    lab.ledger.fork_for_undo(actor, time, Policy::ForkWins).expect("the actor is new");
    let changes = lab.ledger.undo(&dream.changes, &[], actor, time);
    lab.merge_with(actor, &changes, &NoReconciler).expect("an undo keeps to the rules");
}

/// A unit was torn in two.
#[test]
fn what_was_typed_is_split_between_units() {
    let mut lab = Lab::new();
    let object = lab.create(text(b"a-"));
    let mut dream = lab.fork(2, Policy::ForkWins);
    dream.does(object, type_in(1, b"b-c-d-e-")).does(object, type_in(2, b"x-")).does(object, type_in(5, b"y-"));
    lab.merge(&dream);
    assert_eq!(lab.image.elements(object, Line::Units, 0, 9), units(b"a-b-x-c-d-y-e-"));
}

/// What is deleted of a new text is kept for as long as it may come back, from where it was.
#[test]
fn what_was_deleted_of_a_new_text_comes_back() {
    let mut lab = Lab::new();
    lab.object();
    let mut dream = lab.fork(2, Policy::ForkWins);
    let object = dream.create(text(b"a-b-c-"));
    dream.does(object, Operation::Delete { line: Line::Units, index: 1, count: 1 });
    lab.merge(&dream);
    assert_eq!(lab.image.elements(object, Line::Units, 0, 9), units(b"a-c-"));
    undo(&mut lab, &dream);
    assert_eq!(lab.image.elements(object, Line::Units, 0, 9), units(b"a-b-c-"));
}

/// The item is counted from the start of the list, and not of the piece that it is in.
#[test]
fn an_item_that_was_set_in_the_middle_is_set_back_there() {
    let mut lab = Lab::new();
    let list = lab.list(&["a", "b", "c"]);
    let mut dream = lab.fork(2, Policy::ForkWins);
    dream.does(list, Operation::Set { index: 1, value: Datum::text("B") });
    lab.merge(&dream);
    lab.live(list, insert(0, &["-", "-"]));
    undo(&mut lab, &dream);
    assert_eq!(lab.items(list), "--abc");
}
