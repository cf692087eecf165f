//! What scripts can rely on: the keys that docs/merge.md names are there, of every command that it names, and exit codes are
//! what it says.

use crate::launch::up::Up;
use serde_json::Value;
use std::collections::BTreeMap;

const DOCUMENT: &str = include_str!("../../../../docs/merge.md");

/// What a command tells as JSON, which ends with this code.
fn told(up: &Up, code: i32, arguments: &[&str]) -> Value {
    let ran = up.telos(arguments);
    assert_eq!(ran.code, Some(code), "{arguments:?}: {ran:?}");
    serde_json::from_str(&ran.output).unwrap_or_else(|error| panic!("{arguments:?}: {error}: {ran:?}"))
}

fn dreamt(up: &Up, source: &str) -> String {
    let object = told(up, 0, &["dream", "run", "--keep", "--json", "-e", source]);
    object["dream"].as_str().expect("it has a name").to_string()
}

/// The rows of the table below a heading: the names in the first cell, and all its other cells.
fn rows(heading: &str) -> Vec<Vec<&'static str>> {
    let (_, section) = DOCUMENT.split_once(heading).expect("there is such a section");
    let section = section.split("\n## ").next().unwrap_or_default();
    let lines = section.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |"));
    lines.skip(1).map(|line| line.split(" | ").map(str::trim).collect()).collect()
}

fn quoted(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

/// An image in which everything has happened once, and what each command tells of it.
fn everything(up: &Up) -> BTreeMap<&'static str, Value> {
    up.send("Shop := Object clone do(stock := 100; opens := 9; total := method(price, amount, price + amount))").ok();
    up.send("ShopTest := UnitTest clone do(testTotal := method(assertEquals(12, Shop total(3, 4)))); nil").ok();
    let mend = dreamt(up, "Shop total = method(price, amount, price * amount)");
    let verified = told(up, 0, &["dream", "verify", "--json", &mend]);
    let difference = told(up, 0, &["dream", "diff", "--json", &mend]);
    let merged = told(up, 0, &["dream", "merge", "--json", &mend]);
    assert_eq!((&verified["status"], &merged["status"]), (&"accepted".into(), &"merged".into()));
    assert_eq!(told(up, 0, &["dream", "merge", "--json", &mend])["status"], "known");
    let run = told(up, 3, &["dream", "run", "--merge", "--json", "-e", "Shop total = method(price, amount, 13)"]);
    assert_eq!(run["merge"]["status"], "rejected");
    let done = "echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"done\"}'";
    let agent = told(up, 0, &["dream", "run", "--merge", "--json", "--command", "sh", "-c", done]);
    let early = dreamt(up, "Shop opens = 8");
    up.send("Shop opens = 10").ok();
    assert_eq!(told(up, 4, &["dream", "merge", "--json", "--policy", "keep-both", &early])["status"], "merged");
    let conflicts = told(up, 0, &["conflicts", "--json"]);
    let shown = told(up, 0, &["conflicts", "show", "--json", "1"]);
    let resolved = told(up, 0, &["conflicts", "resolve", "--json", "1", "--side", "1"]);
    let history = told(up, 0, &["history", "--json", "Shop.total"]);
    let why = told(up, 0, &["why", "--json", "Shop.total"]);
    let verdict = merged["verdict"].clone();
    BTreeMap::from([
        ("dream merge", merged),
        ("dream verify", verified),
        ("dream diff", difference),
        ("dream run --merge", run),
        ("dream run --merge --command", agent),
        ("checks", verdict["checks"].clone()),
        ("tests", verdict["tests"].clone()),
        ("verdict", verdict),
        ("siblings", shown["siblings"].clone()),
        ("conflicts", conflicts),
        ("conflicts show", shown),
        ("conflicts resolve", resolved),
        ("writings", history["writings"].clone()),
        ("history", history),
        ("merge", why["merge"].clone()),
        ("why", why),
        ("undo", told(up, 0, &["undo", "--json", &mend])),
        ("rejections", told(up, 0, &["rejections", "--json"])),
    ])
}

#[test]
fn every_key_that_is_documented_is_there() {
    let up = Up::start(&[]);
    let mut told = everything(&up);
    for row in rows("## JSON") {
        let [names, kind, keys] = row[..] else { panic!("a row has three cells: {row:?}") };
        for name in quoted(names) {
            let value = told.remove(name).unwrap_or_else(|| panic!("nobody asks for {name}"));
            let objects = match (kind, &value) {
                ("array", Value::Array(items)) => items.clone(),
                ("object", Value::Object(_)) => vec![value.clone()],
                _ => panic!("{name} is no {kind}: {value}"),
            };
            assert!(!objects.is_empty(), "there is something to look at in {name}");
            for key in quoted(keys) {
                assert!(objects.iter().all(|object| object.get(key).is_some()), "{name} has {key}: {value}");
            }
        }
    }
    assert!(told.is_empty(), "not documented: {:?}", told.keys());
}

/// What is not there is told in words, with code 1; what is not understood, with code 2. Standard output is for answers.
#[test]
fn what_cannot_be_done_is_told_and_has_another_code() {
    let up = Up::start(&[]);
    for (arguments, code, words) in [
        (&["dream", "merge", "d999"][..], 1, "telos dream list"),
        (&["dream", "merge", "nonsense"], 1, "telos dream list"),
        (&["dream", "verify", "d999"], 1, "telos dream list"),
        (&["dream", "diff", "d999"], 1, "telos dream list"),
        (&["dream", "show", "d999"], 1, "telos dream list"),
        (&["dream", "merge", "--policy", "mine", "d1"], 2, "fork-wins"),
        (&["dream", "run", "no-such-file.io"], 1, "no-such-file.io"),
        (&["dream", "run"], 2, "nothing to run"),
        (&["conflicts", "show", "7"], 1, "there is no conflict 7"),
        (&["conflicts", "resolve", "7", "--keep"], 1, "there is no conflict 7"),
        (&["conflicts", "resolve", "7"], 2, "--side"),
        (&["history", "Nothing.here"], 1, "Nothing"),
        (&["history", "Nothing"], 1, "does not say who wrote Nothing"),
        (&["why", "Nothing.here"], 1, "Nothing"),
        (&["undo", "d999"], 1, "not merged"),
        (&["undo", "999"], 1, "no commit 999"),
        (&["rejections", "--of", "Nothing"], 1, "there is no Nothing"),
        (&["lock", "Nothing"], 1, "no token"),
        (&["token", "revoke"], 1, "no token that could be revoked"),
    ] {
        let ran = up.telos(arguments);
        assert!(ran.code == Some(code) && ran.output.is_empty(), "{arguments:?}: {ran:?}");
        assert!(ran.errors.contains(words), "{arguments:?}: {ran:?}");
        if code == 1 && arguments[0] != "token" {
            let ran = up.telos(&[arguments, &["--json"]].concat());
            let told: Value = serde_json::from_str(&ran.output).unwrap_or_else(|_| panic!("no JSON: {ran:?}"));
            let error = &told["error"];
            assert_eq!((ran.code, &error["code"]), (Some(1), &1.into()), "{arguments:?}: {ran:?}");
            assert!(error["message"].as_str().is_some_and(|message| message.contains(words)), "{arguments:?}: {ran:?}");
        }
    }
    for (arguments, words) in [
        (&["conflicts"][..], "no conflict is open"),
        (&["rejections"], "nothing was rejected"),
        (&["dream", "list"], "there are no dreams"),
    ] {
        assert_eq!(up.telos(&[arguments, &["--json"]].concat()).ok(), "[]\n");
        let ran = up.telos(arguments);
        assert!(ran.code == Some(0) && ran.output.is_empty() && ran.errors.contains(words), "{ran:?}");
    }
}

/// Each says how to start one.
#[test]
fn without_an_image_each_command_says_what_to_do() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().to_str().unwrap();
    for arguments in [
        &["send", "--image", path, "1"][..],
        &["dream", "run", "--image", path, "-e", "1"],
        &["dream", "merge", "--image", path, "d1"],
        &["dream", "list", "--image", path],
        &["conflicts", "--image", path],
        &["history", "--image", path, "A"],
        &["why", "--image", path, "A.b"],
        &["undo", "--image", path, "d1"],
        &["rejections", "--image", path],
    ] {
        let ran = crate::launch::telos(arguments);
        assert_eq!((ran.code, ran.output.as_str()), (Some(1), ""), "{arguments:?}");
        assert!(ran.errors.contains(&format!("no image is up in {path}; start it with `telos up {path}`")), "{ran:?}");
    }
    let ran = crate::launch::telos_in(directory.path(), &["conflicts"], "");
    assert!(ran.code == Some(1) && ran.errors.contains("name one with --image DIR or set TELOS_IMAGE"), "{ran:?}");
}
