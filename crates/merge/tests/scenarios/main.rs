//! The scenarios of the merge by name, each under every policy: what a user would see.

mod circles;
mod compaction;
mod contended;
mod deeds;
mod hostile;
mod knots;
mod lab;
mod members;
mod named;
mod rest;
mod rings;
mod undo;
mod versions;
mod widths;

use lab::*;
use merge::*;
use object::change::*;

fn number(number: f64) -> Datum {
    Datum::number(number)
}

/// Runs one scenario under the four policies, fork-wins first; a conflict counts if it is open.
fn under_each_policy<T>(scenario: impl Fn(&mut Lab, Policy) -> T) -> [T; 4] {
    [Policy::ForkWins, Policy::LiveWins, Policy::LastWriterWins, Policy::KeepBoth]
        .map(|policy| scenario(&mut Lab::new(), policy))
}

fn open(outcome: &Outcome) -> usize {
    outcome.conflicts.iter().filter(|conflict| conflict.status == Status::Open).count()
}

#[test]
fn both_write_and_the_dream_is_later() {
    let results = under_each_policy(|lab, policy| {
        let object = lab.object();
        lab.live(object, Operation::set_slot("x", 1.0));
        let mut dream = lab.fork(2, policy);
        lab.live(object, Operation::set_slot("x", 2.0));
        let later = lab.next_time();
        dream.at(later).does(object, Operation::set_slot("x", 3.0));
        let outcome = lab.merge(&dream);
        (lab.slot(object, "x"), open(&outcome))
    });
    assert_eq!(results, [(number(3.0), 0), (number(2.0), 0), (number(3.0), 0), (number(3.0), 1)]);
}

#[test]
fn a_conflict_names_base_siblings_and_what_is_shown() {
    let mut lab = Lab::new();
    let object = lab.object();
    lab.live(object, Operation::set_slot("x", 1.0));
    let mut dream = lab.fork(2, Policy::KeepBoth);
    lab.live(object, Operation::set_slot("x", 2.0));
    let later = lab.next_time();
    dream.at(later).does(object, Operation::set_slot("x", 3.0));
    let outcome = lab.merge(&dream);
    let [conflict] = &outcome.conflicts[..] else { panic!("one conflict") };
    assert_eq!((&conflict.base, &conflict.shown), (&number(1.0), &number(3.0)));
    let values: Vec<&Datum> = conflict.siblings.iter().map(|sibling| &sibling.value).collect();
    assert_eq!(values, [&number(3.0), &number(2.0)]);
    lab.live(object, Operation::set_slot("x", 9.0));
    let statuses: Vec<Status> = lab.ledger.conflicts().iter().map(|conflict| conflict.status).collect();
    assert_eq!(statuses, [Status::Superseded], "a later write never closes the record silently");
}

#[test]
fn equal_values_are_no_conflict() {
    let results = under_each_policy(|lab, policy| {
        let object = lab.object();
        lab.live(object, Operation::set_slot("x", 1.0));
        let mut dream = lab.fork(2, policy);
        lab.live(object, Operation::set_slot("x", 2.0));
        dream.does(object, Operation::set_slot("x", 2.0));
        let outcome = lab.merge(&dream);
        (lab.slot(object, "x"), outcome.conflicts.len(), outcome.effects.len())
    });
    assert_eq!(results, [(); 4].map(|()| (number(2.0), 0, 0)));
}

#[test]
fn live_removes_and_the_dream_wrote_earlier() {
    let results = under_each_policy(|lab, policy| {
        let object = lab.object();
        lab.live(object, Operation::set_slot("x", 1.0));
        let mut dream = lab.fork(2, policy);
        dream.does(object, Operation::set_slot("x", 3.0));
        lab.live(object, Operation::remove_slot("x"));
        let outcome = lab.merge(&dream);
        (lab.slot(object, "x"), open(&outcome))
    });
    assert_eq!(results, [(number(3.0), 0), (Datum::Absent, 0), (Datum::Absent, 0), (Datum::Absent, 1)]);
}

#[test]
fn counts_add_up() {
    let results = under_each_policy(|lab, policy| {
        let counters = Body::Counters(vec![(Datum::Nil, 5)]);
        let object = lab.create(Creation { body: counters, ..Creation::default() });
        let mut dream = lab.fork(2, policy);
        lab.live(object, Operation::Count { key: Datum::Nil, delta: 2 });
        dream.does(object, Operation::Count { key: Datum::Nil, delta: 3 });
        lab.merge(&dream);
        lab.image.get(object).expect("it is there").counter(&Datum::Nil)
    });
    assert_eq!(results, [10; 4]);
}

#[test]
fn insertions_side_by_side_stay_together() {
    let results = under_each_policy(|lab, policy| {
        let list = lab.list(&["a", "b"]);
        let mut dream = lab.fork(2, policy);
        lab.live(list, insert(1, &["X"]));
        lab.live(list, insert(2, &["Y"]));
        dream.does(list, insert(1, &["P"])).does(list, insert(2, &["Q"]));
        lab.merge(&dream);
        lab.items(list)
    });
    assert_eq!(results, ["aXYPQb"; 4]);
}

#[test]
fn an_insertion_after_what_was_deleted_stays() {
    let results = under_each_policy(|lab, policy| {
        let list = lab.list(&["a", "b"]);
        let mut dream = lab.fork(2, policy);
        lab.live(list, delete(1, 1));
        dream.does(list, insert(2, &["c"]));
        lab.merge(&dream);
        lab.items(list)
    });
    assert_eq!(results, ["ac"; 4]);
}

#[test]
fn a_cycle_of_protos_is_left_open_at_its_weakest_edge() {
    let results = under_each_policy(|lab, policy| {
        let (a, b) = (lab.object(), lab.object());
        let mut dream = lab.fork(2, policy);
        lab.live(a, add_proto(b));
        let later = lab.next_time();
        dream.at(later).does(b, add_proto(a));
        let outcome = lab.merge(&dream);
        let has_protos = |object| !protos(&lab.image, object).is_empty();
        (has_protos(a), has_protos(b), outcome.violations.len())
    });
    assert_eq!(results, [(false, true, 1), (true, false, 1), (false, true, 1), (false, true, 1)]);
}

#[test]
fn of_protos_put_in_together_only_one_closes_the_cycle() {
    let mut lab = Lab::new();
    let (object, first, second) = (lab.object(), lab.object(), lab.object());
    let mut dream = lab.fork(2, Policy::LiveWins);
    let run = Run::items([first, second].map(Datum::Object));
    dream.does(object, Operation::Insert { line: Line::Protos, index: 0, run });
    lab.live(second, add_proto(object));
    let outcome = lab.merge(&dream);
    assert_eq!((protos(&lab.image, object), outcome.violations.len()), (vec![first], 1));
}

/// What is put into the middle of one's own run goes by a name of its own.
#[test]
fn an_item_put_into_a_run_is_not_taken_for_its_neighbour() {
    let mut lab = Lab::new();
    let list = lab.list(&["a"]);
    let mut dream = lab.fork(2, Policy::ForkWins);
    dream.does(list, insert(1, &["x", "y"])).does(list, insert(2, &["z"]));
    dream.does(list, Operation::Set { index: 3, value: Datum::text("Y") });
    lab.merge(&dream);
    assert_eq!(lab.items(list), "axzY");
}

/// Protos put in one after the other are not one piece, as items are.
#[test]
fn each_edge_counts_by_its_own_time() {
    let mut lab = Lab::new();
    let (object, first, second) = (lab.object(), lab.object(), lab.object());
    let mut dream = lab.fork(2, Policy::LastWriterWins);
    dream.does(object, add_proto(first));
    lab.live(second, add_proto(object));
    let later = lab.next_time();
    let run = Run::items([Datum::Object(second)]);
    dream.at(later).does(object, Operation::Insert { line: Line::Protos, index: 1, run });
    lab.merge(&dream);
    assert_eq!((protos(&lab.image, object), protos(&lab.image, second)), (vec![first, second], vec![]));
}

#[test]
fn what_a_dream_refers_to_is_revived() {
    let results = under_each_policy(|lab, policy| {
        let (holder, object) = (lab.object(), lab.object());
        lab.live(holder, Operation::set_slot("r", object));
        let mut dream = lab.fork(2, policy);
        lab.live(holder, Operation::remove_slot("r"));
        lab.image.keep(object);
        dream.does(holder, Operation::set_slot("s", object));
        let outcome = lab.merge(&dream);
        let is_kept = lab.image.presence(object) == Presence::Kept;
        (lab.slot(holder, "r"), lab.slot(holder, "s") == Datum::Object(object), outcome.revived == [object], is_kept)
    });
    assert_eq!(results, [(); 4].map(|()| (Datum::Absent, true, true, false)));
}

/// Merges texts of the form `left; right` half by half, as methods will be merged message by message.
struct Halves;

impl Reconciler for Halves {
    fn reconcile(&self, _: &Place, base: &Datum, one: &Datum, other: &Datum) -> Option<Datum> {
        let halves = |datum: &Datum| {
            let Datum::Text(text) = datum else { return None };
            text.to_string().split_once("; ").map(|(left, right)| (left.to_string(), right.to_string()))
        };
        let (base, one, other) = (halves(base)?, halves(one)?, halves(other)?);
        let pick = |base: &String, one: &String, other: &String| match (base == one, base == other) {
            (true, _) => Some(other.clone()),
            (_, true) => Some(one.clone()),
            _ if one == other => Some(one.clone()),
            _ => None,
        };
        let left = pick(&base.0, &one.0, &other.0)?;
        Some(Datum::text(&format!("{left}; {}", pick(&base.1, &one.1, &other.1)?)))
    }
}

#[test]
fn methods_merge_by_their_parts_and_must_be_verified_again() {
    let results = under_each_policy(|lab, policy| {
        let object = lab.object();
        lab.live(object, Operation::set_slot("m", "a; b"));
        let mut dream = lab.fork(2, policy);
        lab.live(object, Operation::set_slot("m", "a1; b"));
        dream.does(object, Operation::set_slot("m", "a; b1"));
        let outcome = lab.merge_with(dream.actor, &dream.changes, &Halves).expect("it keeps to the rules");
        (lab.slot(object, "m"), outcome.reconciled.len(), outcome.conflicts.len())
    });
    assert_eq!(results, [(); 4].map(|()| (Datum::text("a1; b1"), 1, 0)));
}

#[test]
fn a_method_that_cannot_be_merged_is_a_register() {
    let mut lab = Lab::new();
    let object = lab.object();
    lab.live(object, Operation::set_slot("m", "a; b"));
    let mut dream = lab.fork(2, Policy::KeepBoth);
    lab.live(object, Operation::set_slot("m", "a1; b"));
    let later = lab.next_time();
    dream.at(later).does(object, Operation::set_slot("m", "a2; b"));
    let outcome = lab.merge_with(dream.actor, &dream.changes, &Halves).expect("it keeps to the rules");
    assert_eq!((lab.slot(object, "m"), open(&outcome)), (Datum::text("a2; b"), 1));
}

#[test]
fn the_same_journal_twice_is_merged_once() {
    let results = under_each_policy(|lab, policy| {
        let object = lab.create(Creation { body: Body::Counters(Vec::new()), ..Creation::default() });
        let mut dream = lab.fork(2, policy);
        dream.does(object, Operation::Count { key: Datum::Nil, delta: 3 });
        dream.does(object, Operation::Call { name: "send".into(), payload: Datum::Nil });
        let first = lab.merge(&dream);
        let second = lab.merge(&dream);
        lab.ledger.close(dream.actor);
        lab.ledger.compact();
        let third = lab.merge(&dream);
        (first.outbox.len(), second == Outcome::default(), third == Outcome::default())
    });
    assert_eq!(results, [(1, true, true); 4]);
}

#[test]
fn calls_go_to_the_outbox_under_their_change() {
    let mut lab = Lab::new();
    let object = lab.object();
    let mut dream = lab.fork(2, Policy::ForkWins);
    dream.does(object, Operation::Call { name: "send".into(), payload: Datum::text("hello") });
    let outcome = lab.merge(&dream);
    let id = ChangeId::new(ActorId(2), 1);
    assert_eq!(outcome.outbox, [(id, object, "send".into(), Datum::text("hello"))]);
    assert_eq!(outcome.effects, []);
}

#[test]
fn containers_under_the_same_key_are_one() {
    let results = under_each_policy(|lab, policy| {
        let map = lab.create(Creation { body: Body::Map(Vec::new()), ..Creation::default() });
        let mut dream = lab.fork(2, policy);
        let key = Field::Entry(Datum::text("k"));
        let inner = |name: &str, value: f64| Creation {
            body: Body::Map(vec![(Datum::text(name), number(value))]),
            under: Some((map, key.clone())),
            ..Creation::default()
        };
        let ours = lab.create(inner("a", 1.0));
        lab.live(map, Operation::Put { field: key.clone(), value: Datum::Object(ours) });
        let theirs = dream.create(inner("b", 2.0));
        dream.does(map, Operation::Put { field: key.clone(), value: Datum::Object(theirs) });
        let outcome = lab.merge(&dream);
        let entry = |name: &str| lab.image.field(ours, &Field::Entry(Datum::text(name)));
        (ours == theirs, entry("a"), entry("b"), outcome.conflicts.len())
    });
    assert_eq!(results, [(); 4].map(|()| (true, number(1.0), number(2.0), 0)));
}

#[test]
fn a_dream_inside_a_dream_needs_its_parent() {
    let mut lab = Lab::new();
    let object = lab.object();
    let mut outer = lab.fork(2, Policy::ForkWins);
    outer.does(object, Operation::set_slot("x", 1.0));
    let time = lab.next_time();
    lab.ledger.fork_inside(ActorId(2), 1, ActorId(3), time, Policy::ForkWins).expect("the parent is open");
    let mut inner = Dream { actor: ActorId(3), changes: Vec::new(), time };
    inner.does(object, Operation::set_slot("x", 2.0));
    assert_eq!(lab.try_merge(&inner), Err(Refusal::ParentNotMerged(ActorId(2), 1)));
    assert_eq!(lab.slot(object, "x"), Datum::Absent);
    lab.merge(&outer);
    let outcome = lab.merge(&inner);
    assert_eq!((lab.slot(object, "x"), outcome.conflicts.len()), (number(2.0), 0), "it had seen what it replaced");
}

#[test]
fn removal_takes_only_what_was_seen() {
    let mut lab = Lab::new();
    let set = lab.create(Creation { body: Body::Members(vec![(number(1.0), 1)]), ..Creation::default() });
    let mut dream = lab.fork(2, Policy::ForkWins);
    dream.does(set, Operation::Remove { member: number(1.0), count: u64::MAX });
    lab.live(set, Operation::Add { member: number(1.0), count: 1 });
    lab.merge(&dream);
    assert_eq!(lab.image.occurrences(set, &number(1.0)), 1, "the one put in meanwhile stays");
}

#[test]
fn both_take_the_same_one_of_a_bag() {
    let mut lab = Lab::new();
    let bag = lab.create(Creation { body: Body::Members(vec![(number(1.0), 3)]), ..Creation::default() });
    let mut dream = lab.fork(2, Policy::ForkWins);
    dream.does(bag, Operation::Remove { member: number(1.0), count: 1 });
    dream.does(bag, Operation::Add { member: number(2.0), count: 2 });
    lab.live(bag, Operation::Remove { member: number(1.0), count: 2 });
    lab.merge(&dream);
    assert_eq!(lab.image.occurrences(bag, &number(1.0)), 1);
    assert_eq!(lab.image.occurrences(bag, &number(2.0)), 2);
}

#[test]
fn a_moved_item_is_moved_once() {
    let results = under_each_policy(|lab, policy| {
        let list = lab.list(&["a", "b", "c", "d"]);
        let mut dream = lab.fork(2, policy);
        lab.live(list, Operation::Move { line: Line::Items, from: 0, to: 3 });
        let later = lab.next_time();
        dream.at(later).does(list, Operation::Move { line: Line::Items, from: 0, to: 1 });
        lab.merge(&dream);
        lab.items(list)
    });
    assert_eq!(results, ["bacd", "bcda", "bacd", "bacd"]);
}

#[test]
fn items_set_on_both_sides_are_a_register() {
    let results = under_each_policy(|lab, policy| {
        let list = lab.list(&["a", "b", "c"]);
        let mut dream = lab.fork(2, policy);
        lab.live(list, insert(0, &["-"]));
        lab.live(list, Operation::Set { index: 2, value: Datum::text("L") });
        let later = lab.next_time();
        dream.at(later).does(list, Operation::Set { index: 1, value: Datum::text("D") });
        let outcome = lab.merge(&dream);
        (lab.items(list), open(&outcome))
    });
    let items = |text: &str, conflicts| (text.to_string(), conflicts);
    assert_eq!(results, [items("-aDc", 0), items("-aLc", 0), items("-aDc", 0), items("-aDc", 1)]);
}

#[test]
fn a_place_may_have_a_policy_of_its_own() {
    let mut lab = Lab::new();
    let object = lab.object();
    let mut dream = lab.fork(2, Policy::ForkWins);
    lab.ledger.except(ActorId(2), (object, Field::Slot("x".into())), Policy::LiveWins).expect("it is open");
    dream.does(object, Operation::set_slot("x", 3.0)).does(object, Operation::set_slot("y", 3.0));
    lab.live(object, Operation::set_slot("x", 2.0));
    lab.live(object, Operation::set_slot("y", 2.0));
    lab.merge(&dream);
    assert_eq!((lab.slot(object, "x"), lab.slot(object, "y")), (number(2.0), number(3.0)));
}

#[test]
fn the_empty_dream_changes_nothing() {
    let mut lab = Lab::new();
    lab.object();
    let dream = lab.fork(2, Policy::ForkWins);
    let before = lab.image.objects();
    assert_eq!(lab.merge(&dream), Outcome::default());
    assert_eq!(lab.image.objects(), before);
}

/// The merge of both is what the weaker side wrote, and the stronger one was shown.
#[test]
fn a_method_that_one_side_merged_already_is_shown_as_it_is() {
    let results = under_each_policy(|lab, policy| {
        let object = lab.object();
        lab.live(object, Operation::set_slot("m", "a; b"));
        let mut dream = lab.fork(2, policy);
        lab.live(object, Operation::set_slot("m", "a1; b"));
        dream.does(object, Operation::set_slot("m", "a1; b1"));
        let outcome = lab.merge_with(dream.actor, &dream.changes, &Halves).expect("it keeps to the rules");
        (lab.slot(object, "m"), outcome.reconciled.len(), outcome.conflicts.len())
    });
    assert_eq!(results, [(); 4].map(|()| (Datum::text("a1; b1"), 0, 0)));
}

#[test]
fn the_base_of_a_conflict_is_what_both_sides_started_from() {
    let mut lab = Lab::new();
    let object = lab.object();
    lab.live(object, Operation::set_slot("x", 1.0));
    let mut first = lab.fork(2, Policy::KeepBoth);
    lab.live(object, Operation::set_slot("x", 2.0));
    let mut second = lab.fork(3, Policy::KeepBoth);
    lab.live(object, Operation::set_slot("x", 3.0));
    second.does(object, Operation::set_slot("x", 4.0));
    assert_eq!(lab.merge(&second).conflicts[0].base, number(2.0));
    first.does(object, Operation::set_slot("x", 5.0));
    assert_eq!(lab.merge(&first).conflicts[0].base, number(1.0));
}

#[test]
fn a_dream_inside_a_dream_forks_from_what_is_open() {
    let mut lab = Lab::new();
    let object = lab.object();
    let mut outer = lab.fork(2, Policy::ForkWins);
    outer.does(object, Operation::set_slot("x", 1.0)).does(object, Operation::set_slot("x", 2.0));
    let time = lab.next_time();
    lab.merge(&outer);
    let moved_on = lab.ledger.fork_inside(ActorId(2), 1, ActorId(3), time, Policy::ForkWins);
    assert_eq!(moved_on, Err(Refusal::ParentMovedOn(ActorId(2), 1)));
    lab.ledger.fork_inside(ActorId(2), 2, ActorId(3), time, Policy::ForkWins).expect("the parent is open");
    lab.ledger.close(ActorId(2));
    let closed = lab.ledger.fork_inside(ActorId(2), 2, ActorId(4), time, Policy::ForkWins);
    assert_eq!(closed, Err(Refusal::UnknownFork(ActorId(2))));
}

#[test]
fn a_dream_inside_a_dream_sees_its_parent_up_to_the_fork() {
    let mut lab = Lab::new();
    let (object, list) = (lab.object(), lab.list(&["a"]));
    let mut outer = lab.fork(2, Policy::LastWriterWins);
    outer.does(object, Operation::set_slot("x", 1.0)).does(list, insert(1, &["b"]));
    let time = lab.next_time();
    lab.ledger.fork_inside(ActorId(2), 2, ActorId(3), time, Policy::LastWriterWins).expect("the parent is open");
    let mut inner = Dream { actor: ActorId(3), changes: Vec::new(), time };
    inner.does(object, Operation::set_slot("x", 3.0)).does(list, insert(2, &["c"]));
    outer.does(object, Operation::set_slot("x", 2.0)).does(list, insert(2, &["d"]));
    lab.merge(&outer);
    let outcome = lab.merge(&inner);
    assert_eq!((lab.slot(object, "x"), outcome.conflicts.len()), (number(3.0), 1), "both wrote after the fork");
    assert_eq!(outcome.conflicts[0].base, number(1.0));
    assert_eq!(lab.items(list), "abdc");
}
