//! What a user is told of dreams: which are running, how they ended, what they wrote and changed.

use crate::launch::up::{Up, signal, wait_for};
use crate::launch::{Ran, command, telos_in};
use serde_json::Value;
use std::path::Path;
use std::process::Stdio;

fn telos_dream(up: &Up, verb: &str, arguments: &[&str]) -> Ran {
    telos_in(Path::new("."), &words(up, verb, arguments), "")
}

fn words<'a>(up: &'a Up, verb: &'a str, arguments: &[&'a str]) -> Vec<&'a str> {
    let directory = up.directory.to_str().expect("temporary files have plain names");
    ["dream", verb, "--image", directory].iter().chain(arguments).copied().collect()
}

fn json(ran: &Ran) -> Value {
    serde_json::from_str(&ran.output).unwrap_or_else(|_| panic!("{}{}", ran.output, ran.errors))
}

fn listed(up: &Up) -> Value {
    json(&telos_dream(up, "list", &["--json"]))
}

/// What a dream that ran a source is called.
fn ran(up: &Up, arguments: &[&str]) -> (Value, Ran) {
    let ran = telos_dream(up, "run", &[&["--json"], arguments].concat());
    (json(&ran), ran)
}

const ACCOUNT: &str = "Account := Object clone do(balance := 10; tax := method(balance * 0.1)); nil";

/// Its file has the end from before it went on, and that was shown.
#[test]
fn a_dream_that_goes_on_again_is_running() {
    let up = Up::start(&[]);
    up.send(ACCOUNT);
    let (told, _) = ran(&up, &["--keep", "-e", "Account balance = 7"]);
    let name = told["dream"].as_str().unwrap();
    assert_eq!(listed(&up)[0]["status"], "ended");
    let resumed = json(&telos_dream(&up, "resume", &["--json", "--lifetime", "5m", name]));
    assert_eq!(resumed["dream"], name);
    assert_eq!(telos_dream(&up, "eval", &[name, "Account balance"]).output, "7\n");
    let running = listed(&up);
    assert_eq!((&running[0]["status"], &running[0]["reason"]), (&"running".into(), &"".into()), "{running}");
    assert_eq!(json(&telos_dream(&up, "show", &["--json", name]))["status"], "running");
    let table = telos_dream(&up, "list", &[]).output;
    let lines: Vec<&str> = table.lines().collect();
    assert!(lines[0].starts_with("DREAM") && lines[1].contains("running") && lines[1].contains(" 4 min "), "{table}");
    assert!(lines[1].contains(" yes ") && !lines.iter().any(|line| line.ends_with(' ')), "{table}");
    telos_dream(&up, "eval", &[name, "System exit(0)"]);
}

/// It went on alone until its time was up.
#[test]
fn ctrl_c_ends_a_script_and_its_dream() {
    let up = Up::start(&[]);
    let arguments = words(&up, "run", &["--lifetime", "10m", "-e", "\"on\" println; loop(nil)"]);
    let mut child =
        command(Path::new("."), &arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
    wait_for("it is running", || listed(&up)[0]["status"] == "running");
    signal(child.id(), "INT");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let dreams = listed(&up);
    // It may have come before the script began: then nothing failed in the dream.
    let is_early = dreams[0]["status"] == "ended" && dreams[0]["reason"] == "";
    let is_stopped = dreams[0]["status"] == "failed" && dreams[0]["reason"].as_str().unwrap().contains("interrupted");
    assert!(is_early || is_stopped, "{dreams}");
    assert!(up.client().status().unwrap().dreams.is_empty());
}

#[test]
fn a_dream_whose_time_or_room_is_up_says_so_and_ends_as_eval_does() {
    let up = Up::start(&[]);
    let late = telos_dream(&up, "run", &["--lifetime", "300ms", "--mandate", "spin", "-e", "loop(nil)"]);
    assert_eq!(late.code, Some(124), "{}", late.errors);
    assert!(late.errors.contains("was ended: it had no time left"), "{}", late.errors);
    assert!(late.errors.contains("--lifetime"), "{}", late.errors);
    let name = listed(&up)[0]["dream"].as_str().unwrap().to_string();
    let shown = telos_dream(&up, "show", &[&name]);
    let lines: Vec<&str> = shown.output.lines().map(str::trim).collect();
    assert_eq!(lines[..3], [format!("dream {name}").as_str(), "status   killed: it had no time left", "mandate  spin"]);
    assert!(lines.iter().any(|line| line.starts_with("began ")), "{}", shown.output);
    assert!(lines.iter().any(|line| line.starts_with("ended ")), "{}", shown.output);
    assert_eq!(*lines.last().unwrap(), "it changed nothing");
    let source = "x := list(); loop(x append(\"0123456789\" repeated(100000) asMutable))";
    let full = telos_dream(&up, "run", &["--room", "64M", "-e", source]);
    assert_eq!(full.code, Some(123), "{}", full.errors);
    let small = telos_dream(&up, "run", &["--room", "1", "-e", "1"]);
    assert!(small.code == Some(1) && small.errors.contains("at least"), "{}", small.errors);
    let timed = telos_dream(&up, "run", &["--timeout", "300ms", "-e", "loop(nil)"]);
    assert!(timed.code == Some(124) && timed.errors.contains("timed out after 0.3 s"), "{}", timed.errors);
}

/// It was listed as ended, and nobody knew why it had failed.
#[test]
fn a_script_that_failed_is_listed_as_failed_with_its_reason() {
    let up = Up::start(&[]);
    let (told, ran_so) = ran(&up, &["-e", "\"so far\" println; 1 foo"]);
    assert_eq!(ran_so.code, Some(1));
    let dreams = listed(&up);
    assert_eq!(dreams[0]["status"], "failed");
    assert_eq!(dreams[0]["reason"], told["answer"]["error"]["message"], "{dreams}");
    assert!(dreams[0]["usage"].get("fuel").is_none() && dreams[0]["usage"]["time_ms"].is_u64(), "{dreams}");
    let shown = telos_dream(&up, "show", &[told["dream"].as_str().unwrap()]).output;
    assert!(shown.contains("    so far\n") && shown.contains("failed: "), "{shown}");
    let nothing = telos_dream(&up, "run", &[]);
    assert!(nothing.code == Some(2) && nothing.errors.contains("--command"), "{}", nothing.errors);
}

#[test]
fn errors_of_a_world_dream_are_shown_as_eval_shows_them() {
    let up = Up::start(&[]);
    let failed = telos_dream(&up, "run", &["--rung", "world", "-e", "Date now"]);
    assert_eq!(failed.code, Some(1));
    for part in ["error: ", "no clock", "--> dream:1:6"] {
        assert!(failed.errors.contains(part), "{part} in {}", failed.errors);
    }
    assert_eq!(listed(&up)[0]["status"], "failed");
}

/// The fork copied what the transaction that asked for it had printed; and it knew no names.
#[test]
fn the_image_reads_of_its_dream_what_the_command_line_shows() {
    let up = Up::start(&[]);
    up.send(ACCOUNT);
    up.send(
        "\"of live\" println; Lobby mine := Telos dream(\"raise\", block(\"of it\" println; Account balance = 77))",
    );
    wait_for("it is over", || up.send("mine isOver").output == "true\n");
    assert_eq!(up.send("mine log").output.trim_end(), "of it");
    let diff = up.send("mine diff").output;
    for line in ["Account (", "- balance := 10", "+ balance := 77"] {
        assert!(diff.contains(line), "{line} in {diff}");
    }
    let name = up.send("mine id").output;
    let shown = telos_dream(&up, "show", &[name.trim()]).output;
    assert!(shown.trim_end().ends_with(diff.trim_end()), "{shown} and {diff}");
}

#[test]
fn a_diff_says_that_live_went_on_and_leaves_out_what_the_machine_keeps() {
    let up = Up::start(&[]);
    up.send(ACCOUNT);
    up.send("Lobby worker := Object clone do(go := method(loop(wait(3600)))); worker asyncSend(go); nil");
    let (told, _) = ran(&up, &["-e", "yield; Account balance = 3; Date now; nil"]);
    let name = told["dream"].as_str().unwrap();
    up.send("Account balance = 12");
    let shown = telos_dream(&up, "show", &[name]).output;
    assert!(shown.contains("compared with the image as it is now, 1 commit later"), "{shown}");
    let changed: Vec<&str> = shown.lines().skip_while(|line| !line.starts_with("Account")).collect();
    assert_eq!(changed[1..3], ["  - balance := 12", "  + balance := 3"], "{shown}");
    assert!(!shown.contains("Scheduler") && !shown.contains("Date ("), "{shown}");
    let count = told["journal"]["machine_objects"].as_u64().unwrap();
    assert!(count > 0 && shown.contains("of the machine changed"), "{shown}");
    let all = telos_dream(&up, "show", &["--all", name]).output;
    assert!(all.lines().count() > shown.lines().count() && !all.contains("of the machine changed"), "{all}");
}

/// It was listed as running for ever, and what could be read of it was merged.
#[test]
fn a_dream_whose_end_cannot_be_read_is_damaged() {
    let up = Up::start(&[]);
    let (page, _) = ran(&up, &["--keep", "-e", "Lobby tree := 1; nil"]);
    let name = page["dream"].as_str().expect("it has a name").to_string();
    let dreams = up.directory.join("dreams");
    let file = std::fs::read_dir(&dreams).unwrap().next().unwrap().unwrap().path();
    let mut bytes = std::fs::read(&file).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    std::fs::write(&file, bytes).unwrap();
    assert_eq!(listed(&up)[0]["status"], "damaged", "{}", listed(&up));
    let shown = telos_dream(&up, "show", &[&name]);
    assert!(shown.output.contains("damaged") && shown.output.contains("telos dream discard"), "{shown:?}");
    let merged = telos_dream(&up, "merge", &[&name]);
    assert!(merged.code == Some(1) && merged.errors.contains("damaged"), "{merged:?}");
    telos_dream(&up, "discard", &[&name]).ok();
}

/// It was gone after its minute, and whoever asked was told that there is no such dream.
#[test]
fn a_dream_whose_time_was_up_says_so_and_how_to_go_on() {
    let up = Up::start(&[]);
    let name = telos_dream(&up, "new", &["--lifetime", "2s"]).ok().trim_end().to_string();
    wait_for("its time is up", || json(&telos_dream(&up, "show", &["--json", &name]))["status"] == "killed");
    let ran = telos_dream(&up, "eval", &[&name, "1 + 1"]);
    assert!(ran.code == Some(1) && ran.errors.contains(&format!("dream {name} is over: its time was up")), "{ran:?}");
    assert!(ran.errors.contains(&format!("telos dream resume {name} goes on with it; --lifetime TIME")), "{ran:?}");
    telos_dream(&up, "resume", &[&name]).ok();
    assert_eq!(telos_dream(&up, "eval", &[&name, "1 + 1"]).ok(), "2\n");
    telos_dream(&up, "end", &[&name]).ok();
    let ran = telos_dream(&up, "eval", &[&name, "1 + 1"]);
    assert!(ran.errors.contains(&format!("dream {name} is over\n")), "nobody and nothing ended it: {ran:?}");
}

/// They were taken and had no effect.
#[test]
fn options_that_would_have_no_effect_are_refused() {
    let up = Up::start(&[]);
    let name = telos_dream(&up, "new", &[]).ok().trim_end().to_string();
    telos_dream(&up, "end", &[&name]).ok();
    for (verb, arguments, named) in [
        ("resume", &["--within", "d1", &name][..], "--within"),
        ("run", &["--rung", "world", "--command", "true"], "--rung world"),
        ("run", &["--test", "GardenTest testGate", "-e", "1"], "--policy, --only and --test"),
    ] {
        let ran = telos_dream(&up, verb, arguments);
        assert!(ran.code == Some(2) && ran.errors.contains(named), "{arguments:?}: {ran:?}");
    }
}
