//! What surrounds a merge: what is never merged, what is refused, what is told of it, and how it is taken back.

mod lab;

use image::{Arrival, Cause, Search};
use lab::answer;
use lab::bench::{Bench, numbered};
use merge::Policy;
use object::change::{Body, Change, ChangeId, Creation, Datum, ObjectId, Operation, Time};
use std::io::{Read, Write};
use store::Branched;
use testkit::{leave, wait};

const W: Policy = Policy::LastWriterWins;
const K: Policy = Policy::KeepBoth;

/// No program makes counters yet; the store and the kernel have them.
#[test]
fn counts_add_up_under_every_policy() {
    for policy in Policy::ALL {
        let mut bench = Bench::new("1");
        let counter = ObjectId::minted(bench.image().store().next_change());
        let creation = Creation { body: Body::Counters(vec![("n".into(), 5)]), ..Creation::default() };
        let count = |delta| Operation::Count { key: "n".into(), delta };
        let made = vec![(counter, Operation::Create(Box::new(creation)))];
        bench.image().adopt(&Cause::default(), made).expect("it is made");
        let mut dream = bench.dreams("1", policy);
        dream.changes = vec![Change::new(ChangeId::new(dream.actor, 1), dream.forked, counter, count(3))];
        bench.image().adopt(&Cause::default(), vec![(counter, count(2))]).expect("it counts");
        bench.merges(&dream);
        let after = bench.image().store().read(counter).expect("it reads").expect("it is there");
        assert_eq!(after.body, Body::Counters(vec![("n".into(), 10)]), "{policy:?}");
    }
}

#[test]
fn what_the_machine_keeps_for_itself_is_left_alone() {
    let mut bench = Bench::new("tick := method(n := 0; block(n = n + 1)); next := tick; next call");
    let dream = bench.dreams("Lobby job := 1; next call; coroDoLater(yield; Lobby later := 1); yield; 1", W);
    let plan = bench.plans(&dream);
    assert!(!plan.of_machine.is_empty(), "{:?}", dream.changes);
    bench.does("Lobby other := 1");
    bench.merges(&dream);
    // What a block remembers is no stack.
    assert_eq!(bench.shows("list(job, next call, Scheduler yieldingCoros size)"), "list(1, 3, 0)");
}

#[test]
fn what_a_dream_cannot_know_is_refused() {
    let mut bench = Bench::new("x := 1");
    let mut dream = bench.dreams("x = 2", W);
    bench.does("secret := Object clone; 1");
    let secret = bench.id("secret");
    let lobby = bench.id("Lobby");
    dream.changes[0].operation = Operation::set_slot("x", secret);
    let refused = bench.tries(&dream).expect_err("it cannot know").to_string();
    assert!(refused.contains("cannot know"), "{refused}");
    let mut gap = bench.dreams("x = 2", W);
    gap.changes[0].id.seq = 2;
    assert!(bench.tries(&gap).is_err());
    let mut foreign = bench.dreams("x = 2", W);
    foreign.changes[0].id.actor = bench.image().store().actor();
    assert!(bench.tries(&foreign).is_err());
    let mut future = bench.dreams("x = 2", W);
    future.fork_commit += 5;
    assert!(bench.tries(&future).is_err());
    assert_eq!(bench.shows("x"), "1");
    assert_eq!(bench.id("Lobby"), lobby);
}

/// A forged time beyond the receipt would win over everything.
#[test]
fn a_time_beyond_the_receipt_is_cut() {
    let mut bench = Bench::new("x := 1");
    let mut dream = bench.dreams("x = 3", W);
    dream.changes.iter_mut().for_each(|change| change.time = Time::MAX);
    bench.does("x = 2");
    bench.merges(&dream);
    assert_eq!(bench.shows("x"), "2");
}

#[test]
fn an_object_of_another_kind_is_taken_if_live_left_it_alone() {
    let state = "o := list(1, 2); t := \"hello\" asMutable; 1";
    let doing = "o become(Map clone atPut(\"a\", 1)); t appendSeq(\"é\"); 1";
    let mut bench = Bench::new(state);
    let dream = bench.dreams(doing, W);
    bench.does("Lobby other := 1");
    bench.merges(&dream);
    assert_eq!(bench.shows("list(o type, o at(\"a\"), t asString)"), "list(\"Map\", 1, \"helloé\")");
    bench.reopens();
    assert_eq!(bench.shows("list(o type, o at(\"a\"), t asString)"), "list(\"Map\", 1, \"helloé\")");
    let mut bench = Bench::new(state);
    let dream = bench.dreams(doing, W);
    bench.does("o append(3); 1");
    let refused = bench.tries(&dream).expect_err("both changed it").to_string();
    assert!(refused.contains("became one of another kind"), "{refused}");
    assert_eq!(bench.shows("o"), "list(1, 2, 3)");
}

/// Object inherits from the Lobby: through that ring whatever the Lobby inherits from would lead back to it.
#[test]
fn a_proto_of_the_lobby_is_no_circle() {
    let mut bench = Bench::new("Tools := Object clone do(hammer := 7); 1");
    let dream = bench.dreams("Lobby appendProto(Tools); 1", W);
    bench.does("x := 1");
    let plan = bench.plans(&dream);
    assert_eq!(plan.violations, []);
    bench.merges(&dream);
    assert_eq!(bench.shows("hammer"), "7");
    let mut bench = Bench::new("A := Object clone; B := A clone; 1");
    let dream = bench.dreams("A setProto(B); 1", W);
    assert_eq!(bench.plans(&dream).violations.len(), 1, "a circle of the dream's own is one");
}

fn call(dream: &Arrival, seq: u64, name: &str, way: &str, object: ObjectId) -> Change {
    let payload = Datum::record([Datum::text("https://example.org"), Datum::text(way), Datum::Nil]);
    let operation = Operation::Call { name: name.into(), payload };
    Change::new(ChangeId::new(dream.actor, seq), dream.forked, object, operation)
}

#[test]
fn calls_are_never_made_again_and_those_put_off_wait_in_the_outbox() {
    let mut bench = Bench::new("x := 1");
    let root = ObjectId::minted(ChangeId::new(bench.image().store().actor(), 1));
    let mut dream = bench.dreams("x = 2", W);
    for way in ["redirected", "simulated", "blocked", "failed", "deferred"] {
        let next = dream.changes.len() as u64 + 1;
        dream.changes.push(call(&dream, next, "fetch", way, root));
    }
    bench.merges(&dream);
    let look = "o := Telos outbox first; list(Telos outbox size, o key, o name, o arguments, o status)";
    let store = u128::from_be_bytes(bench.image().store().id());
    let expected =
        format!("list(1, \"{store:032x}-6@{}\", \"fetch\", list(\"https://example.org\"), \"waiting\")", dream.actor.0);
    assert_eq!(bench.shows(look), expected);
    bench.merges(&dream);
    assert_eq!(bench.shows("Telos outbox size"), "1");
}

#[test]
fn a_slot_tells_where_it_comes_from() {
    let mut bench = Bench::new("A := Object clone do(x := 1; y := 1); 1");
    let first = bench.image().store().last_commit();
    let dream = bench.dreams("A x = 2", W);
    let live = bench.does("A y = 3");
    let merge = bench.merges(&dream).commit.expect("it was merged");
    bench.does("z := 1");
    let object = bench.id("A");
    let search = Search { commits: 1000, writings: 10 };
    let told = bench.image().provenance(object, Some("x"), search).expect("it is told");
    assert!(told.is_whole);
    let told: Vec<(u64, Option<String>, Option<Datum>)> = told
        .writings
        .into_iter()
        .map(|writing| (writing.commit, writing.dream.map(|dream| dream.name), writing.value))
        .collect();
    let expected = [(merge, Some(dream.name.clone()), Some(2.0.into())), (first, None, Some(1.0.into()))];
    assert_eq!(told, expected);
    let all = bench.image().provenance(object, None, search).expect("it is told");
    let commits: Vec<u64> = all.writings.iter().map(|writing| writing.commit).collect();
    assert_eq!(commits, [merge, live, first]);
    let few = bench.image().provenance(object, None, Search { commits: 1000, writings: 1 }).expect("it is told");
    assert_eq!((few.writings.len(), few.is_whole), (1, false));
}

#[test]
fn an_undone_merge_marks_what_it_opened_and_can_be_done_again() {
    let mut bench = Bench::new("x := 1; y := 1");
    let dream = bench.dreams("x = 3; y = 3", K);
    bench.does("x = 2");
    let commit = bench.merges(&dream).commit.expect("it was merged");
    let look = "list(x, y, Telos conflicts size, Telos conflicts first status, Telos merges first status)";
    assert_eq!(bench.shows(look), "list(2, 3, 1, \"open\", \"merged\")");
    assert_eq!(bench.reverts(commit), [""; 0]);
    assert_eq!(bench.shows(look), "list(2, 1, 1, \"undone\", \"undone\")");
    let undo = bench.image().store().last_commit();
    bench.reopens();
    assert_eq!(bench.reverts(undo), [""; 0]);
    assert_eq!(bench.shows(look), "list(2, 3, 1, \"open\", \"merged\")");
    // What was written since stays, and is told.
    let mut bench = Bench::new("x := 1; y := 1");
    let dream = bench.dreams("x = 3; y = 3", W);
    let commit = bench.merges(&dream).commit.expect("it was merged");
    bench.does("x = 7");
    assert_eq!(bench.reverts(commit), ["slot \"x\""]);
    assert_eq!(bench.shows("list(x, y)"), "list(7, 1)");
}

#[test]
fn a_plan_is_for_one_commit_only() {
    let mut bench = Bench::new("x := 1");
    let dream = bench.dreams("x = 3", W);
    let plan = bench.plans(&dream);
    bench.does("y := 1");
    let refused = bench.image().merge(&Cause::default(), &plan).expect_err("the image went on").to_string();
    assert!(refused.contains("planned for commit"), "{refused}");
    bench.merges(&dream);
    assert_eq!(bench.shows("x"), "3");
}

/// In a copy of the process the merge is done and looked at; live is not touched, and the copy's own journal has none of it.
#[test]
fn a_candidate_shows_what_the_merge_would_do() {
    let mut bench = Bench::new("A := Object clone do(x := 1; twice := method(x * 2)); A twice");
    let dream = bench.dreams("A x = 3; A twice = method(x * 2 + 1); made := Object clone do(z := 9); 1", W);
    bench.does("A y := 5");
    let (mut reader, mut writer) = std::io::pipe().expect("a pipe");
    let actor = bench.image().store().mint_actor().expect("an actor");
    let (branched, _) = bench.image().fork(actor).expect("it forks");
    let (child, pin) = match branched {
        Branched::Live { child, pin } => (child, pin),
        Branched::Copy => {
            let judged = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                let plan = bench.plans(&dream);
                let touched = bench.image().try_merge(&plan).expect("it fits");
                assert!(touched.contains(&bench.id("A")));
                assert!(bench.image().store().take_journal().is_empty());
                // Nothing says that it is one.
                let shown = bench.shows("list(A twice, A y, made z, Lobby hasLocalSlot(\"Telos\"))");
                format!("{shown} {}", bench.shows("Lobby own := Object clone; 1"))
            }));
            let _ = writer.write_all(judged.unwrap_or_else(|_| "it panicked".into()).as_bytes());
            leave(0)
        }
    };
    drop(writer);
    let mut said = String::new();
    reader.read_to_string(&mut said).expect("it says something");
    assert_eq!(wait(child, true).expect("it is ours").expect("it ended").status, 0);
    drop(pin);
    assert_eq!(said, "list(7, 5, 9, false) 1");
    assert_eq!(bench.shows("list(A twice, Lobby hasLocalSlot(\"made\"))"), "list(2, false)");
    bench.merges(&dream);
    assert_eq!(bench.shows("list(A twice, A y, made z, Telos merges size)"), "list(7, 5, 9, 1)");
}

/// Several commits of one dream: later ones change what earlier ones made.
#[test]
fn a_journal_of_several_commits_is_one_merge() {
    let mut bench = Bench::new("items := list(1); 1");
    let mut dream = bench.dreams("made := Object clone do(n := 1); t := \"a\" asMutable; 1", W);
    let made = dream.changes.iter().find(|change| matches!(change.operation, Operation::Create(_)));
    let made = made.expect("it makes something").object;
    let extra = [Change::new(ChangeId::new(dream.actor, 0), dream.forked, made, Operation::set_slot("n", 2.0))];
    let more = numbered(&extra, dream.actor, dream.changes.len() as u64 + 1);
    dream.changes.extend(more);
    bench.does("items append(2); 1");
    bench.merges(&dream);
    let shown = answer(bench.image(), "list(made n, t asString, items)");
    assert_eq!(shown, "list(2, \"a\", list(1, 2))");
}
