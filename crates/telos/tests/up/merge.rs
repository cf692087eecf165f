//! From a dream to a part of live, through the command line: judged on a candidate, merged as one commit, with conflicts as data,
//! provenance and undo; and every scenario of the merge that a person can bring about by hand.

use crate::launch::up::{Up, wait_for};
use serde_json::Value;

const ACCOUNT: &str = "Account := Object clone do(balance := 10; rate := 1; tax := method(balance * 0.1))
AccountTest := UnitTest clone do(testTax := method(assertEquals(2, Account tax)))
nil";

/// An image with an account whose test fails.
fn with_account() -> Up {
    let up = Up::start(&[]);
    up.send(ACCOUNT).ok();
    up
}

/// The name of a dream that did this and is kept.
fn dreamt(up: &Up, source: &str) -> String {
    let ran = up.telos(&["dream", "run", "--keep", "--json", "-e", source]);
    let told: Value = serde_json::from_str(&ran.ok()).expect("it is JSON");
    told["dream"].as_str().expect("it has a name").to_string()
}

fn merged(up: &Up, arguments: &[&str]) -> (Option<i32>, Value) {
    let all: Vec<&str> = ["dream", "merge", "--json"].iter().chain(arguments).copied().collect();
    let ran = up.telos(&all);
    let told = serde_json::from_str(&ran.output).unwrap_or_else(|_| panic!("no report: {ran:?}"));
    (ran.code, told)
}

/// What an expression comes to in live.
fn live(up: &Up, expression: &str) -> String {
    up.send(expression).ok().trim_end().to_string()
}

#[test]
fn a_dream_that_mends_a_test_is_merged_while_live_changes_something_else() {
    let up = with_account();
    let dream = dreamt(&up, "Account tax = method(balance * 0.2)");
    up.send("Account rate = 7").ok();
    let (code, report) = merged(&up, &[&dream]);
    assert_eq!((code, report["status"].as_str()), (Some(0), Some("merged")), "{report}");
    assert_eq!(live(&up, "list(Account tax, Account rate)"), "list(2, 7)");
    assert_eq!(report["verdict"]["tests"][0]["after"], "passed");
    let (code, again) = merged(&up, &[&dream]);
    assert_eq!((code, again["status"].as_str()), (Some(0), Some("known")), "the same journal twice is a no-op");
    assert_eq!((&again["commit"], &again["verdict"]["is_accepted"]), (&report["commit"], &Value::Bool(true)));
}

/// Tests that take a while together, and little each.
const SLOW: &str =
    "SlowTest := UnitTest clone; 50 repeat(i, SlowTest setSlot(\"test\" .. i, method(5000000 repeat(nil)))); nil";

/// It was merged a moment after it had said that it was not.
#[test]
fn what_is_cut_off_before_its_verdict_is_not_merged() {
    let up = with_account();
    up.send(SLOW).ok();
    let dream = dreamt(&up, "Account rate = 5");
    let ran = up.telos(&["dream", "merge", "--timeout", "300ms", &dream]);
    assert_eq!(ran.code, Some(124), "{ran:?}");
    assert!(ran.errors.contains("timed out after 0.3 s; nothing was merged; --timeout TIME allows more"), "{ran:?}");
    let told = up.telos(&["dream", "verify", "--json", "--timeout", "300ms", &dream]);
    let error: Value = serde_json::from_str(&told.output).unwrap_or_else(|_| panic!("no JSON: {told:?}"));
    assert_eq!((told.code, &error["error"]["code"]), (Some(124), &Value::from(124)), "{told:?}");
    let ran = up.telos(&["dream", "run", "--merge", "--timeout", "300ms", "-e", "Account rate = 6"]);
    assert!(ran.code == Some(124) && ran.errors.contains("is not merged: timed out"), "{ran:?}");
    wait_for("whoever judged is gone", || !up.telos(&["dream", "list"]).ok().contains("judge "));
    assert_eq!(live(&up, "list(Account rate, Telos merges size, Telos rejections size)"), "list(1, 0, 0)");
    up.send("Lobby removeSlot(\"SlowTest\"); nil").ok();
    assert_eq!(merged(&up, &[&dream]).0, Some(0), "it can be merged all the same");
}

#[test]
fn fuel_and_memory_of_a_merge_are_those_of_each_test_and_check() {
    let up = with_account();
    let dream = dreamt(&up, "Account rate = 5");
    for (option, words) in [(["--fuel", "2000"], "2000 units of fuel"), (["--memory", "1K"], "1024 bytes of memory")] {
        let ran = up.telos(&[&["dream", "verify"][..], &option, &[&dream]].concat());
        assert!(ran.code == Some(3) && ran.output.contains(words), "{ran:?}");
    }
    let ran = up.telos(&["dream", "run", "--merge", "--fuel", "2000", "-e", "Account rate = 6"]);
    assert_eq!(ran.code, Some(0), "there it is for the script: {ran:?}");
    assert_eq!(merged(&up, &["--fuel", "1e8", "--memory", "1G", &dream]).0, Some(0));
}

#[test]
fn what_would_change_the_outbox_is_a_rejection_like_any_other() {
    let up = with_account();
    let ran = up.telos(&["dream", "run", "--merge", "--mandate", "send it", "-e", "Telos outbox append(1); nil"]);
    assert!(ran.code == Some(3) && ran.output.contains("Telos outbox"), "{ran:?}");
    let rejections = up.telos(&["rejections"]).ok();
    assert!(rejections.contains("send it") && rejections.contains("Telos outbox"), "{rejections}");
    let dream = dreamt(&up, "Telos outbox append(1); nil");
    assert_eq!(up.telos(&["dream", "verify", &dream]).code, Some(3));
    assert_eq!(live(&up, "list(Telos outbox size, Telos rejections size)"), "list(0, 1)");
}

#[test]
fn what_breaks_a_test_is_rejected_with_the_reason_and_kept() {
    let up = with_account();
    up.send("Account tax = method(balance * 0.2)").ok();
    let ran =
        up.telos(&["dream", "run", "--merge", "--mandate", "a third", "-e", "Account tax = method(balance * 0.3)"]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(ran.output.contains("AccountTest testTax: fails, and did not before"), "{}", ran.output);
    assert_eq!(live(&up, "Account tax"), "2");
    let rejections = up.telos(&["rejections"]).ok();
    assert!(rejections.contains("a third") && rejections.contains("AccountTest testTax"), "{rejections}");
    let told: Value = serde_json::from_str(&up.telos(&["rejections", "--json"]).ok()).expect("it is JSON");
    let dream = told[0]["dream"].as_str().expect("it has a name");
    assert!(up.telos(&["dream", "show", dream]).ok().contains("until it is discarded"));
    assert_eq!(live(&up, "Telos rejections first mandate"), "a third");
}

#[test]
fn verifying_merges_nothing() {
    let up = with_account();
    let dream = dreamt(&up, "Account tax = method(balance * 0.2)");
    assert_eq!(up.telos(&["dream", "verify", &dream]).code, Some(0));
    assert_eq!(live(&up, "Account tax"), "1");
    let broken = dreamt(&up, "AccountTest removeSlot(\"testTax\")");
    let ran = up.telos(&["dream", "verify", &broken]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert_eq!(live(&up, "Telos rejections size"), "0", "nobody wanted it merged");
}

#[test]
fn a_conflict_is_kept_as_data_and_decided_by_somebody() {
    let up = with_account();
    let dream = dreamt(&up, "Account rate = 5");
    up.send("Account rate = 3").ok();
    let (code, report) = merged(&up, &["--policy", "keep-both", &dream]);
    assert_eq!((code, &report["open_conflicts"]), (Some(4), &Value::from(1)), "{report}");
    assert_eq!(live(&up, "Account rate"), "3", "what was written later is shown");
    assert_eq!(live(&up, "Telos conflicts first siblings map(value)"), "list(3, 5)");
    let shown: Value = serde_json::from_str(&up.telos(&["conflicts", "--json"]).ok()).expect("it is JSON");
    assert_eq!((&shown[0]["object_name"], &shown[0]["base"]), (&"Account".into(), &"1".into()), "{shown}");
    up.send("Account rate = 4").ok();
    assert!(up.telos(&["conflicts"]).ok().contains("open"), "a later write closes nothing");
    let refused = up.telos(&["conflicts", "resolve", "1", "--side", "1"]);
    assert!(refused.code == Some(1) && refused.errors.contains("holds 4 now"), "{refused:?}");
    assert_eq!(live(&up, "Account rate"), "4", "nothing is lost unasked");
    let forced = up.telos(&["conflicts", "resolve", "1", "--side", "1", "--force"]);
    assert_eq!(forced.ok(), "conflict 1 is resolved\n");
    assert_eq!(live(&up, "Account rate"), "5");
    assert_eq!(up.telos(&["conflicts"]).ok(), "");
    assert_eq!(up.telos(&["conflicts", "resolve", "1", "--keep"]).code, Some(1), "it is decided already");
}

#[test]
fn a_slot_says_where_it_comes_from_and_one_merge_can_be_taken_back() {
    let up = with_account();
    let dream = dreamt(&up, "Account tax = method(balance * 0.2); Account extra := 1");
    assert_eq!(merged(&up, &[&dream]).0, Some(0));
    up.send("Account extra = 2").ok();
    let why = up.telos(&["why", "Account.tax"]).ok();
    assert!(why.contains(&format!("merge {dream}")) && why.contains("regression"), "{why}");
    let history: Value = serde_json::from_str(&up.telos(&["history", "--json", "Account.extra"]).ok()).expect("JSON");
    assert_eq!(history["writings"].as_array().map(Vec::len), Some(2), "{history}");
    assert_eq!(history["writings"][1]["merge"]["dream"], dream.as_str());
    let undone = up.telos(&["undo", &dream]);
    assert!(undone.code == Some(4) && undone.output.contains("left alone"), "what was written since stays: {undone:?}");
    assert_eq!(live(&up, "list(Account tax, Account extra)"), "list(1, 2)");
    assert_eq!(up.telos(&["undo", "3"]).code, Some(1), "commit 3 is no merge");
}

#[test]
fn policies_say_who_wins() {
    for (policy, expected) in [("fork-wins", "5"), ("live-wins", "3"), ("last-writer-wins", "3"), ("keep-both", "3")] {
        let up = with_account();
        let dream = dreamt(&up, "Account rate = 5");
        up.send("Account rate = 3").ok();
        merged(&up, &["--policy", policy, &dream]);
        assert_eq!(live(&up, "Account rate"), expected, "{policy}");
    }
}

#[test]
fn only_what_is_asked_for_is_merged() {
    let up = with_account();
    let dream = dreamt(&up, "Account rate = 5; Account balance = 99");
    let (code, report) = merged(&up, &["--only", "Account rate", &dream]);
    assert_eq!(code, Some(0), "{report}");
    assert_eq!(live(&up, "list(Account rate, Account balance)"), "list(5, 10)");
    assert_eq!(report["left_out"], 1);
}

/// "d65 was merged before; nothing was done", with code 0: nothing of it was, and whoever had mistyped a name went on.
#[test]
fn what_only_names_and_the_dream_did_not_change_is_an_error() {
    let up = with_account();
    let dream = dreamt(&up, "Account rate = 5; Account balance = 99");
    for only in [&["nonsense"][..], &["Account nonsense"], &["Account rate", "Account tax"]] {
        let options = only.iter().flat_map(|name| ["--only", *name]);
        let all: Vec<&str> = ["dream", "merge"].into_iter().chain(options).chain([dream.as_str()]).collect();
        let ran = up.telos(&all);
        assert!(ran.code == Some(1) && ran.output.is_empty(), "{ran:?}");
        let strange = format!("did not change \"{}\";", only[only.len() - 1]);
        assert!(ran.errors.contains(&strange), "{strange}: {ran:?}");
    }
    assert_eq!(live(&up, "list(Account rate, Account balance)"), "list(1, 10)");
    let (code, report) = merged(&up, &[&dream]);
    assert_eq!((code, report["status"].as_str()), (Some(0), Some("merged")), "{report}");
}

#[test]
fn a_dream_that_changed_nothing_is_not_told_as_merged() {
    let up = with_account();
    let dream = dreamt(&up, "Account rate");
    let (code, report) = merged(&up, &[&dream]);
    assert_eq!((code, report["status"].as_str()), (Some(0), Some("unchanged")), "{report}");
    assert_eq!(report["commit"], Value::Null);
    let ran = up.telos(&["dream", "merge", &dream]);
    assert!(ran.output.contains("changed nothing; nothing was merged"), "{ran:?}");
}

#[test]
fn methods_that_both_sides_changed_become_one() {
    let up = Up::start(&[]);
    up.send("Shop := Object clone do(log := method(x, nil); open := method(log(1); log(2)))").ok();
    let dream = dreamt(&up, "Shop open = method(log(1); log(20))");
    up.send("Shop open = method(log(10); log(2))").ok();
    assert_eq!(merged(&up, &[&dream]).0, Some(0));
    let source = live(&up, "Shop getSlot(\"open\") code");
    assert!(source.contains("10") && source.contains("20"), "{source}");
}

#[test]
fn lists_maps_and_new_objects_are_merged_by_their_parts() {
    let up = Up::start(&[]);
    up.send("Shelf := Object clone do(books := list(\"a\", \"b\"); prices := Map clone); nil").ok();
    let dream = dreamt(
        &up,
        "Shelf books append(\"c\"); Shelf prices atPut(\"c\", 3); Shelf owner := Object clone do(name := \"Ada\"); nil",
    );
    up.send("Shelf books prepend(\"z\"); Shelf prices atPut(\"z\", 1); nil").ok();
    assert_eq!(merged(&up, &[&dream]).0, Some(0));
    assert_eq!(live(&up, "Shelf books"), "list(\"z\", \"a\", \"b\", \"c\")");
    assert_eq!(live(&up, "Shelf prices keys sort"), "list(\"c\", \"z\")");
    assert_eq!(live(&up, "Shelf owner name"), "Ada");
}

#[test]
fn the_image_does_the_whole_cycle_by_itself() {
    let up = with_account();
    up.send("attempt := Telos mergeEvolution(\"a fifth\", block(Account tax = method(balance * 0.2))); nil").ok();
    wait_for("the merge", || live(&up, "Account tax") == "2");
    assert_eq!(live(&up, "Telos merges last mandate"), "a fifth");
    up.send("Telos mergeEvolution(\"nonsense\", block(Account tax = method(nil))); nil").ok();
    wait_for("the rejection", || live(&up, "Telos rejections size") == "1");
    assert_eq!(live(&up, "Account tax"), "2");
}

/// A misspelt key, an unknown policy and tests that are none were left out, and nobody was told.
#[test]
fn what_the_image_asks_for_wrongly_is_an_exception() {
    let up = with_account();
    for (options, words) in [
        ("Map with(\"polcy\", \"live-wins\", \"block\", block(1))", "no option \"polcy\": take block, timeout, fuel"),
        ("Map with(\"policy\", \"mine\", \"block\", block(1))", "no policy \"mine\": take one of"),
        ("Map with(\"tests\", \"AccountTest testTax\", \"block\", block(1))", "\"tests\" is a list of names"),
        ("Map with(\"tests\", list(\"testTax\"), \"block\", block(1))", "\"tests\" is a list of names"),
        ("Map with(\"timeout\", 0, \"block\", block(1))", "\"timeout\" is a number of seconds above 0"),
        ("Map with(\"fuel\", \"much\", \"block\", block(1))", "Number"),
        ("Map with(\"memory\", -1, \"block\", block(1))", "\"memory\" is a number above 0"),
        ("Map with(\"policy\", \"live-wins\")", "needs a block"),
        ("7", "needs a block"),
    ] {
        let ran = up.send(&format!("Telos mergeEvolution(\"m\", {options})"));
        assert!(ran.code == Some(1) && ran.errors.contains(words), "{options}: {ran:?}");
    }
    let ran = up.send("Telos dream(\"m\", Map with(\"policy\", \"live-wins\", \"block\", block(1)))");
    assert!(ran.code == Some(1) && ran.errors.contains("no option \"policy\""), "{ran:?}");
}

#[test]
fn what_the_image_asks_for_has_the_bounds_that_it_gives() {
    let up = with_account();
    for (bound, words) in [("\"fuel\", 100000", "fuel"), ("\"memory\", 1000", "memory"), ("\"timeout\", 1", "time")] {
        up.send(&format!("Lobby d := Telos dream(\"m\", Map with({bound}, \"block\", block(loop(nil)))); nil")).ok();
        wait_for("its end", || live(&up, "d isOver") == "true");
        let page = live(&up, "d status .. \" \" .. d log .. d page at(\"reason\")");
        assert!(page.contains(words), "{bound}: {page}");
    }
    up.send(SLOW).ok();
    let options = "Map with(\"timeout\", 0.3, \"block\", block(Account rate = 9))";
    up.send(&format!("Telos mergeEvolution(\"late\", {options}); nil")).ok();
    wait_for("the rejection", || live(&up, "Telos rejections size") == "1");
    assert_eq!(live(&up, "Account rate"), "1");
}

#[test]
fn merges_survive_a_restart_and_the_same_journal_is_still_known() {
    let mut up = with_account();
    let dream = dreamt(&up, "Account tax = method(balance * 0.2)");
    assert_eq!(merged(&up, &[&dream]).0, Some(0));
    up.stop();
    up.start_again(&[]);
    assert_eq!(live(&up, "Account tax"), "2");
    assert_eq!(merged(&up, &[&dream]).1["status"], "known");
}

/// A dream that was forked inside of another cannot be merged without that one.
#[test]
fn a_dream_inside_of_a_rejected_one_cannot_be_merged() {
    let up = with_account();
    let outer = dreamt(&up, "Account rate = 5");
    let ran = up.telos(&["dream", "run", "--keep", "--json", "--within", &outer, "-e", "Account balance = 6"]);
    let told: Value = serde_json::from_str(&ran.ok()).expect("it is JSON");
    let inner = told["dream"].as_str().expect("it has a name");
    let refused = up.telos(&["dream", "merge", inner]);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.errors.contains("which is not merged"), "{}", refused.errors);
    assert_eq!(merged(&up, &[&outer]).0, Some(0));
    assert_eq!(merged(&up, &[inner]).0, Some(0));
    assert_eq!(live(&up, "list(Account rate, Account balance)"), "list(5, 6)");
}

/// Whoever waits leaves its stack in the coroutine that the image was born with: such tests failed with and without any dream, "it
/// writes to object 1.1b, which is protected", and so protected nothing.
#[test]
fn a_test_that_waits_is_judged_as_it_runs_in_live() {
    let up = Up::start(&[]);
    up.send(
        "Worker := Object clone do(n := 2; double := method(n * 2); note := method(self seen := double))
        WorkerTest := UnitTest clone do(
            testWait := method(wait(0.01); assertEquals(4, Worker double))
            testFuture := method(future := Worker @double; assertEquals(4, future + 0))
            testAsynchronous := method(Worker @@note; wait(0.01); assertEquals(4, Worker seen))
            testYield := method(coroDo(yield; Worker n := 3); yield; assertEquals(6, Worker double))
        )
        nil",
    )
    .ok();
    let (code, report) = merged(&up, &[&dreamt(&up, "Worker double = method(2 * n)")]);
    assert_eq!(code, Some(0), "{report}");
    let tests = report["verdict"]["tests"].as_array().expect("there are tests");
    assert!(tests.len() == 4 && tests.iter().all(|test| test["after"] == "passed"), "{report}");
    let (code, report) = merged(&up, &[&dreamt(&up, "Worker double = method(7)")]);
    assert_eq!(code, Some(3), "{report}");
    for test in ["testWait", "testFuture", "testAsynchronous", "testYield"] {
        assert!(report["verdict"].to_string().contains(&format!("WorkerTest {test}: fails")), "{test}: {report}");
    }
    assert_eq!(live(&up, "Worker double"), "4");
}

/// The slot was left alone when the first was taken back, for the second had written there; and taking back the second brought
/// the first one's value.
#[test]
fn what_comes_back_is_what_would_be_there_without_all_that_was_taken_back() {
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let up = with_account();
        up.send("Account log := list(\"live\"); nil").ok();
        let dreams: Vec<String> = (0..3)
            .map(|number| {
                let dream = dreamt(&up, &format!("Account rate = 2{number}; Account log append(\"d{number}\"); nil"));
                assert_eq!(merged(&up, &[&dream]).0, Some(0));
                dream
            })
            .collect();
        assert_eq!(live(&up, "list(Account rate, Account log)"), "list(22, list(\"live\", \"d0\", \"d1\", \"d2\"))");
        for at in order {
            taken_back(&up, &[&dreams[at]]);
        }
        assert_eq!(live(&up, "list(Account rate, Account log)"), "list(1, list(\"live\"))", "{order:?}");
        assert_eq!(up.telos(&["undo", &dreams[0]]).code, Some(1), "it was taken back");
    }
}

/// What live wrote in between is what was there.
#[test]
fn what_live_wrote_between_two_merges_comes_back_when_both_are_taken_back() {
    let up = with_account();
    let merge = |value: &str| {
        let dream = dreamt(&up, &format!("Account rate = {value}"));
        assert_eq!(merged(&up, &[&dream]).0, Some(0));
        dream
    };
    let first = merge("20");
    up.send("Account rate = 5").ok();
    let second = merge("30");
    assert!(taken_back(&up, &[&first]).contains("left alone"));
    taken_back(&up, &[&second]);
    assert_eq!(live(&up, "Account rate"), "5");
}

/// "d65 was merged before; nothing was done", for good: neither was the rest, nor did anybody say what could be done.
#[test]
fn the_rest_of_a_dream_is_merged_after_a_part_of_it() {
    let up = with_account();
    let source = "Account rate = 5; Account balance = 10.5; Account owner := Object clone do(name := \"Ada\"); \
                  Account friend := Account owner clone; Account log := list(Account owner, 1); nil";
    let dream = dreamt(&up, source);
    let (code, report) = merged(&up, &["--only", "Account rate", "--only", "Account owner", &dream]);
    assert_eq!((code, report["left_out"].as_u64()), (Some(0), Some(3)), "{report}");
    assert_eq!(live(&up, "list(Account rate, Account balance, Account owner name)"), "list(5, 10, \"Ada\")");
    assert_eq!(merged(&up, &["--only", "Account rate", &dream]).1["status"], "known");
    up.send("Account rate = 6; Account owner name = \"Eve\"").ok();
    let (code, report) = merged(&up, &["--only", "Account balance", &dream]);
    assert_eq!((code, report["status"].as_str()), (Some(0), Some("merged")), "{report}");
    assert_eq!(
        live(&up, "list(Account rate, Account balance)"),
        "list(6, 10.5)",
        "what was merged is not merged again"
    );
    let (code, report) = merged(&up, &[&dream]);
    assert_eq!((code, report["status"].as_str()), (Some(0), Some("merged")), "{report}");
    let of_rest = "list(Account rate, Account friend name, Account log first isIdenticalTo(Account owner))";
    assert_eq!(live(&up, of_rest), "list(6, \"Eve\", true)", "new objects are the same ones");
    assert_eq!(merged(&up, &[&dream]).1["status"], "known", "nothing is left");
    let commits = live(&up, "Telos merges map(dream) unique");
    assert_eq!(commits, format!("list(\"{dream}\")"), "all are of one dream");
    let first = report["commit"].as_u64().expect("a commit");
    for _ in 0..3 {
        taken_back(&up, &[&dream]);
    }
    assert_eq!(live(&up, "list(Account rate, Account balance, Account hasSlot(\"log\"))"), "list(6, 10, false)");
    let ran = up.telos(&["dream", "merge", &dream]);
    assert!(ran.code == Some(1) && ran.errors.contains("telos revert"), "{first}: {ran:?}");
}

#[test]
fn a_merge_that_was_taken_back_says_how_it_is_done_again() {
    let up = with_account();
    let dream = dreamt(&up, "Account tax = method(balance * 0.2); Account rate = 5");
    assert_eq!(merged(&up, &[&dream]).0, Some(0));
    let told: Value = serde_json::from_str(&taken_back(&up, &["--json", &dream])).expect("it is JSON");
    let undo = told["commit"].as_u64().expect("it is a commit").to_string();
    assert_eq!(live(&up, "list(Account tax, Account rate)"), "list(1, 1)");
    let ran = up.telos(&["dream", "merge", &dream]);
    let said = format!("was taken back by commit {undo}: `telos revert {undo}` does it again");
    assert!(ran.code == Some(1) && ran.errors.contains(&said), "{ran:?}");
    up.telos(&["revert", &undo]).ok();
    assert_eq!(live(&up, "list(Account tax, Account rate)"), "list(2, 5)");
    assert_eq!(merged(&up, &[&dream]).1["status"], "known");
    up.telos(&["undo", &dream]).ok();
    assert_eq!(live(&up, "list(Account tax, Account rate)"), "list(1, 1)");
}

/// What `undo` says, whether or not somebody wrote over some of it since.
fn taken_back(up: &Up, arguments: &[&str]) -> String {
    let ran = up.telos(&[&["undo"], arguments].concat());
    assert!(matches!(ran.code, Some(0 | 4)), "{ran:?}");
    ran.output
}
