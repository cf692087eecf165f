//! Live moves on while a candidate is judged: what it writes outside of what the verdict rests on repeats nothing, what it writes
//! inside repeats the tests that read it and nothing else, and one that never stands still is decided all the same. All of it is
//! counted, by the report of `telos dream merge --json`.

use crate::launch::person::Guarded;
use crate::launch::up::{Up, wait_for};
use keeper::protocol::{Outcome, Request};
use serde_json::Value;
use std::sync::atomic::{AtomicBool, Ordering};

/// Three tests that read different things; the slow one gives live the time to do something.
const STATE: &str = "Base := Object clone do(limit := 9)
Account := Base clone do(rate := 1; flag := 1; items := list(1, 2); unread := 0)
Thing := Object clone do(x := 0)
Slow := Object clone do(count := 3000000)
RateTest := UnitTest clone do(testRate := method(assertTrue(Account rate > 0)))
FlagTest := UnitTest clone do(testFlag := method(assertEquals(1, Account flag)))
ShapeTest := UnitTest clone do(
    testLimit := method(assertTrue(Account limit > 0))
    testItems := method(assertTrue(Account items sum > 0))
)
SlowTest := UnitTest clone do(testLong := method(n := 0; Slow count repeat(n = n + 1); assertEquals(Slow count, n)))
Lobby counted := 0
Lobby queue := list()
nil";

const TESTS: u64 = 5;
/// Regression, purity and purpose, which are told what tests came to; and safety, which is not.
const CHECKS: u64 = 4;
/// So many are judged while live goes on, and one while it stands still.
const CANDIDATES_MAX: u64 = 6;

fn with_state() -> Up {
    let up = Up::start(&[]);
    up.telos(&["send", STATE]).ok();
    up
}

/// The candidate that judges this dream at the moment.
fn judging(up: &Up, dream: &str) -> Option<String> {
    let dreams = up.told(&["dream", "list", "--json"]);
    let is_candidate = |each: &&Value| each["mandate"] == format!("judge {dream}") && each["status"] == "running";
    dreams.as_array()?.iter().find(is_candidate).and_then(|each| Some(each["dream"].as_str()?.to_string()))
}

/// What comes of merging a dream if live does something while its first candidate is judged. If that was over too soon, there is
/// more to judge the next time.
fn merged_while(up: &Up, change: &str, options: &[&str], live: &str) -> Value {
    for _ in 0..8 {
        // What nobody wrote to since the last merge is not run again, and this shall take its time.
        up.telos(&["send", "Slow count = Slow count + 1"]).ok();
        let dream = up.dreamt(change);
        let (report, is_in_time) = std::thread::scope(|scope| {
            let merging = scope.spawn(|| up.merged(&[options, &[&dream]].concat()).1);
            let mut first = None;
            wait_for("a candidate", || {
                first = judging(up, &dream);
                first.is_some() || merging.is_finished()
            });
            up.telos(&["send", live]).ok();
            let is_in_time = first.is_some() && judging(up, &dream) == first;
            (merging.join().expect("it is merged"), is_in_time)
        });
        assert_eq!(report["status"], "merged", "{report}");
        assert_eq!(report["verdict"]["tests"].as_array().map(Vec::len), Some(TESTS as usize), "{report}");
        if is_in_time {
            return report;
        }
        up.telos(&["send", "Slow count = (Slow count * 2) min(8000000)"]).ok();
    }
    panic!("it never took long enough");
}

fn counts(report: &Value) -> (u64, u64) {
    (report["candidates"].as_u64().expect("a number"), report["repeated"].as_u64().expect("a number"))
}

#[test]
fn a_write_outside_of_what_was_read_repeats_nothing() {
    let up = with_state();
    for live in [
        // A slot beside those that tests read, of the same object.
        "Account unread = Account unread + 1",
        "Account setSlot(\"fresh\" .. Account unread, Object clone); nil",
        // Values, lists and maps in the Lobby, beside the tests that are looked for there.
        "Lobby counted = counted + 1",
        "queue append(Account unread); nil",
        // The same value again, and another one that is taken back.
        "Account rate = Account rate",
        "Account rate = 5; Account rate = 1",
        "Account items append(3); Account items removeLast; nil",
    ] {
        let report = merged_while(&up, "Thing x = Thing x + 1", &[], live);
        assert_eq!(counts(&report), (1, 0), "{live}: {report}");
    }
}

/// In two transactions, so that each of them is a change.
#[test]
fn a_value_that_is_again_what_it_was_repeats_nothing() {
    let up = with_state();
    let both = ["Account rate = 5", "Account rate = 1"];
    let dream = up.dreamt("Thing x = Thing x + 1");
    let report = std::thread::scope(|scope| {
        let merging = scope.spawn(|| up.merged(&[&dream]).1);
        wait_for("a candidate", || judging(&up, &dream).is_some() || merging.is_finished());
        both.iter().for_each(|live| drop(up.telos(&["send", live]).ok()));
        merging.join().expect("it is merged")
    });
    // If it was over before both had come, the test of the rate may have been repeated once.
    let (candidates, repeated) = counts(&report);
    assert!(candidates == 1 + repeated && repeated <= 1, "{report}");
}

#[test]
fn a_write_inside_repeats_the_tests_that_read_it_and_nothing_else() {
    let up = with_state();
    for live in [
        "Account rate = Account rate + 1",
        // It was looked for in Account first, and not found.
        "Account limit := Base limit",
        "Account items append(1); nil",
        "Base clone; Account setProto(Base clone); nil",
    ] {
        let report = merged_while(&up, "Thing x = Thing x + 1", &[], live);
        let expected = if live.contains("setProto") { 4 } else { 1 };
        assert_eq!(counts(&report), (2, expected), "{live}: {report}");
    }
}

/// It fails, or passes again, in both, so that nothing speaks against the dream. What a check was told is not so any more: it is judged again as well.
#[test]
fn checks_are_repeated_if_a_test_comes_to_something_else() {
    let up = with_state();
    let report = merged_while(&up, "Thing x = Thing x + 1", &[], "Account flag = 3 - Account flag");
    assert_eq!(counts(&report), (2, 1 + CHECKS - 1), "{report}");
    let flag = report["verdict"]["tests"].as_array().and_then(|tests| tests.first()).expect("it is there").clone();
    let has_failed = flag["after"].as_str().is_some_and(|after| after.starts_with("failed"));
    assert_eq!(has_failed, up.live("Account flag") == "2", "as live has it by now: {flag}");
}

/// What the dream touches is told to the checks, and the Lobby is looked through for objects that are tests: both are looked at again. If
/// that makes no difference, nothing is repeated.
#[test]
fn a_write_that_makes_no_difference_to_what_is_judged_repeats_nothing() {
    let up = with_state();
    let live = "Account unread = Account unread + 1; Lobby setSlot(\"Fresh\" .. Account unread, Object clone); nil";
    for live in ["Thing x = Thing x + 10", live] {
        let report = merged_while(&up, "Thing x = Thing x + 1", &[], live);
        assert_eq!(counts(&report), (2, 0), "{live}: {report}");
    }
}

/// How long each test took: to the microsecond the same only where nobody ran it again.
fn times(report: &Value) -> Vec<u64> {
    let tests = report["verdict"]["tests"].as_array().expect("tests are told");
    tests.iter().map(|test| test["time_us"].as_u64().expect("a number")).collect()
}

fn test_of<'r>(report: &'r Value, name: &str) -> &'r Value {
    let tests = report["verdict"]["tests"].as_array().expect("tests are told");
    tests.iter().find(|test| test["name"] == name).expect("it is there")
}

#[test]
fn what_nobody_wrote_to_since_the_last_merge_is_not_run_again() {
    let up = with_state();
    let merged = |change: &str| up.merged(&[&up.dreamt(change)]).1;
    let first = merged("Thing x = 1");
    assert_eq!(times(&merged("Thing x = 2")), times(&first));
    // Somebody writes to what one of them reads, and by that to no other.
    up.telos(&["send", "Account flag = 2"]).ok();
    let third = merged("Thing x = 3");
    let both = |name: &str| [test_of(&first, name), test_of(&third, name)].map(|test| test["time_us"].as_u64());
    assert_eq!(third["status"], "merged", "it fails without the dream too: {third}");
    assert_eq!(test_of(&third, "FlagTest testFlag")["kind"], "failing", "{third}");
    let [then, now] = both("SlowTest testLong");
    assert_eq!(then, now, "{third}");
    // What a dream does to what is known is judged like anything else, and what it leaves behind.
    let fourth = merged("Account flag = 1");
    assert_eq!(test_of(&fourth, "FlagTest testFlag")["kind"], "newly_passing", "{fourth}");
    let fifth = merged("Thing x = 5");
    assert_eq!(test_of(&fifth, "FlagTest testFlag")["kind"], "passing", "{fifth}");
    let refused = merged("Account rate = 0");
    assert_eq!(
        (&refused["status"], &test_of(&refused, "RateTest testRate")["kind"]),
        (&"rejected".into(), &"newly_failing".into())
    );
    let last = merged("Thing x = 6");
    assert_eq!(test_of(&last, "RateTest testRate")["kind"], "passing", "{last}");
}

/// What would be merged now is not what was judged.
#[test]
fn another_plan_is_judged_from_the_beginning() {
    let up = with_state();
    let report = merged_while(&up, "Thing x = 7", &["--policy", "live-wins"], "Thing x = Thing x + 100");
    assert_eq!(counts(&report), (2, TESTS + CHECKS), "{report}");
    assert_ne!(up.live("Thing x"), "7");
}

/// Live got a stricter judge while a candidate was judged by the other. What that one had found counted all the same, since which
/// one judges is read by nobody who is recorded.
#[test]
fn a_verdict_does_not_outlive_its_judge() {
    let stricter = "Telos verification = Verification clone do(safetyRules append(Verification SafetyRule clone do(\
        name := \"never\"; reason := \"nothing is merged today\"; isBrokenBy := method(change, case, true)))); nil";
    for _ in 0..8 {
        let guarded = Guarded::start();
        let up = &guarded.up;
        up.telos(&["send", STATE]).ok();
        let dream = up.dreamt("Thing x = Thing x + 1");
        let (code, report, is_in_time) = std::thread::scope(|scope| {
            let merging = scope.spawn(|| up.merged(&[&dream]));
            let mut first = None;
            wait_for("a candidate", || {
                first = judging(up, &dream);
                first.is_some() || merging.is_finished()
            });
            guarded.allowed(&["send", stricter]).ok();
            let is_in_time = first.is_some() && judging(up, &dream) == first;
            let (code, report) = merging.join().expect("it is decided");
            (code, report, is_in_time)
        });
        if is_in_time {
            assert_eq!(code, Some(3), "{report}");
            assert!(report.to_string().contains("nothing is merged today"), "{report}");
            return;
        }
    }
    panic!("it never took long enough");
}

/// The last candidate, for which live stands still, had no line to the world outside, since the keeper was told of it only when all
/// was decided: a test that asks for something waited in vain, 21 times.
#[test]
fn the_candidate_that_live_stands_still_for_is_answered_too() {
    let up = with_state();
    let asking = "AskTest := UnitTest clone do(testAsk := method(try(System runCommand(\"true\")); assertTrue(Account rate > 0))); nil";
    up.telos(&["send", asking]).ok();
    let dream = up.dreamt("Thing x = 1");
    let is_over = AtomicBool::new(false);
    let mut client = up.client();
    let report = std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                client.send(&Request::evaluate("Account rate = Account rate + 1")).expect("it is up");
            }
        });
        wait_for("somebody writes", || up.live("Account rate") != "1");
        let report = up.merged(&[&dream]).1;
        is_over.store(true, Ordering::Relaxed);
        writer.join().expect("it wrote");
        report
    });
    assert_eq!(counts(&report).0, CANDIDATES_MAX, "{report}");
    assert_eq!(report["status"], "merged", "{report}");
}

/// Somebody writes to what a test reads, again and again, and never waits. After five candidates live stands still for one; nobody's
/// request fails meanwhile.
#[test]
fn live_that_never_stands_still_is_waited_for_only_so_long() {
    let up = with_state();
    let dream = up.dreamt("Thing x = 1");
    let is_over = AtomicBool::new(false);
    let mut clients = [up.client(), up.client()];
    let (report, written) = std::thread::scope(|scope| {
        let writers: Vec<_> = clients
            .iter_mut()
            .map(|client| {
                scope.spawn(|| {
                    let mut written = 0_u64;
                    while !is_over.load(Ordering::Relaxed) {
                        let answer =
                            client.send(&Request::evaluate("Account rate = Account rate + 1")).expect("it is up");
                        assert!(matches!(answer.outcome, Outcome::Value(_)), "{answer:?}");
                        written += 1;
                    }
                    written
                })
            })
            .collect();
        wait_for("somebody writes", || up.live("Account rate") != "1");
        let report = up.merged(&[&dream]).1;
        is_over.store(true, Ordering::Relaxed);
        let written: u64 = writers.into_iter().map(|writer| writer.join().expect("it wrote")).sum();
        (report, written)
    });
    assert_eq!(report["status"], "merged", "{report}");
    assert_eq!(counts(&report), (CANDIDATES_MAX, CANDIDATES_MAX - 1), "the test of the rate, each time: {report}");
    assert_eq!(up.live("Account rate"), (written + 1).to_string(), "no write is lost");
    assert_eq!(up.live("Thing x"), "1");
}
