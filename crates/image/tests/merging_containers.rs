//! Lists and maps that several sides made in one place: which of them are one, in whatever order they are merged.

mod lab;

use image::Arrival;
use lab::bench::{Bench, at};
use merge::Policy;
use object::change::Time;
use tempfile::TempDir;

const F: Policy = Policy::ForkWins;
const L: Policy = Policy::LiveWins;
const W: Policy = Policy::LastWriterWins;

/// What is shown after the dreams were merged in this order; the image itself stays as it was.
fn merged(bench: &mut Bench, order: &[&Arrival], look: &str) -> String {
    bench.image().store().checkpoint().expect("it can be applied");
    bench.closes();
    let directory = TempDir::new().expect("a directory");
    for entry in std::fs::read_dir(bench.directory.path()).expect("a directory") {
        let path = entry.expect("an entry").path();
        std::fs::copy(&path, directory.path().join(path.file_name().expect("a name"))).expect("a copy");
    }
    bench.opens();
    let mut copy = Bench::of(directory);
    for dream in order {
        copy.merges(dream);
    }
    let shown = copy.shows(look);
    copy.reopens();
    assert_eq!(copy.shows(look), shown, "after a restart");
    shown
}

fn permutations(dreams: [&Arrival; 3]) -> Vec<[&Arrival; 3]> {
    let [a, b, c] = dreams;
    vec![[a, b, c], [a, c, b], [b, a, c], [b, c, a], [c, a, b], [c, b, a]]
}

#[test]
fn lists_of_live_and_of_three_dreams_are_one_in_any_order() {
    let mut bench = Bench::new("o := Object clone; 1");
    let one = bench.dreams("o a := list(1); 1", W);
    let two = bench.dreams("o a := list(2); 1", L);
    let three = bench.dreams("o a := list(3); 1", F);
    let mut without = Vec::new();
    for order in permutations([&one, &two, &three]) {
        without.push(merged(&mut bench, &order, "o a sort"));
    }
    assert_eq!(without, ["list(1, 2, 3)"; 6]);
    bench.does("o a := list(4); 1");
    for order in permutations([&one, &two, &three]) {
        assert_eq!(merged(&mut bench, &order, "o a sort"), "list(1, 2, 3, 4)");
    }
    let first = merged(&mut bench, &[&one, &two, &three], "o a");
    assert_eq!(merged(&mut bench, &[&three, &two, &one], "o a"), first, "in one order");
}

/// The second dream's list was known to later merges by a name that only itself had made.
#[test]
fn a_dream_about_something_else_goes_by_what_two_others_made_one() {
    let mut bench = Bench::new("o := Object clone do(n := 1); 1");
    let one = bench.dreams("o a := list(1); 1", W);
    let two = bench.dreams("o a := list(2); 1", W);
    let other = bench.dreams("o n := 2; 1", W);
    for order in permutations([&one, &two, &other]) {
        assert_eq!(merged(&mut bench, &order, "list(o a sort, o n)"), "list(list(1, 2), 2)");
    }
    // And one that was forked when both were there.
    bench.merges(&one);
    bench.merges(&two);
    let late = bench.dreams("o a append(3); o b := o a; 1", W);
    bench.does("o a prepend(0); 1");
    assert_eq!(
        merged(&mut bench, &[&other, &late], "list(o a sort, o n, o a == o b)"),
        "list(list(0, 1, 2, 3), 2, true)"
    );
}

/// Which lists are one hung on how far back the story was told: two dreams made one list of theirs, unless a third had
/// been merged that was forked before live made one in that place and removed it.
#[test]
fn a_list_that_live_made_and_removed_before_is_another() {
    let mut bench = Bench::new("o := Object clone; 1");
    let before = bench.dreams("o a := list(0); 1", L);
    bench.does("o a := list(9); 1");
    bench.does("o removeSlot(\"a\"); 1");
    let one = bench.dreams("o a := list(1); 1", F);
    let two = bench.dreams("o a := list(2); 1", F);
    for order in permutations([&before, &one, &two]) {
        assert_eq!(merged(&mut bench, &order, "o a sort"), "list(1, 2)");
    }
}

#[test]
fn a_list_that_live_replaced_by_another_is_not_that() {
    let mut bench = Bench::new("o := Object clone; 1");
    let mut one = bench.dreams("o a := list(1); 1", W);
    let mut two = bench.dreams("o a := list(2); 1", L);
    bench.does("o a := list(8); 1");
    bench.does("o a := list(9); 1");
    let now = bench.image().store().time();
    (one.receipt, two.receipt) = (Time(now.0 + 1), Time(now.0 + 1));
    let (one, two) = (at(one.clone(), one.receipt), at(two.clone(), two.receipt));
    let shown = merged(&mut bench, &[&one, &two], "o a");
    assert_eq!(merged(&mut bench, &[&two, &one], "o a"), shown);
}

/// What is under a key of a map that several made is one too, and a list is no map.
#[test]
fn what_is_inside_of_maps_that_are_one_is_one() {
    let mut bench = Bench::new("o := Object clone; 1");
    let one = bench.dreams("o a := Map clone atPut(\"x\", list(1)); 1", W);
    let two = bench.dreams("o a := Map clone atPut(\"x\", list(2)) atPut(\"y\", list(2)); 1", W);
    let three = bench.dreams("o a := Map clone; o a atPut(\"y\", list(3)); 1", W);
    for order in permutations([&one, &two, &three]) {
        let look = "list(o a at(\"x\") sort, o a at(\"y\") sort)";
        assert_eq!(merged(&mut bench, &order, look), "list(list(1, 2), list(2, 3))");
    }
    let list = bench.dreams("o a := list(3); 1", F);
    for order in permutations([&one, &two, &list]) {
        assert_eq!(merged(&mut bench, &order, "o a"), "list(3)");
    }
}

/// The inner dream knows the list by the id that the outer one gave it; the image has live's.
#[test]
fn a_dream_in_a_dream_finds_the_list_that_became_another() {
    let mut bench = Bench::new("o := Object clone; 1");
    let outer = bench.dreams("o a := list(1); 1", W);
    // The inner one is made in a copy of the image in which the outer one happened.
    let directory = TempDir::new().expect("a directory");
    bench.image().store().checkpoint().expect("it can be applied");
    bench.closes();
    for entry in std::fs::read_dir(bench.directory.path()).expect("a directory") {
        let path = entry.expect("an entry").path();
        std::fs::copy(&path, directory.path().join(path.file_name().expect("a name"))).expect("a copy");
    }
    bench.opens();
    let mut copy = Bench::of(directory);
    copy.merges(&outer);
    let mut inner = copy.dreams("o a append(2); o b := o a; 1", W);
    (inner.fork_commit, inner.forked) = (outer.fork_commit, outer.forked);
    inner.parents = vec![(outer.actor, outer.changes.len() as u64)];
    assert_eq!(bench.image().store().mint_actor().expect("an actor"), inner.actor);
    bench.does("o a := list(0); 1");
    bench.merges(&outer);
    assert_eq!(bench.shows("o a sort"), "list(0, 1)");
    bench.merges(&inner);
    assert_eq!(bench.shows("list(o a sort, o a == o b, o b size)"), "list(list(0, 1, 2), true, 3)");
    bench.reopens();
    let late = bench.dreams("o a append(3); 1", W);
    bench.does("o b append(4); 1");
    bench.merges(&late);
    assert_eq!(bench.shows("o b sort"), "list(0, 1, 2, 3, 4)");
}
