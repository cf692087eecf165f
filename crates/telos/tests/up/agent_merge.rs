//! What an agent did is merged by the command that started it; unless the agent itself did not come to its end well.

use crate::launch::up::{Up, signal, wait_for};
use crate::launch::{Ran, command, telos_in};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Stdio;

const SHOP: &str = "Shop := Object clone do(stock := 100; total := method(price, amount, price + amount))
ShopTest := UnitTest clone do(testTotal := method(assertEquals(12, Shop total(3, 4))))
nil";

fn with_shop() -> Up {
    let up = Up::start(&[]);
    up.send(SHOP).ok();
    up
}

fn words<'w>(up: &'w Up, options: &[&'w str], agent: &[&'w str]) -> Vec<&'w str> {
    let directory = up.directory.to_str().expect("temporary files have plain names");
    [&["dream", "run", "--image", directory], options, &["--command"], agent].concat()
}

fn run(up: &Up, options: &[&str], agent: &[&str]) -> Ran {
    telos_in(Path::new("."), &words(up, options, agent), "")
}

/// With its exit code, as JSON.
fn told(up: &Up, options: &[&str], agent: &[&str]) -> (Option<i32>, Value) {
    let ran = run(up, &[&["--json", "--merge"], options].concat(), agent);
    let object = serde_json::from_str(&ran.output).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
    (ran.code, object)
}

fn request(method: &str, params: Value) -> String {
    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string()
}

/// A shell that sets a slot, waits for the answer, and then does the rest.
fn setting(path: &str, source: &str, rest: &str) -> String {
    let set = request("set", json!({ "path": path, "source": source }));
    format!("read hello; printf '%s\\n' '{set}'; read -r answer; {rest}")
}

/// That it is done, and the answer to that.
fn done() -> String {
    format!("printf '%s\\n' '{}'; read -r answer", request("done", json!({ "summary": "so it is" })))
}

fn live(up: &Up, expression: &str) -> String {
    up.send(expression).ok().trim_end().to_string()
}

fn telos(up: &Up, arguments: &[&str]) -> Ran {
    let mut command = command(Path::new("."), arguments);
    let ended = command.env("TELOS_IMAGE", &up.directory).output().expect("the binary starts");
    ended.into()
}

#[test]
fn the_example_agent_repairs_a_method_and_one_command_merges_it() {
    let up = with_shop();
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/agents/repair.py");
    let options = ["--merge", "--mandate", "price times amount", "--file", file];
    let ran = run(&up, &options, &["python3", "repair.py", "Shop total"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.errors.contains("agent: failing: ShopTest testTotal"), "{}", ran.errors);
    assert!(ran.errors.contains("the agent is done: Shop total is repaired, with idea 2"), "{}", ran.errors);
    assert!(ran.output.contains("is merged as commit") && ran.output.contains("1 of 1 tests pass"), "{}", ran.output);
    assert_eq!(live(&up, "Shop total(3, 4)"), "12");
    let why = telos(&up, &["why", "Shop.total"]).ok();
    assert!(why.contains("python3 repair.py Shop total") && why.contains("price times amount"), "{why}");
    let ran = run(&up, &options, &["python3", "repair.py", "Shop total"]);
    assert!(ran.errors.contains("there is nothing to do"), "{ran:?}");
}

#[test]
fn what_an_agent_broke_is_rejected_with_the_reasons() {
    let up = with_shop();
    live(&up, "Shop total = method(price, amount, price * amount)");
    let agent = setting("Shop total", "method(price, amount, 13)", &done());
    let (code, object) = told(&up, &["--mandate", "thirteen"], &["sh", "-c", &agent]);
    assert_eq!((code, &object["merge"]["status"]), (Some(3), &json!("rejected")), "{object}");
    assert_eq!((&object["agent"]["status"], &object["not_merged"]), (&json!("done"), &Value::Null));
    assert_eq!(live(&up, "Shop total(3, 4)"), "12");
    let rejections = telos(&up, &["rejections"]).ok();
    assert!(rejections.contains("thirteen") && rejections.contains("ShopTest testTotal"), "{rejections}");
}

/// A process below another that was stopped, and waits to be told to go on.
fn stopped_below(ancestor: u32) -> Option<u32> {
    let children = std::fs::read_to_string(format!("/proc/{ancestor}/task/{ancestor}/children")).unwrap_or_default();
    children.split_whitespace().filter_map(|child| child.parse().ok()).find_map(|child: u32| {
        let status = std::fs::read_to_string(format!("/proc/{child}/stat")).unwrap_or_default();
        let is_stopped = status.rsplit(") ").next().is_some_and(|rest| rest.starts_with('T'));
        if is_stopped { Some(child) } else { stopped_below(child) }
    })
}

#[test]
fn a_conflict_of_an_agent_with_live_stays_open_if_that_is_the_policy() {
    let up = with_shop();
    // It halts itself until live has written, too.
    let agent = setting("Shop stock", "50", &format!("kill -STOP $$; {}", done()));
    let options = ["--json", "--merge", "--policy", "keep-both"];
    let mut command = command(Path::new("."), &words(&up, &options, &["sh", "-c", &agent]));
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary starts");
    wait_for("the agent has halted", || stopped_below(child.id()).is_some());
    live(&up, "Shop stock = 70");
    signal(stopped_below(child.id()).expect("it is still halted"), "CONT");
    let ended = child.wait_with_output().unwrap();
    let object: Value = serde_json::from_slice(&ended.stdout).unwrap();
    assert_eq!((ended.status.code(), &object["merge"]["open_conflicts"]), (Some(4), &json!(1)), "{object}");
    assert_eq!(live(&up, "Telos conflicts first siblings map(value) sort"), "list(50, 70)");
}

/// An agent that failed has changed something all the same, and only it knows whether that is half of what it wanted.
#[test]
fn what_an_agent_left_unfinished_is_not_even_judged() {
    let up = with_shop();
    let said_done = format!("{}; exit 5", done());
    let stays = format!("{}; exec sleep 100", done());
    for (rest, options, code, reason) in [
        ("exit 0", &[][..], 1, "the agent failed: it ended without saying done (exit code 0)"),
        // Codes that would say that it was rejected, or merged.
        ("exit 3", &[], 1, "the agent failed: it ended without saying done (exit code 3)"),
        ("exit 4", &[], 1, "the agent failed: it ended without saying done (exit code 4)"),
        ("exit 7", &[], 7, "the agent failed: it ended without saying done (exit code 7)"),
        ("kill -9 $$", &[], 137, "the agent failed: signal 9 ended it before it said done"),
        ("exec sleep 100", &["--lifetime", "2"], 124, "the agent failed: the time of its dream was up"),
        (&said_done, &[], 5, "the agent said done, and ended with exit code 5"),
        (&stays, &[], 1, "the agent said done, and had to be ended, for it did not end by itself"),
    ] {
        let agent = setting("Shop total", "method(price, amount, price * amount)", rest);
        let (ended, object) = told(&up, options, &["sh", "-c", &agent]);
        assert_eq!(
            (ended, &object["merge"], &object["not_merged"]),
            (Some(code), &Value::Null, &json!(reason)),
            "{rest}"
        );
        let changes = object["journal"]["changes"].as_array().map_or(0, Vec::len);
        assert!(changes > 0, "what it did is shown: {object}");
        assert_eq!(live(&up, "list(Shop total(3, 4), Telos rejections size)"), "list(7, 0)", "{rest}");
    }
    let agent = setting("Shop total", "method(1)", "exit 0");
    let ran = run(&up, &["--merge"], &["sh", "-c", &agent]);
    assert!(ran.errors.contains("is not merged: the agent failed: it ended without saying done"), "{ran:?}");
    let ran = run(&up, &["--merge"], &["no-such-program"]);
    assert!(ran.code == Some(1) && ran.errors.contains("was not started"), "{ran:?}");
}

#[test]
fn ctrl_c_merges_nothing() {
    let up = with_shop();
    let agent = setting("Shop total", "method(price, amount, price * amount)", "echo set >&2; exec sleep 100");
    let mut command = command(Path::new("."), &words(&up, &["--merge", "--lifetime", "90"], &["sh", "-c", &agent]));
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary starts");
    let mut heard = [0; 4];
    std::io::Read::read_exact(child.stderr.as_mut().unwrap(), &mut heard).unwrap();
    signal(child.id(), "INT");
    let ended = child.wait_with_output().unwrap();
    let errors = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(130), "{errors}");
    assert!(errors.contains("is not merged: the agent failed: it was interrupted"), "{errors}");
    assert_eq!(live(&up, "Shop total(3, 4)"), "7");
}

/// The first Ctrl-C was taken for one that stops the script, which was over; and what was interrupted was merged a moment later.
#[test]
fn ctrl_c_while_it_is_judged_merges_nothing() {
    let up = with_shop();
    let slow =
        "SlowTest := UnitTest clone; 50 repeat(i, SlowTest setSlot(\"test\" .. i, method(5000000 repeat(nil)))); nil";
    up.send(slow).ok();
    let script = format!("read hello; {}", done());
    let agent = words(&up, &["--merge", "--lifetime", "90"], &["sh", "-c", &script]);
    let directory = up.directory.to_str().expect("temporary files have plain names");
    for arguments in [&agent[..], &["dream", "run", "--merge", "--image", directory, "-e", "Shop stock = 1"]] {
        let mut command = command(Path::new("."), arguments);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary starts");
        let is_judged = || {
            let dreams = telos(&up, &["dream", "list", "--json"]).ok();
            let dreams: Value = serde_json::from_str(&dreams).expect("it is JSON");
            let mut dreams = dreams.as_array().into_iter().flatten();
            dreams.any(|dream| dream["status"] == "running" && dream["agent"] == "Verification")
        };
        wait_for("it is judged", is_judged);
        signal(child.id(), "INT");
        let ended = child.wait_with_output().unwrap();
        let errors = String::from_utf8_lossy(&ended.stderr);
        assert_eq!(ended.status.code(), Some(130), "{arguments:?}: {errors}");
        assert!(errors.contains("is not merged: interrupted; nothing was merged"), "{errors}");
        wait_for("nobody judges any more", || !is_judged());
        assert_eq!(live(&up, "list(Shop stock, Telos merges size, Telos rejections size)"), "list(100, 0, 0)");
    }
    wait_for("nothing is kept of whoever judged", || !telos(&up, &["dream", "list"]).ok().contains("judge "));
}

/// A script that ended itself with 0 looked as if it had been merged.
#[test]
fn a_script_that_did_not_come_to_its_end_is_not_merged_either() {
    let up = with_shop();
    for (rest, code, reason) in [
        ("System exit(0)", 1, "the script ended itself"),
        ("System exit(4)", 1, "the script ended itself"),
        ("System exit(9)", 9, "the script ended itself"),
        ("1 foo", 1, "the script failed: "),
    ] {
        let source = format!("Shop stock = 1; {rest}");
        let ran = telos(&up, &["dream", "run", "--json", "--merge", "-e", &source]);
        let object: Value = serde_json::from_str(&ran.output).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
        assert_eq!((ran.code, &object["merge"]), (Some(code), &Value::Null), "{rest}: {object}");
        assert!(object["not_merged"].as_str().is_some_and(|why| why.starts_with(reason)), "{rest}: {object}");
    }
    assert_eq!(live(&up, "Shop stock"), "100");
}

#[test]
fn options_that_would_do_nothing_are_told() {
    let up = with_shop();
    let ran = telos(&up, &["dream", "run", "--policy", "keep-both", "-e", "1"]);
    assert!(ran.code == Some(2) && ran.errors.contains("give --merge too"), "{ran:?}");
    let ran = run(&up, &[], &["sh", "-c", &done(), "--merge"]);
    assert!(ran.code == Some(0) && ran.errors.contains("warning: --merge is the agent's"), "{ran:?}");
    assert!(!ran.output.contains("merged"), "{ran:?}");
}

/// Nobody was told what a dream that is kept is called.
#[test]
fn a_dream_that_is_kept_says_its_name() {
    let up = with_shop();
    let ran = telos(&up, &["dream", "run", "--keep", "-e", "Shop stock = 5"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let line = ran.errors.lines().find(|line| line.contains(" is kept; `telos dream merge d")).expect("it says so");
    let name = line.split_whitespace().nth(1).expect("a name");
    assert_eq!(telos(&up, &["dream", "merge", name]).code, Some(0));
    assert_eq!(live(&up, "Shop stock"), "5");
}
