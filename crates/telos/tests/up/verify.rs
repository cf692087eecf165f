//! What a verdict rests on, and what stays of it: the archive of methods, tests that a mandate asks for, verdicts and rejections as
//! objects that no dream forges, rejections that are listed, shown and judged again; all through the command line.

use crate::launch::Ran;
use crate::launch::up::{Up, wait_for};
use serde_json::{Value, json};

const ACCOUNT: &str = "Account := Object clone do(balance := 10; rate := 1; tax := method(balance * 0.1))
Shop := Object clone do(balance := 10; fee := method(balance * 0.1))
AccountTest := UnitTest clone do(testBalance := method(assertEquals(10, Account balance)))
nil";

fn with_account() -> Up {
    let up = Up::start(&[]);
    up.send(ACCOUNT).ok();
    up
}

fn json_of(ran: &Ran) -> Value {
    serde_json::from_str(&ran.output).unwrap_or_else(|_| panic!("no JSON: {ran:?}"))
}

/// The name of a dream that did this and is kept.
fn dreamt(up: &Up, source: &str) -> String {
    let ran = up.telos(&["dream", "run", "--keep", "--json", "--mandate", "a try", "-e", source]);
    json_of(&ran)["dream"].as_str().unwrap_or_else(|| panic!("{ran:?}")).to_string()
}

/// Judges a dream, or merges it; the exit code, and the report.
fn judged(up: &Up, verb: &str, arguments: &[&str]) -> (Option<i32>, Value) {
    let ran = up.telos(&[&["dream", verb, "--json"], arguments].concat());
    (ran.code, json_of(&ran))
}

fn live(up: &Up, expression: &str) -> String {
    up.send(expression).ok().trim_end().to_string()
}

#[test]
fn a_method_that_was_merged_before_is_not_novel() {
    let mut up = with_account();
    let same = dreamt(&up, "Shop fee = method(rest := 1; balance * 0.2 + rest)");
    let other = dreamt(&up, "Shop fee = method(rate max(3))");
    assert_eq!(judged(&up, "verify", &[&same]).0, Some(0), "nothing is archived yet");
    let merged = dreamt(&up, "Account tax = method(rest := 1; balance * 0.2 + rest)");
    assert_eq!(judged(&up, "merge", &[&merged]).0, Some(0));
    assert_eq!(live(&up, "Telos archive size"), "1");
    let (code, report) = judged(&up, "verify", &[&same]);
    assert_eq!(code, Some(3), "{report}");
    let purpose = report["verdict"]["checks"].as_array().unwrap().iter().find(|check| check["name"] == "purpose");
    let reason = purpose.unwrap()["reasons"][0].as_str().unwrap().to_string();
    assert!(reason.contains("falls without a gain") && reason.contains("→ 0.000"), "{reason}");
    assert_eq!(judged(&up, "verify", &[&other]).0, Some(0), "what is new is accepted as before");
    up.stop();
    up.start_again(&[]);
    assert_eq!(judged(&up, "verify", &[&same]).0, Some(3), "and after a restart");
    // A merge that is taken back was one all the same.
    up.telos(&["undo", &merged]).ok();
    assert_eq!(judged(&up, "verify", &[&same]).0, Some(3));
}

#[test]
fn a_method_that_was_rejected_before_is_not_novel() {
    let up = with_account();
    let same = dreamt(&up, "Shop fee = method(balance * 0.7)");
    assert_eq!(judged(&up, "verify", &[&same]).0, Some(0));
    let broken = dreamt(&up, "Account tax = method(balance * 0.7); Account balance = 11");
    assert_eq!(judged(&up, "merge", &[&broken]).0, Some(3));
    assert_eq!(live(&up, "Telos archive"), "list(\"method(balance * 0.7)\")");
    assert_eq!(judged(&up, "verify", &[&same]).0, Some(3));
    // One that the rules of safety refuse is archived too, though it was never laid on.
    let unsafe_one = dreamt(&up, "Object evil := 1; Shop fee = method(balance * 0.8)");
    assert_eq!(judged(&up, "merge", &[&unsafe_one]).0, Some(3));
    assert_eq!(live(&up, "Telos archive last"), "method(balance * 0.8)");
    // Trying costs nothing.
    let tried = dreamt(&up, "Shop fee = method(nil); Account balance = 11");
    assert_eq!(judged(&up, "verify", &[&tried]).0, Some(3));
    assert_eq!(live(&up, "Telos archive size"), "2");
}

/// Of the metric only structure and relevance count here, so that what removes references falls.
const WEIGHED: &str = "Verification weights atPut(\"cog\", 0) atPut(\"sol\", 0); \
    Account do(a := Object clone; b := Object clone; c := Object clone; d := Object clone); nil";
const REDUCE: &str = "Account removeSlot(\"a\"); Account removeSlot(\"b\"); Account removeSlot(\"c\"); \
    Account removeSlot(\"d\"); AccountTest testFresh := method(assertEquals(1, Account rate)); nil";

#[test]
fn a_test_that_the_mandate_asks_for_is_a_gain_in_relevance() {
    let up = with_account();
    up.allowed(WEIGHED).ok();
    let dream = dreamt(&up, REDUCE);
    let (code, report) = judged(&up, "verify", &[&dream]);
    assert_eq!(code, Some(3), "a test that it brought of itself does not count: {report}");
    let (code, report) = judged(&up, "verify", &["--test", "AccountTest testFresh", &dream]);
    assert_eq!(code, Some(0), "{report}");
    let tests = report["verdict"]["tests"].as_array().unwrap();
    let fresh = tests.iter().find(|test| test["name"] == "AccountTest testFresh").unwrap();
    assert_eq!((&fresh["kind"], &fresh["is_asked_for"]), (&json!("newly_passing"), &json!(true)));
    let ran = up.telos(&["dream", "verify", "--test", "AccountTest testNone", &dream]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(ran.output.contains("missing        AccountTest testNone  (the mandate asks for it)"), "{}", ran.output);
    let (code, report) = judged(&up, "merge", &["--test", "AccountTest testFresh", &dream]);
    assert_eq!((code, &report["status"]), (Some(0), &json!("merged")));
    assert_eq!(live(&up, "Telos merges last verdict tests detect(name endsWithSeq(\"Fresh\")) isAskedFor"), "true");
}

#[test]
fn who_orders_a_dream_says_which_tests_it_is_for() {
    let up = with_account();
    up.allowed(WEIGHED).ok();
    let ran = up.telos(&["dream", "run", "--merge", "--mandate", "tidy", "-e", REDUCE]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    let ran =
        up.telos(&["dream", "run", "--merge", "--test", "AccountTest testFresh", "--mandate", "tidy", "-e", REDUCE]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let up = with_account();
    up.allowed(WEIGHED).ok();
    let cycle = |tests: &str| {
        let options = format!("Map with(\"block\", block({REDUCE}){tests})");
        up.send(&format!("Telos mergeEvolution(\"tidy\", {options}); nil")).ok();
    };
    cycle("");
    wait_for("the rejection", || live(&up, "Telos rejections size") == "1");
    cycle(", \"tests\", list(\"AccountTest testFresh\")");
    wait_for("the merge", || live(&up, "Telos merges size") == "1");
}

#[test]
fn a_verdict_is_an_object_of_the_merge_that_rests_on_it() {
    let up = with_account();
    let dream = dreamt(&up, "Account tax = method(balance * 0.2 + rate)");
    let (_, report) = judged(&up, "merge", &[&dream]);
    let told = |path: &str| live(&up, &format!("Telos merges last verdict {path}"));
    assert_eq!(told("isKindOf(Verification Verdict)"), "true");
    assert_eq!(told("isAccepted"), "true");
    assert_eq!(told("results map(check) join(\" \")"), "purity purpose regression safety");
    assert_eq!(told("results map(outcome) unique"), "list(\"passed\")");
    assert_eq!(told("tests map(kind)"), "list(\"passing\")");
    assert_eq!(told("testCount") + &told("passCount"), "11");
    let read = told("tests first reads join(\" \")");
    assert!(read.contains("AccountTest") && read.contains("Account"), "{read}");
    let counted =
        "Telos merges last verdict results select(each, each timeMs > 0 and(each readCount >= each reads size)) size";
    assert_eq!(live(&up, counted), "4");
    assert!(report["verdict"]["tests"][0]["rests_on"].as_array().unwrap().len() > 1, "{report}");
    // One commit for all of it.
    assert_eq!(live(&up, "Telos merges last dream"), dream);
    let why = json_of(&up.telos(&["why", "--json", "Account.tax"]));
    assert_eq!(why["merge"]["verdict"]["is_accepted"], true, "{why}");
    assert_eq!(why["merge"]["verdict"]["tests"][0]["name"], "AccountTest testBalance");
    let why = up.telos(&["why", "Account.tax"]).ok();
    assert!(why.contains("regression   passed") && why.contains("1 of 1 tests pass"), "{why}");
}

#[test]
fn no_dream_changes_what_was_written_down() {
    let up = with_account();
    assert_eq!(
        judged(&up, "merge", &[&dreamt(&up, "Account rate = 2; Account tax = method(balance * rate)")]).0,
        Some(0)
    );
    assert_eq!(judged(&up, "merge", &[&dreamt(&up, "Account balance = 11")]).0, Some(3));
    let state = "list(Telos merges last verdict isAccepted, Telos merges last verdict results size, \
        Telos rejections last verdict isAccepted, Telos rejections last reasons size, Telos archive size > 0, Telos merges size)";
    let before = live(&up, state);
    assert_eq!(before, "list(true, 4, false, 2, true, 1)");
    for source in [
        "Telos merges last verdict = nil",
        "Telos merges last status = \"undone\"",
        "Telos merges last verdict isAccepted := false",
        "Telos merges last verdict results empty; 1",
        "Telos merges last verdict results first outcome = \"failed\"",
        "Telos merges last verdict results first reasons append(\"because\"); 1",
        "Telos merges last verdict tests first kind = \"flaky\"",
        "Telos merges empty; 1",
        "Telos merges append(Telos merges last clone); 1",
        "Telos merges = list()",
        "Telos rejections last verdict = Telos merges last verdict",
        "Telos rejections last reasons empty; 1",
        "Telos rejections empty; 1",
        "Telos archive empty; 1",
        "Telos archive append(\"method(1)\"); 1",
        "Telos archive = list()",
        "Telos noteRejection = method(nil)",
        "Telos rejectionsOf = method(object, list())",
        "Verification Verdict isAccepted = method(true)",
        "Telos merges last verdict results setProto(List); 1",
        "Lobby Telos := Telos clone do(verification := Verification clone do(checks := list()))",
        "Telos appendProto(Object clone do(archive := list())); 1",
        "Lobby prependProto(Object clone do(UnitTest := Object clone)); 1",
    ] {
        let ran = up.telos(&["dream", "run", "--merge", "-e", source]);
        assert!(ran.code == Some(3) && ran.output.contains("protected"), "{source}: {ran:?}");
        up.send("Telos rejections removeLast; nil").ok();
        assert_eq!(live(&up, state), before, "{source}");
    }
}

#[test]
fn a_rejection_is_listed_shown_judged_again_and_gone_on_with() {
    let mut up = with_account();
    let dream = dreamt(&up, "Account balance = 11");
    assert_eq!(judged(&up, "merge", &[&dream]).0, Some(3));
    up.stop();
    up.start_again(&[]);
    let told = json_of(&up.telos(&["rejections", "--json"]));
    assert_eq!((&told[0]["dream"], &told[0]["objects"]), (&json!(dream), &json!(["Account"])), "{told}");
    assert_eq!(told[0]["verdict"]["isAccepted"], false);
    assert_eq!(live(&up, "Telos rejections last verdict results detect(check == \"regression\") outcome"), "failed");
    assert!(up.telos(&["dream", "show", &dream]).ok().contains("balance"));
    let again = up.telos(&["dream", "verify", &dream]);
    assert!(again.code == Some(3) && again.output.contains("newly failing  AccountTest testBalance"), "{again:?}");
    // Live has changed its mind: the same journal is good now.
    up.send("AccountTest testBalance = method(assertEquals(11, Account balance))").ok();
    assert_eq!(up.telos(&["dream", "verify", &dream]).code, Some(0));
    // Or somebody goes on with it, and mends what it lacks.
    up.telos(&["dream", "resume", &dream]).ok();
    up.telos(&["dream", "eval", &dream, "Account rate = 3"]).ok();
    assert_eq!(up.telos(&["dream", "merge", &dream]).code, Some(1), "it is going on");
}

#[test]
fn who_comes_later_is_shown_what_was_refused_of_the_same_objects() {
    let up = with_account();
    let dream = dreamt(&up, "Account balance = 11");
    assert_eq!(judged(&up, "merge", &[&dream]).0, Some(3));
    assert_eq!(
        live(&up, "list(Telos rejectionsOf(Account) map(dream), Telos rejectionsOf(Shop) size)"),
        format!("list(list(\"{dream}\"), 0)")
    );
    assert_eq!(json_of(&up.telos(&["rejections", "--of", "Account", "--json"]))[0]["dream"], json!(dream));
    assert_eq!(up.telos(&["rejections", "--of", "Shop"]).ok(), "");
    // A script in a dream.
    let ran = up.telos(&["dream", "run", "-e", "Telos rejectionsOf(Account) first reasons join(\"; \")"]);
    assert!(ran.output.contains("AccountTest testBalance: fails, and did not before"), "{ran:?}");
    // An agent that only asks for the method that it is to mend.
    let request = |method: &str, params: Value| {
        json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string()
    };
    let ask =
        r#"read hello; for line in "$@"; do printf '%s\n' "$line"; read -r answer; printf '%s\n' "$answer" >&2; done"#;
    let requests = [
        request("get", json!({ "path": "Account tax" })),
        request("get", json!({ "path": "Shop fee" })),
        request("set", json!({ "path": "Account balance", "source": "11" })),
        request("rejections", json!({ "path": "Account" })),
        request("rejections", json!({})),
        request("rejections", json!({ "path": "Shop" })),
        request("done", json!({})),
    ];
    let agent: Vec<&str> = ["sh", "-c", ask, "agent"].into_iter().chain(requests.iter().map(String::as_str)).collect();
    let ran = up.telos(&[&["dream", "run", "--json", "--command"], &agent[..]].concat());
    let told = json_of(&ran);
    let answers: Vec<Value> = told["agent"]["stderr"]
        .as_str()
        .unwrap_or_default()
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("an answer is JSON")["result"].clone())
        .collect();
    for warned in [&answers[0]["rejections"], &answers[2]["rejections"], &answers[3], &answers[4]] {
        assert_eq!((&warned[0]["dream"], &warned[0]["mandate"]), (&json!(dream), &json!("a try")), "{warned}");
        assert!(warned[0]["reasons"].to_string().contains("testBalance"), "{warned}");
    }
    assert_eq!((&answers[1]["rejections"], &answers[5]), (&Value::Null, &json!([])));
}

#[test]
fn every_kind_of_test_is_told_apart() {
    let up = with_account();
    up.send(
        "MixedTest := UnitTest clone do(
        testStays := method(assertEquals(1, 1))
        testFails := method(assertEquals(1, 2))
        testMended := method(assertEquals(2, Account rate))
        testBroken := method(assertEquals(1, Account rate))
        testGone := method(assertEquals(1, 1))
        testChance := method(assertTrue(Account rate == 1 or(Random value < 0.5)))
        testEndless := method(if(Account rate == 2, loop(nil)))
    ); nil",
    )
    .ok();
    let dream = dreamt(&up, "Account rate = 2; MixedTest removeSlot(\"testGone\"); nil");
    let (code, report) = judged(&up, "verify", &[&dream]);
    assert_eq!(code, Some(3));
    let kinds: Vec<(&str, &str)> = report["verdict"]["tests"]
        .as_array()
        .unwrap()
        .iter()
        .map(|test| (test["name"].as_str().unwrap(), test["kind"].as_str().unwrap()))
        .collect();
    let expected = [
        ("AccountTest testBalance", "passing"),
        ("MixedTest testBroken", "newly_failing"),
        ("MixedTest testChance", "flaky"),
        ("MixedTest testEndless", "unsure"),
        ("MixedTest testFails", "failing"),
        ("MixedTest testGone", "missing"),
        ("MixedTest testMended", "newly_passing"),
        ("MixedTest testStays", "passing"),
    ];
    assert_eq!(kinds, expected);
    let text = up.telos(&["dream", "verify", &dream]).output;
    for (name, kind) in expected {
        let line = format!("  {:<14} {name}\n", kind.replace('_', " "));
        assert_eq!(text.contains(&line), kind != "passing", "{line}{text}");
    }
    assert!(text.contains("3 of 8 tests pass"), "{text}");
}

/// The image asked for a merge and nobody waits for the answer: that it failed was told to nobody at all.
#[test]
fn a_merge_that_the_image_asked_for_and_that_fails_is_noted() {
    let up = with_account();
    // It was judged, and cannot be committed: somebody locked what it changes meanwhile.
    up.allowed("nil").ok();
    up.send("Slow := Object clone do(count := 3000000); SlowTest := UnitTest clone do(testLong := method(Slow count repeat(nil))); nil").ok();
    up.send("Telos mergeEvolution(\"later\", block(Account rate = 3)); nil").ok();
    wait_for("a candidate", || {
        let dreams = json_of(&up.telos(&["dream", "list", "--json"]));
        let is_candidate = |each: &Value| {
            each["mandate"].as_str().is_some_and(|mandate| mandate.starts_with("judge ")) && each["status"] == "running"
        };
        dreams.as_array().is_some_and(|dreams| dreams.iter().any(is_candidate))
    });
    up.telos(&["lock", "Account"]).ok();
    wait_for("it is noted", || live(&up, "Telos rejections size") == "1");
    assert_eq!(live(&up, "Telos rejections last mandate"), "later");
    let told = live(&up, "Telos rejections last reasons");
    assert!(told.contains("locked") || told.contains("token"), "{told}");
    assert_eq!(live(&up, "Account rate"), "1");
}

/// What checks do grows with the tests and the change; with what one test may use, an image of 1,500 tests could merge nothing.
#[test]
fn a_check_may_use_more_than_a_test() {
    let up = with_account();
    let thorough = "Verification checks append(Verification Check clone do(
        name := \"thorough\"
        judge := method(case, verification, 60000000 repeat(nil); list())
    )); nil";
    up.allowed(thorough).ok();
    let dream = dreamt(&up, "Account rate = 2");
    let (code, report) = judged(&up, "verify", &[&dream]);
    assert_eq!(code, Some(0), "{report}");
    assert!(
        report["verdict"]["checks"].as_array().unwrap().iter().any(|check| check["name"] == "thorough"),
        "{report}"
    );
}
