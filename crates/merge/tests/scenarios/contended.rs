//! Lines that an undo would tear something out of that others changed since.

use crate::lab::*;
use merge::*;
use object::change::*;

fn set(index: u64, value: &str) -> Operation {
    Operation::Set { index, value: Datum::text(value) }
}

fn move_item(from: u64, to: u64) -> Operation {
    Operation::Move { line: Line::Items, from, to }
}

/// Whether the list of `abcd` is contended after a dream did the one and live the other.
fn is_contended(dream_does: &[Operation], live_does: &[Operation]) -> bool {
    let mut lab = Lab::new();
    let list = lab.list(&["a", "b", "c", "d"]);
    let mut dream = lab.fork(2, Policy::ForkWins);
    for operation in dream_does {
        dream.does(list, operation.clone());
    }
    lab.merge(&dream);
    live_does.iter().for_each(|operation| lab.live(list, operation.clone()));
    let lines = lab.ledger.contended_lines(&dream.changes, &[]);
    assert!(lines.is_empty() || lines == [(list, Line::Items)], "{lines:?}");
    !lines.is_empty()
}

/// Each would be lost without a word, or stay behind alone.
#[test]
fn what_others_did_to_what_is_undone_is_contended() {
    for by_live in [set(1, "L"), move_item(1, 3), delete(1, 1)] {
        assert!(is_contended(&[insert(1, &["X"])], std::slice::from_ref(&by_live)), "inserted, and {by_live:?}");
    }
    assert!(is_contended(&[set(1, "X")], &[delete(1, 1)]), "set, and deleted");
    for by_live in [set(3, "L"), move_item(3, 0)] {
        assert!(is_contended(&[move_item(1, 3)], std::slice::from_ref(&by_live)), "moved, and {by_live:?}");
    }
}

/// Else nothing in a list on which live works could be undone.
#[test]
fn what_others_did_elsewhere_in_the_line_is_not_contended() {
    for by_dream in [insert(1, &["X"]), set(1, "X"), delete(1, 1), move_item(2, 1)] {
        for by_live in [vec![], vec![set(0, "L")], vec![delete(0, 1)], vec![insert(0, &["L"])], vec![move_item(0, 2)]] {
            assert!(!is_contended(std::slice::from_ref(&by_dream), &by_live), "{by_dream:?}, {by_live:?}");
        }
    }
}

/// An author does not stand in its own way.
#[test]
fn what_it_did_itself_is_not_contended() {
    assert!(!is_contended(&[insert(1, &["X", "Y"]), set(1, "Z"), delete(2, 1)], &[]));
    assert!(!is_contended(&[set(1, "Z"), delete(1, 1)], &[]));
    assert!(!is_contended(&[insert(1, &["X"]), move_item(1, 3), set(3, "Z")], &[]));
}

/// What is undone as well does not count, else a series of merges could not be taken back one after the other.
#[test]
fn what_is_gone_contends_with_nobody() {
    let mut lab = Lab::new();
    let list = lab.list(&["a"]);
    let mut first = lab.fork(2, Policy::ForkWins);
    first.does(list, insert(1, &["X"]));
    lab.merge(&first);
    let mut second = lab.fork(3, Policy::ForkWins);
    second.does(list, set(1, "Y"));
    lab.merge(&second);
    assert_eq!(lab.ledger.contended_lines(&first.changes, &[]), [(list, Line::Items)]);
    let gone = Span::of(&second.changes).expect("it has some");
    assert_eq!(lab.ledger.contended_lines(&first.changes, &[gone]), []);
    assert_eq!(lab.ledger.contended_lines(&[], &[]), []);
}
