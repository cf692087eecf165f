//! Every scenario of the merge's design, through the command line and with a live image: what live and a dream both did, and what
//! is there when the dream was merged, under each policy that the scenario names. All of a table are played in one image.

use crate::launch::up::Up;
use serde_json::Value;

const F: &str = "fork-wins";
const L: &str = "live-wins";
const W: &str = "last-writer-wins";
const K: &str = "keep-both";
const ALL: [&str; 4] = [F, L, W, K];

/// `$` stands for a name that nobody else has.
struct Scenario {
    name: &'static str,
    state: &'static str,
    live: &'static str,
    dream: &'static str,
    /// Who does it last.
    later: Later,
    look: &'static str,
    /// Under these policies: what is seen, and how many conflicts are open.
    expected: &'static [(&'static [&'static str], &'static str, u64)],
}

#[derive(Clone, Copy, PartialEq)]
enum Later {
    Live,
    Dream,
}

const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "both write a slot, the dream later",
        state: "$ := Object clone do(x := 1); nil",
        live: "$ x = 2",
        dream: "$ x = 3",
        later: Later::Dream,
        look: "$ x",
        expected: &[(&[F, W], "3", 0), (&[L], "2", 0), (&[K], "3", 1)],
    },
    Scenario {
        name: "both write a slot, live later",
        state: "$ := Object clone do(x := 1); nil",
        live: "$ x = 2",
        dream: "$ x = 3",
        later: Later::Live,
        look: "$ x",
        expected: &[(&[F], "3", 0), (&[L, W], "2", 0), (&[K], "2", 1)],
    },
    Scenario {
        name: "both write the same",
        state: "$ := Object clone do(x := 1); nil",
        live: "$ x = 2",
        dream: "$ x = 2",
        later: Later::Dream,
        look: "$ x",
        expected: &[(&ALL, "2", 0)],
    },
    Scenario {
        name: "live removes a slot that the dream wrote before",
        state: "$ := Object clone do(x := 1); nil",
        live: "$ removeSlot(\"x\"); nil",
        dream: "$ x = 3",
        later: Later::Live,
        look: "if($ hasLocalSlot(\"x\"), $ x, \"absent\")",
        expected: &[(&[F], "3", 0), (&[L, W], "absent", 0), (&[K], "absent", 1)],
    },
    Scenario {
        name: "both add to a counter",
        state: "$ := Object clone do(count := Counter clone add(5)); nil",
        live: "$ count add(2); nil",
        dream: "$ count add(3); nil",
        later: Later::Dream,
        look: "$ count value",
        expected: &[(&ALL, "10", 0)],
    },
    Scenario {
        name: "both add the same to a counter",
        state: "$ := Object clone do(count := Counter clone add(5)); nil",
        live: "$ count add(2); nil",
        dream: "$ count add(2); nil",
        later: Later::Live,
        look: "$ count value",
        expected: &[(&ALL, "9", 0)],
    },
    Scenario {
        name: "both insert behind the same element",
        state: "$ := Object clone do(items := list(\"a\", \"b\")); nil",
        live: "$ items atInsert(1, \"X\"); $ items atInsert(2, \"Y\"); nil",
        dream: "$ items atInsert(1, \"P\"); $ items atInsert(2, \"Q\"); nil",
        later: Later::Dream,
        look: "$ items join",
        expected: &[(&ALL, "aXYPQb", 0)],
    },
    Scenario {
        name: "the same, live later",
        state: "$ := Object clone do(items := list(\"a\", \"b\")); nil",
        live: "$ items atInsert(1, \"X\"); $ items atInsert(2, \"Y\"); nil",
        dream: "$ items atInsert(1, \"P\"); $ items atInsert(2, \"Q\"); nil",
        later: Later::Live,
        look: "$ items join",
        expected: &[(&ALL, "aXYPQb", 0)],
    },
    Scenario {
        name: "live deletes what the dream inserts behind",
        state: "$ := Object clone do(items := list(\"a\", \"b\")); nil",
        live: "$ items removeAt(1); nil",
        dream: "$ items append(\"c\"); nil",
        later: Later::Live,
        look: "$ items join",
        expected: &[(&ALL, "ac", 0)],
    },
    Scenario {
        name: "live lets go of what the dream refers to",
        state: "$ := Object clone; $ r := Object clone do(value := 7); nil",
        live: "$ removeSlot(\"r\"); Collector collect; nil",
        dream: "$ s := $ r; nil",
        later: Later::Live,
        look: "list($ hasLocalSlot(\"r\"), $ s value)",
        expected: &[(&ALL, "list(false, 7)", 0)],
    },
    Scenario {
        name: "each changes another part of a method",
        state: "$ := Object clone do(m := method(list(1, 2)); t := method(3)); nil",
        live: "$ m = method(list(10, 2)); nil",
        dream: "$ m = method(list(1, 20)); nil",
        later: Later::Live,
        look: "$ m",
        expected: &[(&ALL, "list(10, 20)", 0)],
    },
    Scenario {
        name: "each makes a map under the same key",
        state: "$ := Map clone; nil",
        live: "$ atPut(\"k\", Map with(\"a\", 1)); nil",
        dream: "$ atPut(\"k\", Map with(\"b\", 2)); nil",
        later: Later::Dream,
        look: "$ at(\"k\") keys sort map(key, key .. $ at(\"k\") at(key) asString) join",
        expected: &[(&ALL, "a1b2", 0)],
    },
];

fn play(up: &Up, scenario: &Scenario, policy: &str, object: &str) -> Result<(), String> {
    let here = |source: &str| source.replace('$', object);
    up.telos(&["send", &here(scenario.state)]).ok();
    let dream = match scenario.later {
        Later::Dream => up.dreamt_later(&here(scenario.live), &here(scenario.dream)),
        Later::Live => {
            let dream = up.dreamt(&here(scenario.dream));
            up.telos(&["send", &here(scenario.live)]).ok();
            dream
        }
    };
    let expected = scenario.expected.iter().find(|(policies, ..)| policies.contains(&policy));
    let (_, shown, open) = expected.expect("each policy is there");
    let (code, report) = up.merged(&["--policy", policy, &dream]);
    let seen = up.live(&here(scenario.look));
    let is_as_expected = code == Some(if *open > 0 { 4 } else { 0 })
        && (seen.as_str(), report["open_conflicts"].as_u64()) == (*shown, Some(*open));
    let place = format!("{}, {policy}", scenario.name);
    if !is_as_expected {
        return Err(format!("{place}: {seen}, where {shown} with {open} open; {code:?}, {report}"));
    }
    twice(up, &dream, &here(scenario.look), &seen).map_err(|problem| format!("{place}: {problem}"))
}

/// The same journal again: nothing is done, and nobody hears of anything.
fn twice(up: &Up, dream: &str, look: &str, seen: &str) -> Result<(), String> {
    let commits = |up: &Up| up.told(&["status", "--json"])["image"]["last_commit"].clone();
    let before = commits(up);
    let (code, again) = up.merged(&[dream]);
    let now = (up.live(look), commits(up));
    match code == Some(0) && again["status"] == "known" && now == (seen.into(), before.clone()) {
        true => Ok(()),
        false => Err(format!("merged again: {code:?}, {again}; {now:?}, where {seen} at {before}")),
    }
}

#[test]
fn every_scenario_of_the_table_comes_out_as_it_says() {
    let up = Up::start(&[]);
    // Each policy has the same methods merged, so all but the first bring nothing new.
    up.allowed("Verification weights atPut(\"sol\", 0); nil").ok();
    let mut wrong = Vec::new();
    for (number, scenario) in SCENARIOS.iter().enumerate() {
        let named: usize = scenario.expected.iter().map(|(policies, ..)| policies.len()).sum();
        assert_eq!(named, ALL.len(), "{}: each policy once", scenario.name);
        for (letter, policy) in "FLWK".chars().zip(ALL) {
            wrong.extend(play(&up, scenario, policy, &format!("Case{number}{letter}")).err());
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What live and the dream do to two objects that nobody else has, the dream later; the name of that.
fn relinked(up: &Up, number: usize, live: &str, dream: &str) -> (String, impl Fn(&str) -> String) {
    let here = move |source: &str| source.replace("$A", &format!("A{number}")).replace("$B", &format!("B{number}"));
    up.telos(&["send", &here("$A := Object clone do(a := 1); $B := Object clone do(b := 1); nil")]).ok();
    (up.dreamt_later(&here(&format!("{live}; nil")), &here(&format!("{dream}; nil"))), here)
}

/// A ring of prototypes that neither side made: one edge is left out, and told as a violation.
#[test]
fn a_ring_of_prototypes_is_left_open_where_the_policy_says() {
    let up = Up::start(&[]);
    for (number, policy) in ALL.iter().enumerate() {
        let (dream, here) = relinked(&up, number, "$A appendProto($B)", "$B appendProto($A)");
        let (code, report) = up.merged(&["--policy", policy, &dream]);
        assert_eq!((code, &report["violations"]), (Some(0), &Value::from(1)), "{policy}: {report}");
        let seen = up.live(&here("list($A protos contains($B), $B protos contains($A), $A clone type, $B clone type)"));
        let is_live = *policy == L;
        assert_eq!(seen, here(&format!("list({is_live}, {}, \"$A\", \"$B\")", !is_live)), "{policy}");
        assert_eq!(up.live("Telos violations size"), (number + 1).to_string(), "{policy}");
    }
}

/// Each gives away the only proto that it had, and one may not have the new one: it keeps what it had.
#[test]
fn a_ring_leaves_no_object_without_protos() {
    let up = Up::start(&[]);
    for (number, policy) in ALL.iter().enumerate() {
        let (dream, here) = relinked(&up, number, "$A setProto($B)", "$B setProto($A)");
        let (code, report) = up.merged(&["--policy", policy, &dream]);
        assert_eq!((code, &report["violations"]), (Some(0), &Value::from(1)), "{policy}: {report}");
        let seen = up.live(&here("list($A proto == $B, $A proto == Object, $B proto == $A, $B proto == Object)"));
        let expected = if *policy == L { "list(true, false, false, true)" } else { "list(false, true, true, false)" };
        assert_eq!(seen, expected, "{policy}");
    }
}

/// Each side alone keeps to a rule that both together break. The dream had read what live wrote meanwhile.
#[test]
fn what_each_side_may_do_and_both_may_not_is_refused_on_the_candidate() {
    let up = Up::start(&[]);
    for (number, policy) in ALL.iter().enumerate() {
        let object = format!("Pair{number}");
        up.telos(&["send", &format!("{object} := Object clone do(x := 1; y := 1); nil")]).ok();
        let test = format!("assertTrue({object} x + {object} y >= 1)");
        up.telos(&["send", &format!("{object}Test := UnitTest clone do(testRule := method({test})); nil")]).ok();
        let dream = up.dreamt(&format!("if({object} y == 1, {object} x = 0)"));
        up.telos(&["send", &format!("{object} y = 0")]).ok();
        let before = up.told(&["log", "--json", "-n1"]);
        let (code, report) = up.merged(&["--policy", policy, &dream]);
        assert_eq!((code, report["status"].as_str()), (Some(3), Some("rejected")), "{policy}: {report}");
        assert!(report.to_string().contains(&format!("{object}Test testRule: fails, and did not before")), "{report}");
        assert_eq!(up.live(&format!("list({object} x, {object} y)")), "list(1, 0)", "{policy}");
        let after = up.told(&["log", "--json", "-n1"]);
        assert_ne!(before, after, "that it was refused is noted");
        assert!(after.to_string().contains(&format!("reject {dream}")), "{after}");
    }
}

/// The same by a check of the image's own, in place of a test.
#[test]
fn a_rule_of_the_image_is_asked_about_the_candidate_too() {
    let up = Up::start(&[]);
    up.telos(&["send", "Pair := Object clone do(x := 1; y := 1); nil"]).ok();
    let check = "Verification Check clone do(name := \"sum\"; judge := method(case, verification, \
        if(Pair x + Pair y >= 1, list(), list(finding(\"x and y are both nothing\", \"Pair\")))))";
    let strict = format!("Telos verification = Verification clone; Telos verification checks append({check}); nil");
    up.allowed(&strict).ok();
    let dream = up.dreamt("Pair x = 0");
    let good = up.dreamt("Pair x = 5");
    up.telos(&["send", "Pair y = 0"]).ok();
    let (code, report) = up.merged(&[&dream]);
    assert_eq!(code, Some(3), "{report}");
    assert!(report.to_string().contains("Pair: x and y are both nothing"), "{report}");
    assert_eq!(up.live("list(Pair x, Pair y)"), "list(1, 0)");
    let (code, report) = up.merged(&[&good]);
    assert_eq!(code, Some(0), "{report}");
    assert_eq!(up.live("list(Pair x, Pair y)"), "list(5, 0)");
}

/// Each side's method passes the image's test, and the one that is made of both does not: nobody has ever run that one before.
#[test]
fn a_method_that_neither_side_wrote_is_judged_like_any_other() {
    let up = Up::start(&[]);
    for (number, policy) in ALL.iter().enumerate() {
        let object = format!("Sum{number}");
        up.telos(&["send", &format!("{object} := Object clone do(m := method(list(1, 2))); nil")]).ok();
        let test = format!("assertTrue({object} m sum < 25)");
        up.telos(&["send", &format!("{object}Test := UnitTest clone do(testSum := method({test})); nil")]).ok();
        let dream = up.dreamt(&format!("{object} m = method(list(1, 20)); nil"));
        up.telos(&["send", &format!("{object} m = method(list(10, 2)); nil")]).ok();
        let (code, report) = up.merged(&["--policy", policy, &dream]);
        assert_eq!(code, Some(3), "{policy}: {report}");
        assert!(report.to_string().contains(&format!("{object}Test testSum: fails, and did not before")), "{report}");
        assert_eq!(up.live(&format!("{object} m")), "list(10, 2)", "{policy}");
    }
}

/// A dream that was forked inside of one that is refused stands on what never came to be.
#[test]
fn a_dream_inside_of_a_rejected_one_never_becomes_a_part_of_live() {
    let up = Up::start(&[]);
    up.telos(&["send", "Account := Object clone do(balance := 10; rate := 1); nil"]).ok();
    up.telos(&["send", "AccountTest := UnitTest clone do(testRate := method(assertEquals(1, Account rate))); nil"])
        .ok();
    let outer = up.dreamt("Account rate = 5");
    let inner = up.dreamt_within(&outer, "Account balance = 6");
    let innermost = up.dreamt_within(&inner, "Account balance = 7");
    assert_eq!(up.merged(&[&outer]).0, Some(3));
    for dream in [&inner, &innermost] {
        for policy in ALL {
            let refused = up.telos(&["dream", "merge", "--policy", policy, dream]);
            assert_eq!(refused.code, Some(1), "{refused:?}");
            assert!(refused.errors.contains("which is not merged"), "{}", refused.errors);
        }
    }
    assert_eq!(up.live("list(Account rate, Account balance)"), "list(1, 10)");
}
