//! Methods that two sides changed: the pairs of `pairs.txt` as trees and, through records, in an image that then runs
//! with what came of it; long and deep ones; what is no method; and properties of any trees.

#[path = "../lab/mod.rs"]
mod lab;
mod properties;
mod source;

use image::reconcile::{Found, Head, Method, Methods, Origin, Shell, Tree, Views, three_way};
use image::{Cause, Image};
use lab::{answer, create};
use merge::{Effect, Ledger, Place, Policy, Position, Reconciler};
use object::change::{ActorId, Change, ChangeId, Creation, Datum, Field, ObjectId, Operation, Time};
use source::{body, method, text};
use std::sync::Arc;
use store::Store;
use tempfile::TempDir;

/// What is expected of two edits.
struct Pair {
    name: &'static str,
    base: &'static str,
    one: &'static str,
    other: &'static str,
    gives: Option<&'static str>,
}

fn pairs() -> Vec<Pair> {
    let pairs = include_str!("pairs.txt").split("\n# ").skip(1);
    pairs
        .map(|pair| {
            let mut lines = pair.lines();
            let name = lines.next().expect("it has a name");
            let mut line = |word: &str| {
                let line = lines.next().and_then(|line| line.strip_prefix(word));
                line.unwrap_or_else(|| panic!("{name}: {word} is missing")).trim()
            };
            let (base, one, other, gives) = (line("base "), line("one "), line("other "), line("gives "));
            Pair { name, base, one, other, gives: (gives != "conflict").then_some(gives) }
        })
        .collect()
}

#[test]
fn there_are_as_many_pairs_as_promised() {
    assert!(pairs().len() >= 100);
    let names: std::collections::BTreeSet<&str> = pairs().iter().map(|pair| pair.name).collect();
    assert_eq!(names.len(), pairs().len(), "each has a name of its own");
}

#[test]
fn each_pair_of_trees_gives_what_is_stated_whichever_side_is_which() {
    let mut failures = Vec::new();
    for pair in pairs() {
        let (base, one, other) = (method(pair.base), method(pair.one), method(pair.other));
        let merged = Method::merged(&base, &one, &other);
        assert_eq!(merged, Method::merged(&base, &other, &one), "{}: it matters which is which", pair.name);
        let expected = pair.gives.map(|gives| text(&method(gives)));
        let found = merged.as_ref().map(text);
        if found != expected {
            failures.push(format!("{}: {found:?} in the place of {expected:?}", pair.name));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// All objects are where the image has them.
#[derive(Clone)]
struct Stored(Arc<Store>);

impl Views for Stored {
    fn before(&self, object: ObjectId) -> Option<Creation> {
        self.0.read(object).expect("the store can be read")
    }

    fn after(&self, object: ObjectId) -> Option<Creation> {
        self.before(object)
    }
}

struct Bench {
    image: Image,
    lobby: ObjectId,
    _directory: TempDir,
}

impl Bench {
    fn new() -> Bench {
        let directory = TempDir::new().expect("a directory");
        let image = create(directory.path());
        let lobby = image.id_of(image.vm().lobby()).expect("it is persistent");
        Bench { image, lobby, _directory: directory }
    }

    fn slot(&self, name: &str) -> Datum {
        let lobby = self.image.store().read(self.lobby).expect("the store can be read").expect("it is there");
        lobby.field(&Field::Slot(name.into()))
    }

    /// What comes of the slots `base`, `one` and `other`, and whether it had to be made. Left in slot `merged`.
    fn merges(&mut self, one: &str, other: &str) -> Option<(Datum, bool)> {
        let store = self.image.store().clone();
        let methods = Methods::new(Stored(store.clone()), store.next_change());
        let place = Place { object: self.lobby, position: Position::Field(Field::Slot("merged".into())) };
        let merged = methods.reconcile(&place, &self.slot("base"), &self.slot(one), &self.slot(other))?;
        let made = methods.into_made();
        let is_new = !made.is_empty();
        let create = |(id, creation)| (id, Operation::Create(Box::new(creation)));
        let mut changes: Vec<(ObjectId, Operation)> = made.into_iter().map(create).collect();
        changes.push((self.lobby, Operation::set_slot("merged", merged.clone())));
        self.image.adopt(&Cause::default(), changes).expect("it fits");
        Some((merged, is_new))
    }

    fn code(&mut self, slot: &str) -> String {
        answer(&mut self.image, &format!("getSlot(\"{slot}\") code"))
    }
}

#[test]
fn each_pair_gives_the_same_through_records_of_an_image() {
    let mut bench = Bench::new();
    for Pair { name, base, one, other, gives } in pairs() {
        let expected = gives.unwrap_or("nil");
        let slots = format!("base := {base}\none := {one}\nother := {other}\nexpected := {expected}\n1");
        answer(&mut bench.image, &slots);
        for (one, other) in [("one", "other"), ("other", "one")] {
            let merged = bench.merges(one, other);
            assert_eq!(merged.is_some(), gives.is_some(), "{name}");
            if let Some((_, is_new)) = merged {
                assert_eq!(bench.code("merged"), bench.code("expected"), "{name}");
                let is_somebodys = [one, other].iter().any(|side| bench.code(side) == bench.code("merged"));
                assert_eq!(is_new, !is_somebodys, "{name}: what a side has already is not made again");
            }
        }
    }
}

#[test]
fn what_was_merged_runs_and_outlives_the_process() {
    let mut bench = Bench::new();
    answer(
        &mut bench.image,
        "base := method(n, sum := 0; for(i, 1, n, sum = sum + i); \"sum \" .. sum asString)
        one := method(n, sum := 100; for(i, 1, n, sum = sum + i); \"sum \" .. sum asString)
        other := method(n, sum := 0; for(i, 1, n, sum = sum + i * i); \"sum \" .. sum asString)\n1",
    );
    assert!(bench.merges("one", "other").is_some());
    assert_eq!(answer(&mut bench.image, "merged(3)"), "sum 114");
    let Bench { image, _directory: directory, .. } = bench;
    image.close().expect("it closes");
    assert_eq!(answer(&mut lab::open(directory.path()), "merged(3)"), "sum 114");
}

#[test]
fn a_third_side_is_merged_with_what_the_first_two_gave() {
    let mut bench = Bench::new();
    answer(
        &mut bench.image,
        "base := method(a; b; c)\none := method(a1; b; c)\nother := method(a; b1; c)\nthird := method(a; b; c1)\n1",
    );
    let store = bench.image.store().clone();
    let methods = Methods::new(Stored(store.clone()), ChangeId::new(ActorId(77), 5));
    let place = Place { object: bench.lobby, position: Position::Field(Field::Slot("merged".into())) };
    let base = bench.slot("base");
    let two = methods.reconcile(&place, &base, &bench.slot("one"), &bench.slot("other")).expect("they fit");
    let three = methods.reconcile(&place, &base, &two, &bench.slot("third")).expect("it fits");
    assert_ne!(two, three);
    let made = methods.into_made();
    assert_eq!(Datum::Object(made.last().expect("something was made").0), three);
    // Each refers only to what was made before it, or is in the image.
    for (at, (id, creation)) in made.iter().enumerate() {
        assert_eq!(*id, ObjectId::minted(ChangeId::new(ActorId(77), 5 + at as u64)));
        creation.references(&mut |object| {
            assert!(made[..at].iter().any(|(id, _)| *id == object) || Stored(store.clone()).before(object).is_some());
        });
    }
}

/// The scenario of the kernel's own tests, with methods.
#[test]
fn the_kernel_takes_what_was_merged_for_a_value_that_nobody_wrote() {
    let mut bench = Bench::new();
    answer(&mut bench.image, "base := method(a; b)\none := method(a1; b)\nother := method(a; b1)\n1");
    let stored = Stored(bench.image.store().clone());
    let (live, dream, time) = (ActorId(1), ActorId(2), Time::from_ms(7));
    let mut rest = merge::Image::default();
    for name in ["base", "one", "other"] {
        let Datum::Object(id) = bench.slot(name) else { panic!("{name} is a method") };
        let creation = stored.before(id).expect("it is there");
        rest.apply(id, &Operation::Create(Box::new(creation))).expect("it is new");
    }
    let object = ObjectId::minted(ChangeId::new(live, 1_000_000));
    let slots = vec![("m".into(), bench.slot("base"))];
    let creation = Creation { slots, ..Creation::default() };
    rest.apply(object, &Operation::Create(Box::new(creation))).expect("it is new");
    let put = |actor, slot: &str| {
        let operation = Operation::set_slot("m", bench.slot(slot));
        [Change::new(ChangeId::new(actor, 1), time, object, operation)]
    };
    let mut ledger = Ledger::new(live, 7);
    ledger.fork(dream, time, Policy::ForkWins).expect("the actor is new");
    ledger.commit(&put(live, "one"), &rest).expect("it fits");
    rest.commit(&put(live, "one")).expect("it fits");
    let methods = Methods::new(stored, ChangeId::new(dream, 2));
    let outcome = ledger.merge(dream, &put(dream, "other"), time, &rest, &methods).expect("it fits");
    let made = methods.into_made();
    let merged = Datum::Object(made.last().expect("something was made").0);
    assert_eq!(outcome.effects, [Effect { object, operation: Operation::set_slot("m", merged) }]);
    assert_eq!((outcome.reconciled.len(), outcome.conflicts.len()), (1, 0));
}

#[test]
fn what_is_no_method_is_left_to_others() {
    let mut bench = Bench::new();
    answer(&mut bench.image, "base := method(a; b)\none := method(a1; b)\nother := method(a; b1)\n1");
    for odd in ["nil", "1", "\"text\"", "Object clone", "getSlot(\"base\") message", "list(1)"] {
        answer(&mut bench.image, &format!("odd := {odd}\n1"));
        assert!(bench.merges("one", "odd").is_none(), "{odd}");
        assert!(bench.merges("odd", "other").is_none(), "{odd}");
    }
    // Bodies that lead back to themselves, and those that no parser makes.
    for odd in [
        "m := getSlot(\"odd\") message; m setNext(m)",
        "m := getSlot(\"odd\") message; m appendArg(m)",
        "getSlot(\"odd\") message last setNext(Message clone setName(\";\"))",
        "getSlot(\"odd\") message setNext(Message clone setName(\";\") setArguments(list(message(x))))",
    ] {
        answer(&mut bench.image, &format!("odd := method(a; b)\n{odd}\n1"));
        assert!(bench.merges("one", "odd").is_none(), "{odd}");
    }
}

#[test]
fn whether_it_is_activated_and_what_else_it_has_are_merged_beside_the_body() {
    let mut bench = Bench::new();
    answer(&mut bench.image, "base := method(a; b)\none := method(a; b)\nother := method(a; b1)\n1");
    answer(&mut bench.image, "getSlot(\"one\") setIsActivatable(false); getSlot(\"one\") note := 7; 1");
    answer(&mut bench.image, "getSlot(\"other\") remark := 8; getSlot(\"other\") setPassStops(true); 1");
    assert!(bench.merges("one", "other").is_some());
    let look = "list(getSlot(\"merged\") isActivatable, getSlot(\"merged\") note, getSlot(\"merged\") remark, \
                getSlot(\"merged\") passStops, getSlot(\"merged\") code)";
    assert_eq!(answer(&mut bench.image, look), "list(false, 7, 8, true, \"method(a ;\\nb1)\")");
    answer(&mut bench.image, "getSlot(\"other\") note := 9; 1");
    assert!(bench.merges("one", "other").is_none(), "both gave it a note");
}

#[test]
fn a_long_body_is_merged() {
    let lines = |edited: std::ops::Range<usize>| {
        let line = |at: usize| format!("line{at}({})", if edited.contains(&at) { "edited" } else { "plain" });
        (0..600).map(line).collect::<Vec<String>>().join("; ")
    };
    let merged = three_way(&body(&lines(0..0)), &body(&lines(0..200)), &body(&lines(200..500)));
    assert!(merged.expect("they are far apart").same_code(&body(&lines(0..500))));
    assert!(three_way(&body(&lines(0..0)), &body(&lines(0..200)), &body(&lines(0..201))).is_some());
}

#[test]
fn a_deep_body_is_merged() {
    let nested =
        |inner: &str, outer: &str| format!("{}{inner}{}", format!("{outer}(1, ").repeat(3000), ")".repeat(3000));
    let with_outer = |inner: &str, outer: &str| format!("{outer}; {}", nested(inner, "f"));
    let base = body(&with_outer("x", "a"));
    let merged = three_way(&base, &body(&with_outer("y", "a")), &body(&with_outer("x", "b")));
    assert!(merged.expect("they are far apart").same_code(&body(&with_outer("y", "b"))));
    let both =
        three_way(&body(&nested("g(1, 2)", "f")), &body(&nested("g(3, 2)", "f")), &body(&nested("g(1, 4)", "f")));
    assert!(both.expect("they are far apart").same_code(&body(&nested("g(3, 4)", "f"))));
}

/// A merge is done in the image's own thread: what would take long is a conflict.
#[test]
fn what_would_take_too_long_is_a_conflict() {
    let lines = |word: &str| (0..9000).map(|at| format!("{word}{at}")).collect::<Vec<String>>().join("; ");
    assert!(three_way(&body(&lines("a")), &body(&lines("b")), &body(&lines("c"))).is_none());
    let endless = Tree::grow(0u64, |at| {
        let head = Head { name: "again".into(), value: Datum::Absent, shell: Shell::default() };
        let origin = Origin { label: Datum::Nil, line: Datum::Nil, column: Datum::Nil };
        Some(Found { head, origin, arguments: vec![at + 1, at + 2], next: Some(at + 3) })
    });
    assert!(endless.is_none());
}
