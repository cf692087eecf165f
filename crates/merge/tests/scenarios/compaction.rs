//! Lines whose pieces are joined, and of which the oldest are forgotten: each item still goes where it belongs.

use crate::lab::*;
use merge::*;
use object::change::*;

fn set(index: u64, value: &str) -> Operation {
    Operation::Set { index, value: Datum::text(value) }
}

/// Lets go of what only the fork of actor 9 needed, which is the oldest.
fn compact(lab: &mut Lab) {
    lab.ledger.close(ActorId(9));
    lab.ledger.compact();
}

/// What was put behind something was not found behind it any more, once that had been joined to what stood before it and
/// had lost its name: what a dream had put there came in between.
#[test]
fn what_live_put_behind_something_stays_there_when_that_is_gone() {
    let mut lab = Lab::new();
    let list = lab.list(&["a"]);
    let mut dream = lab.fork(2, Policy::ForkWins);
    lab.live(list, insert(1, &["X"]));
    lab.live_all(vec![(list, insert(2, &["Y"])), (list, delete(1, 1))]);
    lab.live_all(vec![(list, insert(2, &["Z"])), (list, delete(1, 1))]);
    dream.does(list, insert(1, &["D"]));
    lab.merge(&dream);
    assert_eq!(lab.items(list), "aZD");
}

/// Every item that live put behind the others was a piece for itself, because one item had been set.
#[test]
fn a_queue_stays_small_though_one_of_its_items_was_set() {
    let mut lab = Lab::new();
    let list = lab.list(&["a"]);
    lab.fork(2, Policy::ForkWins);
    lab.live(list, set(0, "A"));
    for end in 1..100 {
        lab.live(list, insert(end, &["x"]));
    }
    assert!(lab.ledger.weight() < 10, "{}", lab.ledger.weight());
}

/// What was deleted was forgotten too early: it is what the next one to come was put before, and not what stands behind it.
#[test]
fn what_stands_beside_something_younger_is_not_forgotten() {
    for compacts in [false, true] {
        let mut lab = Lab::new();
        let list = lab.list(&["a", "b"]);
        lab.fork(9, Policy::ForkWins);
        let mut one = lab.fork(2, Policy::ForkWins);
        lab.live(list, insert(1, &["g"]));
        lab.live(list, delete(1, 1));
        let mut other = lab.fork(3, Policy::ForkWins);
        one.does(list, insert(1, &["Y"]));
        lab.merge(&one);
        lab.ledger.close(one.actor);
        if compacts {
            compact(&mut lab);
        }
        other.does(list, insert(1, &["Z"]));
        lab.merge(&other);
        assert_eq!(lab.items(list), "aZYb", "{compacts}");
    }
}

/// With an item that all forks saw deleted went what live had set elsewhere: a dream that was to lose won.
#[test]
fn what_live_set_is_not_forgotten_with_what_it_deleted() {
    for deletes in [false, true] {
        let mut lab = Lab::new();
        let list = lab.list(&["a", "b", "c"]);
        lab.fork(9, Policy::ForkWins);
        if deletes {
            lab.live(list, delete(1, 1));
        }
        let mut dream = lab.fork(2, Policy::LiveWins);
        lab.live(list, set(0, "L"));
        compact(&mut lab);
        dream.does(list, set(0, "D"));
        assert_eq!(lab.merge(&dream).conflicts.len(), 1, "{deletes}");
        assert_eq!(lab.items(list), if deletes { "Lc" } else { "Lbc" });
    }
}

/// Whatever had been set once was remembered for as long as some fork was open.
#[test]
fn items_that_all_forks_saw_set_are_let_go_of() {
    let mut lab = Lab::new();
    let list = lab.list(&["a"; 100]);
    for index in 0..100 {
        lab.fork(index + 2, Policy::ForkWins);
        lab.live(list, set(index, "b"));
        lab.ledger.close(ActorId(index + 1));
        lab.ledger.compact();
        assert!(lab.ledger.weight() < 10, "{} after {index}", lab.ledger.weight());
    }
}

/// Live has deleted some of these before the dream began, and put some in since; then the dream sets one, and adds one at
/// the end. Whatever name that one goes by now is no other's.
fn joined(items: &[&str], deleted: &[u64], added: &[u64], set_at: u64) -> [String; 2] {
    [false, true].map(|compacts| {
        let mut lab = Lab::new();
        let list = lab.list(items);
        lab.fork(9, Policy::ForkWins);
        deleted.iter().for_each(|index| lab.live(list, delete(*index, 1)));
        let end = lab.image.length(list, Line::Items);
        let mut dream = lab.fork(2, Policy::ForkWins);
        added.iter().for_each(|index| lab.live(list, insert(*index, &["Y"])));
        if compacts {
            compact(&mut lab);
            lab.live(list, insert(0, &["-"]));
            lab.live(list, delete(0, 1));
        }
        dream.does(list, set(set_at, "D")).does(list, insert(end, &["E"]));
        let effects = lab.merge(&dream).effects.len();
        format!("{} {effects}", lab.items(list))
    })
}

/// Two pieces that were joined got names that others still had.
#[test]
fn joined_pieces_get_names_that_were_never_used() {
    let letters = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"];
    assert_eq!(joined(&letters, &[8, 5], &[2], 6), ["abYcdeghjklE"; 2].map(|items| items.replace('h', "D") + " 2"));
    assert_eq!(joined(&letters[..6], &[4, 2], &[4], 0), ["DbdfYE 2"; 2]);
}

/// The same where two pairs were joined, and nothing of what was at rest is left.
#[test]
fn pairs_that_were_joined_get_names_of_their_own() {
    for compacts in [false, true] {
        let mut lab = Lab::new();
        let list = lab.list(&[]);
        lab.fork(9, Policy::ForkWins);
        ["f", "e", "d", "c", "b", "a"].iter().for_each(|item| lab.live(list, insert(0, &[item])));
        let mut dream = lab.fork(2, Policy::ForkWins);
        lab.live(list, insert(3, &["Y"]));
        if compacts {
            compact(&mut lab);
        }
        dream.does(list, set(4, "E"));
        lab.merge(&dream);
        assert_eq!(lab.items(list), "abcYdEf", "{compacts}");
    }
}

/// What stood on both sides of a forgotten item was taken for one run, and the second half got the names of the first.
#[test]
fn what_does_not_follow_each_other_is_not_one_piece() {
    assert_eq!(joined(&["a", "b", "c", "d", "e"], &[2], &[0, 5], 0), ["YDbdeYE 2"; 2]);
}

/// What two dreams had put in side by side was taken for something that all had seen, and shifted what a third one did.
#[test]
fn what_some_fork_has_not_seen_is_not_joined_to_anything() {
    let mut lab = Lab::new();
    let list = lab.list(&["a", "b"]);
    lab.fork(9, Policy::ForkWins);
    let mut dreams: Vec<Dream> = (2..5).map(|actor| lab.fork(actor, Policy::ForkWins)).collect();
    for (dream, (index, item)) in dreams.iter_mut().zip([(1, "X"), (1, "Y"), (2, "Z")]) {
        dream.does(list, insert(index, &[item]));
        compact(&mut lab);
        lab.merge(dream);
    }
    assert_eq!(lab.items(list), "aXYbZ");
}

/// What all forks have seen stayed for as long as one was open.
#[test]
fn what_all_forks_saw_is_let_go_of() {
    let mut lab = Lab::new();
    let (proto, list) = (lab.object(), lab.list(&["a"]));
    let object = lab.create(Creation { protos: vec![proto, proto], ..Creation::default() });
    let bag = lab.create(Creation { body: Body::Members(Vec::new()), ..Creation::default() });
    let operations = [
        (vec![(object, add_proto(proto))], 3),
        (vec![(object, Operation::set_slot("x", 1.0))], 1),
        (vec![(bag, Operation::Add { member: Datum::Nil, count: 1 })], 1),
        (vec![(list, insert(0, &["b"]))], 2),
        (vec![(list, set(0, "c"))], 2),
    ];
    for (operations, weight) in operations {
        let mut lab = lab.clone();
        lab.fork(9, Policy::ForkWins);
        lab.live_all(operations);
        lab.fork(2, Policy::ForkWins);
        assert_eq!((lab.ledger.len(), lab.ledger.weight(), lab.ledger.is_empty()), (1, weight, false));
        compact(&mut lab);
        assert!(lab.ledger.is_empty());
    }
}

/// Who made an object was forgotten, and whoever guessed its id was let in.
#[test]
fn objects_of_others_are_out_of_reach_after_compaction_too() {
    let mut lab = Lab::new();
    let object = lab.object();
    let mut dream = lab.fork(2, Policy::ForkWins);
    let later = lab.object();
    lab.ledger.compact();
    dream.does(object, Operation::set_slot("x", later));
    assert_eq!(lab.try_merge(&dream), Err(Refusal::UnknownObject(ChangeId::new(ActorId(2), 1), later)));
}

/// What tells how much memory the open forks cost, by which all of this is measured.
#[test]
fn the_weight_is_that_of_versions_pieces_and_members() {
    let mut lab = Lab::new();
    let (object, list) = (lab.object(), lab.list(&["a", "b", "c"]));
    let bag = lab.create(Creation { body: Body::Members(Vec::new()), ..Creation::default() });
    lab.fork(2, Policy::ForkWins);
    assert_eq!((lab.ledger.len(), lab.ledger.weight()), (0, 0));
    lab.live(object, Operation::set_slot("x", 1.0));
    lab.live(object, Operation::set_slot("y", 1.0));
    lab.live(list, insert(1, &["X"]));
    lab.live(list, set(0, "A"));
    lab.live(bag, Operation::Add { member: Datum::Nil, count: 3 });
    assert_eq!(lab.ledger.len(), 4, "two slots, a list and a member");
    assert_eq!(lab.ledger.weight(), 7, "two slots, three pieces, an item that was set, a member");
}

/// Every letter was a piece for itself.
#[test]
fn a_text_that_was_typed_letter_by_letter_is_one_piece() {
    let mut lab = Lab::new();
    let text = lab.create(Creation { body: Body::Elements(Run::bytes(b"")), ..Creation::default() });
    let mut dream = lab.fork(2, Policy::ForkWins);
    for index in 0..100 {
        dream.does(text, Operation::Insert { line: Line::Units, index, run: Run::bytes(&[b'a' + index as u8 % 26]) });
    }
    let outcome = lab.merge(&dream);
    assert_eq!((outcome.effects.len(), lab.ledger.weight()), (1, 1));
    assert_eq!(lab.image.elements(text, Line::Units, 25, 3), Run::bytes(b"zab"));
}
