//! Dreams merged into an image that went on: every scenario of the design's table, under every policy that it names.

mod lab;

use image::{Arrival, Cause};
use lab::bench::{Bench, at};
use merge::Policy;

const F: Policy = Policy::ForkWins;
const L: Policy = Policy::LiveWins;
const W: Policy = Policy::LastWriterWins;
const K: Policy = Policy::KeepBoth;

const OPEN: &str = "if(Lobby hasSlot(\"Telos\"), Telos conflicts size, 0)";

/// What is shown after live and a dream both did something, for each policy; and how many conflicts are open.
struct Scenario {
    state: &'static str,
    live: &'static str,
    dream: &'static str,
    look: &'static str,
}

impl Scenario {
    fn merged(&self, policy: Policy, is_dream_later: bool) -> (Bench, String) {
        let mut bench = Bench::new(self.state);
        let mut dream = bench.dreams(self.dream, policy);
        bench.does(self.live);
        if is_dream_later {
            let now = bench.image().store().time();
            dream.receipt = object::change::Time(now.0 + 1);
            dream = at(dream.clone(), dream.receipt);
        }
        bench.merges(&dream);
        let shown = bench.shows(self.look);
        let open = bench.shows(OPEN);
        bench.reopens();
        assert_eq!(bench.shows(self.look), shown, "after a restart");
        bench.image().store().checkpoint().expect("it can be applied");
        bench.reopens();
        assert_eq!(bench.shows(self.look), shown, "after another");
        (bench, format!("{shown}, {open} open"))
    }

    fn shows(&self, is_dream_later: bool, expected: &[(Policy, &str)]) {
        for (policy, expected) in expected {
            assert_eq!(self.merged(*policy, is_dream_later).1, *expected, "{policy:?}");
        }
    }
}

#[test]
fn a_slot_that_both_wrote() {
    let both = Scenario { state: "x := 1", live: "x = 2", dream: "x = 3", look: "x" };
    both.shows(true, &[(F, "3, 0 open"), (L, "2, 0 open"), (W, "3, 0 open"), (K, "3, 1 open")]);
    both.shows(false, &[(F, "3, 0 open"), (L, "2, 0 open"), (W, "2, 0 open"), (K, "2, 1 open")]);
}

#[test]
fn a_slot_that_both_wrote_alike() {
    let alike = Scenario { state: "x := 1", live: "x = 2", dream: "x = 2", look: "x" };
    alike.shows(true, &[F, L, W, K].map(|policy| (policy, "2, 0 open")));
}

#[test]
fn a_slot_that_live_removed() {
    let removed = Scenario {
        state: "x := 1",
        live: "removeSlot(\"x\")",
        dream: "x = 3",
        look: "if(Lobby hasLocalSlot(\"x\"), x, \"absent\")",
    };
    removed.shows(false, &[(F, "3, 0 open"), (L, "absent, 0 open"), (W, "absent, 0 open"), (K, "absent, 1 open")]);
}

#[test]
fn what_both_put_into_a_list_stays_together() {
    let inserted = Scenario {
        state: "items := list(\"a\", \"b\"); 1",
        live: "items atInsert(1, \"X\"); items atInsert(2, \"Y\"); 1",
        dream: "items atInsert(1, \"P\"); items atInsert(2, \"Q\"); 1",
        look: "items join",
    };
    let shown = inserted.merged(W, true).1;
    assert!(["aXYPQb, 0 open", "aPQXYb, 0 open"].contains(&&*shown), "{shown}");
    inserted.shows(false, &[F, L, W, K].map(|policy| (policy, &*shown)));
    let deleted = Scenario {
        state: "items := list(\"a\", \"b\"); 1",
        live: "items removeAt(1); 1",
        dream: "items append(\"c\"); 1",
        look: "items join",
    };
    deleted.shows(true, &[F, L, W, K].map(|policy| (policy, "ac, 0 open")));
}

#[test]
fn protos_that_would_lead_back_to_themselves() {
    let circle = Scenario {
        state: "A := Object clone; B := Object clone; 1",
        live: "A prependProto(B); 1",
        dream: "B prependProto(A); 1",
        look: "list(A proto == B, B proto == A, Telos violations size) join(\" \")",
    };
    let shown = "false true 1, 0 open";
    circle.shows(true, &[(F, shown), (W, shown), (K, shown), (L, "true false 1, 0 open")]);
}

#[test]
fn an_object_that_live_let_go_is_revived() {
    let revived = Scenario {
        state: "O := Object clone do(value := 7); r := O; Lobby removeSlot(\"O\"); 1",
        live: "Lobby removeSlot(\"r\"); Collector collect; 1",
        dream: "s := r; 1",
        look: "list(Lobby hasLocalSlot(\"r\"), s value) join(\" \")",
    };
    revived.shows(true, &[F, L, W, K].map(|policy| (policy, "false 7, 0 open")));
}

/// The same, with what was let go out of memory too.
#[test]
fn a_revived_object_comes_from_the_store() {
    let mut bench = Bench::new("r := Object clone do(value := 7); 1");
    let dream = bench.dreams("s := r; 1", L);
    bench.does("Lobby removeSlot(\"r\")");
    bench.reopens();
    bench.image().vm_mut().collect();
    bench.merges(&dream);
    assert_eq!(bench.shows("s value"), "7");
}

#[test]
fn maps_that_both_made_under_one_key_are_one() {
    let map = Scenario {
        state: "m := Map clone; 1",
        live: "m atPut(\"k\", Map clone atPut(\"a\", 1)); 1",
        dream: "m atPut(\"k\", Map clone atPut(\"b\", 2)); 1",
        look: "k := m at(\"k\"); k keys sort map(key, key .. (k at(key) asString)) join",
    };
    map.shows(true, &[F, L, W, K].map(|policy| (policy, "a1b2, 0 open")));
    let slot = Scenario {
        state: "1",
        live: "cache := Map clone atPut(\"a\", Map clone atPut(\"x\", 1)); 1",
        dream: "cache := Map clone atPut(\"a\", Map clone atPut(\"y\", 2)); cache atPut(\"c\", 3); 1",
        look: "list(cache keys sort join, cache at(\"a\") keys sort join) join(\" \")",
    };
    slot.shows(true, &[F, L, W, K].map(|policy| (policy, "ac xy, 0 open")));
}

#[test]
fn lists_that_both_made_under_one_key_are_one_and_two_objects_are_not() {
    let list = Scenario {
        state: "1",
        live: "queue := list(\"a\"); 1",
        dream: "queue := list(\"b\"); 1",
        look: "queue sort join",
    };
    list.shows(true, &[F, L, W, K].map(|policy| (policy, "ab, 0 open")));
    let object = Scenario {
        state: "1",
        live: "thing := Object clone do(who := \"live\"); 1",
        dream: "thing := Object clone do(who := \"dream\"); 1",
        look: "thing who",
    };
    object.shows(true, &[(F, "dream, 0 open"), (L, "live, 0 open"), (W, "dream, 0 open"), (K, "dream, 1 open")]);
}

#[test]
fn the_same_journal_twice_does_nothing_the_second_time() {
    let mut bench = Bench::new("x := 1; items := list(1); 1");
    let dream = bench.dreams("x = 2; items append(2); made := Object clone do(y := 3); 1", K);
    bench.does("z := 1");
    let first = bench.merges(&dream);
    let commit = bench.image().store().last_commit();
    assert_eq!(first.commit, Some(commit));
    let look = "list(x, items size, made y, z, Telos merges size) join(\" \")";
    assert_eq!(bench.shows(look), "2 2 3 1 1");
    bench.does("x = 5");
    bench.reopens();
    let again = bench.merges(&dream);
    assert!(again.ticket.is_none());
    assert_eq!(again.commit, Some(commit));
    assert_eq!(bench.shows(look), "5 2 3 1 1");
    let mut longer = dream.clone();
    let more = bench.dreams("x = 9", K).changes;
    longer.changes.extend(lab::bench::numbered(&more, dream.actor, dream.changes.len() as u64 + 1));
    let refused = bench.tries(&longer).expect_err("it has gone on").to_string();
    assert!(refused.contains("has gone on since"), "{refused}");
}

#[test]
fn the_empty_dream_is_nothing() {
    let mut bench = Bench::new("x := 1");
    let dream = bench.dreams("x", K);
    let before = bench.image().store().last_commit();
    assert!(bench.merges(&dream).ticket.is_none());
    assert_eq!(bench.image().store().last_commit(), before);
}

/// Methods are objects of several parts; whichever is shown, it runs.
#[test]
fn a_method_that_only_the_dream_changed_is_the_new_one() {
    let mut bench =
        Bench::new("Account := Object clone do(balance := 10; tax := method(balance * 0.1)); a := Account clone; 1");
    assert_eq!(bench.shows("a tax"), "1");
    let dream = bench.dreams("Account tax = method(balance * 0.2); 1", W);
    bench.does("Account balance = 50");
    bench.merges(&dream);
    assert_eq!(bench.shows("a tax"), "10");
    bench.reopens();
    assert_eq!(bench.shows("a tax"), "10");
}

fn nested(bench: &mut Bench, outer: &Arrival, source: &str) -> Arrival {
    // What the inner one sees is what the outer one did: done here, written down, and taken back by its commit's inverse.
    let (fork_commit, forked) = (outer.fork_commit, outer.forked);
    let mut inner = bench.dreams(source, outer.policy);
    (inner.fork_commit, inner.forked) = (fork_commit, forked);
    inner.parents = vec![(outer.actor, outer.changes.len() as u64)];
    inner
}

#[test]
fn a_dream_in_a_dream_is_merged_after_it_and_never_without() {
    let mut bench = Bench::new("x := 1; y := 1");
    let outer = bench.dreams("x = 2; y = 2", W);
    let inner = nested(&mut bench, &outer, "x = 3");
    let refused = bench.tries(&inner).expect_err("its parent is not merged").to_string();
    assert!(refused.contains("dreamt inside of") && refused.contains("is not merged"), "{refused}");
    bench.does("z := 1");
    bench.merges(&outer);
    assert_eq!(bench.shows("list(x, y)"), "list(2, 2)");
    bench.merges(&inner);
    assert_eq!(bench.shows("list(x, y, Telos conflicts size)"), "list(3, 2, 0)");
}

#[test]
fn a_dream_in_one_that_was_merged_in_part_is_refused() {
    let mut bench = Bench::new("x := 1; y := 1");
    let mut outer = bench.dreams("x = 2; y = 2", W);
    let inner = nested(&mut bench, &outer, "x = 3");
    outer.only = Some(vec![(bench.id("Lobby"), Some("y".into()))]);
    bench.merges(&outer);
    let refused = bench.tries(&inner).expect_err("half of its parent is missing").to_string();
    assert!(refused.contains("only in part"), "{refused}");
}

#[test]
fn only_what_was_asked_for_is_taken_with_what_it_needs() {
    let mut bench = Bench::new("A := Object clone do(x := 1; y := 1); 1");
    let mut dream = bench.dreams("A x := Object clone do(deep := list(1, 2)); A y := Object clone; B := 3; 1", W);
    dream.only = Some(vec![(bench.id("A"), Some("x".into()))]);
    let plan = bench.plans(&dream);
    let left: Vec<String> = plan.left_out.iter().map(|left| left.place.clone()).collect();
    assert_eq!(left, ["slot \"B\"", "slot \"y\""]);
    bench.merges(&dream);
    assert_eq!(bench.shows("list(A x deep, A y, Lobby hasLocalSlot(\"B\"))"), "list(list(1, 2), 1, false)");
    assert_eq!(bench.shows("Telos merges last isPartial"), "true");
    assert_eq!(bench.shows("Telos merges last leftOut size"), "2");
}

#[test]
fn a_slot_may_have_a_policy_of_its_own_as_the_fork_point_had_it() {
    let state = "A := Object clone do(x := 1; y := 1; mergePolicy := Map clone atPut(\"x\", \"live-wins\")); 1";
    let mut bench = Bench::new(state);
    let dream = bench.dreams("A x = 3; A y = 3; A mergePolicy atPut(\"x\", \"fork-wins\"); 1", F);
    bench.does("A x = 2; A y = 2; A mergePolicy atPut(\"x\", \"keep-both\"); 1");
    bench.merges(&dream);
    assert_eq!(bench.shows("list(A x, A y)"), "list(2, 3)");
    // Of an object, and replaced since.
    let state = "A := Object clone do(x := 1; mergePolicy := Object clone do(x := \"keep-both\")); 1";
    let mut bench = Bench::new(state);
    let dream = bench.dreams("A x = 3; 1", L);
    bench.does("A x = 2; A mergePolicy := Object clone do(x := \"fork-wins\"); 1");
    bench.merges(&dream);
    assert_eq!(
        bench.shows("list(A x, Telos conflicts size, Telos conflicts first policy)"),
        "list(2, 1, \"keep-both\")"
    );
}

#[test]
fn a_conflict_is_an_object_that_a_program_can_read_and_somebody_resolve() {
    let mut bench = Bench::new("A := Object clone do(x := 1); 1");
    let dream = bench.dreams("A x = 3", K);
    bench.does("A x = 2");
    bench.merges(&dream);
    assert_eq!(bench.shows("Telos conflicts first shown"), "2");
    assert_eq!(
        bench.shows("c := Telos conflicts first; list(c object == A, c key, c base, c status, c siblings map(value), c siblings map(who) first)"),
        "list(true, \"x\", 1, \"open\", list(2, 3), \"live\")"
    );
    bench.does("Lobby removeSlot(\"c\")");
    // A later write supersedes what is shown; the record stays open until somebody decides.
    bench.does("A x = 4");
    assert_eq!(bench.shows("Telos conflicts first status"), "open");
    let conflict = bench.id("Telos conflicts first");
    let resolved = bench.image().resolve_conflict(conflict, &image::Choice::Sibling(1), &Cause::default());
    assert!(resolved.expect("it can be resolved").is_some());
    assert_eq!(
        bench.shows("list(A x, Telos conflicts first status, Telos conflicts first resolution)"),
        "list(3, \"resolved\", 3)"
    );
    let again = bench.image().resolve_conflict(conflict, &image::Choice::Keep, &Cause::default());
    assert!(again.expect_err("it is resolved").to_string().contains("it is resolved"));
    bench.reopens();
    assert_eq!(bench.shows("list(A x, Telos conflicts first status)"), "list(3, \"resolved\")");
}

#[test]
fn what_lost_under_a_policy_is_told_with_the_merge() {
    let mut bench = Bench::new("A := Object clone do(x := 1); 1");
    let dream = bench.dreams("A x = 3", L);
    bench.does("A x = 2");
    bench.merges(&dream);
    assert_eq!(
        bench.shows("m := Telos merges first; list(A x, m dream, m policy, m mandate, m settled first siblings map(value), m status)"),
        format!("list(2, \"{}\", \"live-wins\", \"mend it\", list(2, 3), \"merged\")", dream.name)
    );
}

#[test]
fn a_method_that_both_changed_is_merged_as_a_tree() {
    let method = Scenario {
        state: "a := method(x, x); b := method(x, x); a1 := method(x, x + 1); b1 := method(x, x + 10); n := 0
            m := method(n = a(n); n = b(n); n); 1",
        live: "m = method(n = a1(n); n = b(n); n); 1",
        dream: "m = method(n = a(n); n = b1(n); n); 1",
        look: "n = 0; list(m, getSlot(\"m\") code) join(\" \")",
    };
    let (_, shown) = method.merged(W, true);
    assert!(shown.starts_with("11 ") && shown.contains("a1(n)") && shown.contains("b1(n)"), "{shown}");
    for policy in [F, L, W, K] {
        assert_eq!(method.merged(policy, true).1, shown, "{policy:?}");
        let mut bench = Bench::new(method.state);
        let dream = bench.dreams(method.dream, policy);
        bench.does(method.live);
        assert_eq!(bench.plans(&dream).reconciled.len(), 1, "nobody wrote it: it must be verified");
    }
    let contradiction =
        Scenario { state: "m := method(1); 1", live: "m = method(2); 1", dream: "m = method(3); 1", look: "m" };
    contradiction.shows(true, &[(F, "3, 0 open"), (L, "2, 0 open"), (W, "3, 0 open"), (K, "3, 1 open")]);
    let alike = Scenario {
        state: "m := method(1); 1",
        live: "m = method(n := 2; n); 1",
        dream: "m = method(n := 2; n); 1",
        look: "m",
    };
    alike.shows(true, &[F, L, W, K].map(|policy| (policy, "2, 0 open")));
}

/// `setProto` takes away what was there. The one whose new proto is left out would inherit from nothing, not even `clone`.
#[test]
fn an_object_whose_new_proto_is_left_out_keeps_the_one_that_it_had() {
    let circle = Scenario {
        state: "P := Object clone; A := P clone; B := P clone; 1",
        live: "A setProto(B); 1",
        dream: "B setProto(A); 1",
        look: "list(A proto == B, A proto == P, B proto == A, B proto == P, A protos size, B protos size,
            Telos violations size) join(\" \")",
    };
    let shown = "false true true false 1 1 1, 0 open";
    circle.shows(true, &[(F, shown), (W, shown), (K, shown), (L, "true false false true 1 1 1, 0 open")]);
    let mut bench = Bench::new("A := Object clone; B := A clone; 1");
    let dream = bench.dreams("A setProto(B); 1", F);
    bench.merges(&dream);
    assert_eq!(bench.shows("list(A proto == Object, B proto == A, Telos violations size)"), "list(true, true, 1)");
}

/// Live decides what becomes of the circle: what it takes away is gone, and what was left out does not come back by itself.
#[test]
fn what_live_makes_of_a_circle_stays() {
    let mut bench = Bench::new("P := Object clone; A := P clone; B := P clone; C := Object clone; 1");
    let dream = bench.dreams("B setProto(A); 1", F);
    bench.does("A setProto(B); 1");
    let late = bench.dreams("A appendProto(C); 1", W);
    bench.merges(&dream);
    bench.does("B setProto(C); 1");
    bench.does("A prependProto(C); 1");
    let look =
        "list(A protos map(proto, list(P, B, C) indexOf(proto)), B protos map(proto, list(P, A, C) indexOf(proto)))";
    assert_eq!(bench.shows(look), "list(list(2, 0), list(2))");
    bench.merges(&late);
    assert_eq!(bench.shows(look), "list(list(2, 2, 0), list(2))");
}
