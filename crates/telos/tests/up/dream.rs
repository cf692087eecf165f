//! Dreams through the command line: what they see, that nothing of them reaches live, what is written down, and how they end.

use crate::launch::up::{Up, is_alive, signal, wait_for};
use crate::launch::{Ran, telos_in};
use keeper::Client;
use keeper::protocol::{Command, DreamBegun, DreamOrder, FailureKind, Outcome, Request};
use serde_json::Value;
use std::path::Path;

pub fn telos_dream(up: &Up, verb: &str, arguments: &[&str]) -> Ran {
    let directory = up.directory.to_str().expect("temporary files have plain names");
    let all: Vec<&str> = ["dream", verb, "--image", directory].iter().chain(arguments).copied().collect();
    telos_in(Path::new("."), &all, "")
}

pub fn begun(client: &mut Client, order: DreamOrder) -> DreamBegun {
    match client.send(&Request::new(Command::Dream(Box::new(order)))).unwrap().outcome {
        Outcome::Value(shown) => serde_json::from_str(&shown.text).unwrap(),
        Outcome::Failure(failure) => panic!("{}", failure.message),
    }
}

pub fn within(dream: &str, source: &str) -> Request {
    Request { dream: Some(dream.into()), ..Request::evaluate(source) }
}

pub fn asked(client: &mut Client, request: &Request) -> Result<String, (FailureKind, String)> {
    match client.send(request).unwrap().outcome {
        Outcome::Value(shown) => Ok(shown.text),
        Outcome::Failure(failure) => Err((failure.kind, failure.message)),
    }
}

pub fn page(up: &Up, dream: &str) -> Value {
    let shown = telos_dream(up, "show", &["--json", dream]);
    assert_eq!(shown.code, Some(0), "{}", shown.errors);
    serde_json::from_str(&shown.output).unwrap()
}

/// Processes below the image process: attendants, and below those dreamers.
pub fn below(pid: u32) -> Vec<u32> {
    let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    let children: Vec<u32> = children.split_whitespace().filter_map(|pid| pid.parse().ok()).collect();
    children.iter().copied().chain(children.iter().flat_map(|child| below(*child))).collect()
}

pub const ACCOUNT: &str = "Account := Object clone do(balance := 10; tax := method(balance * 0.1)); nil";

#[test]
fn a_script_runs_in_a_dream_and_what_it_would_change_is_shown() {
    let up = Up::start(&[]);
    up.send(ACCOUNT);
    let source = "Account tax = method(balance * 0.2); Account balance = 50; Account rate := 0.2; Account tax";
    let ran = telos_dream(&up, "run", &["--mandate", "raise the tax", "-e", source]);
    assert_eq!(ran.code, Some(0), "{}", ran.errors);
    for line in
        ["10", "- balance := 10", "+ balance := 50", "- tax := method(balance * 0.1)", "+ tax := method(balance * 0.2)"]
    {
        assert!(ran.output.lines().any(|each| each.trim() == line), "{line} in {}", ran.output);
    }
    assert_eq!(up.send("Account tax .. \" \" .. Account hasSlot(\"rate\")").output, "1 false\n");
    assert_eq!(telos_dream(&up, "run", &["-e", "1 foo"]).code, Some(1), "exit codes are those of eval");
}

#[test]
fn a_dream_is_spoken_to_and_live_goes_on_meanwhile() {
    let up = Up::start(&[]);
    up.send(ACCOUNT);
    let mut client = up.client();
    let dream = begun(&mut client, DreamOrder::default()).dream;
    assert_eq!(asked(&mut client, &within(&dream, "Account balance = 1000")), Ok("1000".into()));
    assert_eq!(asked(&mut client, &Request::evaluate("Account balance = 20")), Ok("20".into()));
    assert_eq!(asked(&mut client, &within(&dream, "Account balance")), Ok("1000".into()));
    let (kind, message) = asked(&mut client, &within("d4711", "1")).unwrap_err();
    assert_eq!((kind, message.contains("dream list")), (FailureKind::Refused, true), "{message}");
    // What is begun twice is two dreams, with ids of their own.
    let other = begun(&mut client, DreamOrder::default()).dream;
    assert_eq!(asked(&mut client, &within(&other, "Account balance")), Ok("20".into()));
    assert_ne!(dream, other);
    assert_eq!(telos_dream(&up, "discard", &[&dream, &other]).code, Some(0));
    assert_eq!(telos_dream(&up, "list", &[]).output, "");
    wait_for("nothing is left of them", || below(up.image_pid).is_empty());
}

#[test]
fn a_dream_reaches_nothing_of_the_host() {
    let up = Up::start(&[]);
    let mut client = up.client();
    let dream = begun(&mut client, DreamOrder::default()).dream;
    let mut refused = |source: &str, word: &str| {
        let (_, message) = asked(&mut client, &within(&dream, source)).unwrap_err();
        assert!(message.contains(word), "{source}: {message}");
    };
    refused("File with(\"/etc/passwd\") openForReading", "no such file");
    refused("System system(\"id\")", "blocked");
    refused("File with(\"/new\") openForUpdating", "read-only");
    let list = asked(&mut client, &within(&dream, "Directory with(\"/\") items map(name) sort join(\" \")"));
    assert_eq!(list, Ok(". .. dev etc proc tmp".into()));
    assert_eq!(asked(&mut client, &within(&dream, "System getEnvironmentVariable(\"PATH\")")), Ok("nil".into()));
}

#[test]
fn a_dream_has_its_time_and_a_request_to_it_has_its_own() {
    let up = Up::start(&[]);
    let mut client = up.client();
    let dream = begun(&mut client, DreamOrder { time_ms: Some(60_000), ..DreamOrder::default() }).dream;
    let endless = Request { timeout_ms: Some(100), ..within(&dream, "while(true, 1)") };
    assert_eq!(asked(&mut client, &endless).unwrap_err().0, FailureKind::Timeout);
    assert_eq!(asked(&mut client, &within(&dream, "1 + 1")), Ok("2".into()), "it goes on");
    let short = begun(&mut client, DreamOrder { time_ms: Some(300), is_kept: true, ..DreamOrder::default() }).dream;
    assert_eq!(asked(&mut client, &within(&short, "while(true, 1)")).unwrap_err().0, FailureKind::Lost);
    let page = page(&up, &short);
    assert_eq!((&page["status"], &page["reason"]), (&"killed".into(), &"it had no time left".into()));
}

#[test]
fn what_a_dream_did_is_kept_over_a_restart() {
    let mut up = Up::start(&[]);
    up.send(ACCOUNT);
    let ran = telos_dream(&up, "run", &["--keep", "--json", "-e", "Account balance = 7; list(1, 2)"]);
    let told: Value = serde_json::from_str(&ran.output).unwrap();
    let name = told["dream"].as_str().unwrap().to_string();
    assert_eq!(told["answer"]["value"], serde_json::json!([1, 2]));
    up.stop();
    up.start_again(&[]);
    let page = page(&up, &name);
    assert_eq!((&page["status"], &page["commit"]), (&"ended".into(), &told["journal"]["commit"]));
    let change = &page["changes"][0];
    assert_eq!(
        (&change["operation"], &change["slot_name"], &change["value"]),
        (&"SLOT_SET".into(), &"balance".into(), &7.0.into())
    );
}

#[test]
fn the_status_tells_how_long_live_stood_still_for_dreams() {
    let up = Up::start(&[]);
    let mut client = up.client();
    assert!(!client.status().unwrap().image.contains_key("dreams"));
    (0..2).for_each(|_| drop(begun(&mut client, DreamOrder::default())));
    let told = client.status().unwrap().image["dreams"].clone();
    assert_eq!(told["begun"], 2);
    assert!(told["longest_pause_us"].as_u64() >= told["last_pause_us"].as_u64(), "{told}");
}

/// Whichever of the processes of a dream ends: nothing of it is left, and the live image does not notice.
#[test]
fn a_dream_ends_with_any_of_its_processes() {
    let up = Up::start(&[]);
    up.send(ACCOUNT);
    let mut client = up.client();
    for victim in 0..2 {
        let dream = begun(&mut client, DreamOrder { is_kept: true, ..DreamOrder::default() }).dream;
        assert_eq!(asked(&mut client, &within(&dream, "Account balance = 11")), Ok("11".into()));
        let processes = below(up.image_pid);
        assert_eq!(processes.len(), 2, "an attendant and a dreamer");
        signal(processes[victim], "KILL");
        assert!(asked(&mut client, &within(&dream, "1")).is_err());
        wait_for("both have gone", || below(up.image_pid).is_empty() && !processes.iter().any(|pid| is_alive(*pid)));
        assert_eq!(asked(&mut client, &Request::evaluate("Account balance")), Ok("10".into()));
        let changes = page(&up, &dream)["changes"].as_array().unwrap().len();
        assert_eq!(changes, 1, "what was answered is written down");
    }
}

#[test]
fn dreams_end_with_the_keeper_and_with_the_image() {
    for is_keeper in [true, false] {
        let mut up = Up::start(&[]);
        let mut client = up.client();
        (0..3).for_each(|_| drop(begun(&mut client, DreamOrder::default())));
        wait_for("each has two processes", || below(up.image_pid).len() == 6);
        let processes = below(up.image_pid);
        signal(if is_keeper { up.pid() } else { up.image_pid }, "KILL");
        up.ended();
        wait_for("all have gone", || !processes.iter().any(|pid| is_alive(*pid)));
    }
}

#[test]
fn a_kept_dream_goes_on_where_it_was_whatever_live_did_since() {
    let mut up = Up::start(&[]);
    up.send(ACCOUNT);
    let ran = telos_dream(&up, "run", &["--keep", "--json", "-e", "Account balance = 7; Account rate := 3; nil"]);
    let told: Value = serde_json::from_str(&ran.output).unwrap();
    let name = told["dream"].as_str().unwrap().to_string();
    up.send("Account balance = 99; Account tax = method(0)");
    up.stop();
    up.start_again(&[]);
    up.send("Account other := 1; Account removeSlot(\"tax\")");
    let resumed = telos_dream(&up, "resume", &[&name]);
    assert_eq!(resumed.output.trim(), name, "{}", resumed.errors);
    let mut client = up.client();
    let seen = within(&name, "list(Account balance, Account rate, Account tax > 0.6, Account hasSlot(\"other\"))");
    assert_eq!(asked(&mut client, &seen), Ok("list(7, 3, true, false)".into()));
    assert_eq!(asked(&mut client, &within(&name, "Account rate = 4")), Ok("4".into()));
    let (_, message) = asked(&mut client, &Request::new(Command::DiscardDream(name.clone()))).unwrap_err();
    assert!(message.contains("is running"), "{message}");
    asked(&mut client, &Request { dream: Some(name.clone()), ..Request::new(Command::Wake) }).unwrap_err();
    let page = page(&up, &name);
    assert_eq!(page["changes"].as_array().unwrap().len(), 3);
    assert_eq!(page["status"], "ended");
    assert_eq!(up.send("Account balance").output, "99\n");
}

/// From inside: the dream begins with the commit, and live can look at it later.
#[test]
fn the_image_itself_begins_dreams_and_reads_what_came_of_them() {
    let up = Up::start(&[]);
    up.send(ACCOUNT);
    let asked = "Lobby mine := Telos dream(\"raise it\", block(Account balance = 77; \"so\" println; Account tax)); mine status";
    assert_eq!(up.send(asked).output, "waiting\n");
    wait_for("it is over", || up.send("mine isOver").output == "true\n");
    assert_eq!(
        up.send("list(mine status, mine log, mine journal size, mine journal first at(\"value\"))").output,
        "list(\"ended\", \"so\\n\", 1, 77)\n"
    );
    assert_eq!(up.send("Account balance").output, "10\n");
    assert!(up.send("mine diff").output.contains("+ balance := 77"));
    // One that was asked for in vain never begins.
    up.send("Telos dream(\"never\", block(1)); Exception raise(\"no\")");
    up.send("Lobby bad := Telos dream(\"fails\", block(1 foo))");
    wait_for("it is over", || up.send("bad isOver").output == "true\n");
    let told = up.send("bad status .. \" \" .. bad log").output;
    assert!(told.starts_with("failed ") && told.contains("foo"), "{told}");
    assert_eq!(telos_dream(&up, "list", &[]).output.lines().count(), 3, "a heading, and both");
    up.send("mine discard; bad discard");
    assert_eq!(telos_dream(&up, "list", &[]).output, "");
}

#[test]
fn a_world_dream_is_the_same_from_its_journal_on_and_is_given_nothing_of_the_host() {
    let up = Up::start(&[]);
    up.send(ACCOUNT);
    let ran = telos_dream(
        &up,
        "run",
        &["--rung", "world", "-e", "Account balance = 5; Account tax = method(1); Account tax"],
    );
    assert_eq!(ran.code, Some(0), "{}", ran.errors);
    for line in ["1", "- balance := 10", "+ balance := 5", "+ tax := method(1)"] {
        assert!(ran.output.lines().any(|each| each.trim() == line), "{line} in {}", ran.output);
    }
    assert_eq!(up.send("Account balance").output, "10\n");
    let refused = telos_dream(&up, "run", &["--rung", "world", "-e", "System system(\"id\")"]);
    assert_eq!(refused.code, Some(1));
    assert!(refused.errors.contains("given no processes"), "{}", refused.errors);
    assert!(refused.errors.contains("help: a world dream is given nothing of the host: --rung process"), "{refused:?}");
    assert_eq!(up.send("System system(\"true\")").output, "0\n", "live has it again");
}

/// A dream in which another is begun: that one sees what the first did, and neither sees what the other does from then on.
#[test]
fn a_dream_is_begun_inside_of_another_and_goes_on_from_there() {
    let mut up = Up::start(&[]);
    up.send(ACCOUNT);
    let mut client = up.client();
    let outer = begun(&mut client, DreamOrder { is_kept: true, ..DreamOrder::default() }).dream;
    assert_eq!(asked(&mut client, &within(&outer, "Account balance = 50")), Ok("50".into()));
    up.send("Account balance = 77");
    let order = DreamOrder { within: Some(outer.clone()), is_kept: true, ..DreamOrder::default() };
    let inner = begun(&mut client, order).dream;
    assert_eq!(asked(&mut client, &within(&inner, "Account balance")), Ok("50".into()));
    assert_eq!(asked(&mut client, &within(&inner, "Account balance = Account balance + 1")), Ok("51".into()));
    assert_eq!(asked(&mut client, &within(&outer, "Account balance = 60; Account rate := 2")), Ok("2".into()));
    assert_eq!(
        asked(&mut client, &within(&inner, "Account balance .. Account hasSlot(\"rate\")")),
        Ok("51false".into())
    );
    let told = page(&up, &inner);
    assert_eq!((told["parent"].as_str(), told["changes"].as_array().map(Vec::len)), (Some(outer.as_str()), Some(1)));
    drop(client);
    assert_eq!(up.stop().0, Some(0));
    up.start_again(&[]);
    // Made again, it is what it was, though the one around it went on.
    assert_eq!(telos_dream(&up, "resume", &[&inner]).code, Some(0));
    assert_eq!(telos_dream(&up, "eval", &[&inner, "Account balance .. Account hasSlot(\"rate\")"]).output, "51false\n");
    assert_eq!(up.send("Account balance").output, "77\n");
}

#[test]
fn dreams_nest_to_a_depth_and_no_deeper() {
    let up = Up::start(&[]);
    let mut client = up.client();
    let mut dream = begun(&mut client, DreamOrder::default()).dream;
    for depth in 1..=dream::DEPTH_MAX {
        assert_eq!(
            asked(&mut client, &within(&dream, &format!("Lobby depth{depth} := {depth}"))),
            Ok(depth.to_string())
        );
        let order = DreamOrder { within: Some(dream.clone()), ..DreamOrder::default() };
        match client.send(&Request::new(Command::Dream(Box::new(order)))).unwrap().outcome {
            Outcome::Value(shown) => dream = serde_json::from_str::<DreamBegun>(&shown.text).unwrap().dream,
            Outcome::Failure(failure) => {
                assert_eq!(depth, dream::DEPTH_MAX);
                assert!(failure.message.contains("deep"), "{}", failure.message);
            }
        }
    }
    assert_eq!(asked(&mut client, &within(&dream, "depth1 + depth2 + depth3")), Ok("6".into()));
    let missing = telos_dream(&up, "new", &["--within", "d4711"]);
    assert!(missing.code == Some(1) && missing.errors.contains("no dream d4711"), "{}", missing.errors);
}

/// The block's dream is begun by the live image, and the dream that asked for it hears of it as live would.
#[test]
fn a_program_in_a_dream_begins_another_and_reads_what_became_of_it() {
    let up = Up::start(&[]);
    up.send(ACCOUNT);
    let mut client = up.client();
    let outer = begun(&mut client, DreamOrder::default()).dream;
    let asks = "Account balance = 11; inner := Telos dream(\"deeper\", block(Account balance = Account balance * 2)); inner id";
    let inner = asked(&mut client, &within(&outer, asks)).unwrap();
    let mut over = || asked(&mut client, &within(&outer, "inner isOver")).unwrap() == "true";
    wait_for("it has ended", &mut over);
    let told = asked(&mut client, &within(&outer, "inner status .. inner journal first at(\"value\")")).unwrap();
    assert_eq!(told, "ended22");
    assert_eq!(page(&up, &inner)["parent"].as_str(), Some(outer.as_str()));
    // It knows of none but its own.
    let other = begun(&mut client, DreamOrder::default()).dream;
    assert_eq!(asked(&mut client, &within(&other, "1")), Ok("1".into()));
    let (_, message) = asked(&mut client, &within(&outer, &format!("Dream pageOf(\"{other}\")"))).unwrap_err();
    assert!(message.contains("inside of"), "{message}");
    assert_eq!(asked(&mut client, &within(&outer, "inner discard; inner status")), Ok("waiting".into()));
    assert_eq!(up.send("Account balance").output, "10\n");
}

/// Limits that only a process can keep were taken for a world dream, and did not hold.
#[test]
fn a_world_dream_keeps_its_time_and_refuses_what_it_has_not() {
    let up = Up::start(&[]);
    let late = telos_dream(&up, "run", &["--rung", "world", "--lifetime", "300ms", "-e", "loop(nil)"]);
    assert!(late.code == Some(124) && late.errors.contains("timed out after 0.3 s"), "{}{}", late.output, late.errors);
    for (option, value) in [("--read", "/usr"), ("--room", "64M"), ("--within", "d1")] {
        let refused = telos_dream(&up, "run", &["--rung", "world", option, value, "-e", "1"]);
        assert!(refused.code == Some(1) && refused.errors.contains("higher rung"), "{option}: {}", refused.errors);
    }
    let [low, high] = [&[][..], &["--read", "/usr"]].map(|more| {
        let arguments = [&["--json", "--at-least", "world", "-e", "1 + 1"][..], more].concat();
        let ran = telos_dream(&up, "run", &arguments);
        serde_json::from_str::<Value>(&ran.output).unwrap_or_else(|_| panic!("{}{}", ran.output, ran.errors))
    });
    assert!(low["answer"]["value"] == 2 && high["answer"]["value"] == 2, "{low} {high}");
    // Nobody counts what a world dream uses, for it is the live machine that does.
    assert!(low["journal"]["usage"]["memory_bytes"] == 0 && high["journal"]["usage"]["memory_bytes"] != 0);
}

/// It was cut in the middle of its JSON, and what stood beside the long values could not be seen.
#[test]
fn a_dream_with_long_values_is_shown_whole_and_nothing_hides_behind_them() {
    let up = Up::start(&[]);
    up.send(ACCOUNT);
    let source = "2 repeat(i, Lobby setSlot(\"long\" .. i, Sequence clone alignLeft(3000000, \"x\"))); \
                  Account tax = method(0); 60000 repeat(i, Account setSlot(\"s\" .. i, i)); nil";
    let ran = telos_dream(&up, "run", &["--keep", "-e", source]);
    assert_eq!(ran.code, Some(0), "{}", ran.errors);
    assert!(ran.output.contains("+ tax := method(0)"), "the change that matters");
    let list: Value = serde_json::from_str(&telos_dream(&up, "list", &["--json"]).output).unwrap();
    let told = page(&up, list[0]["dream"].as_str().unwrap());
    let changes = told["changes"].as_array().unwrap();
    assert!(changes.len() > 60_000 && told["more_from"].is_null(), "{}", changes.len());
    assert!(changes.iter().any(|change| change["slot_name"] == "tax"));
    assert!(changes.iter().any(|change| change["slot_name"] == "s59999"));
}

#[test]
fn a_dream_that_cannot_go_on_says_why_when_it_is_resumed() {
    let up = Up::start(&[]);
    let mut client = up.client();
    let dream = begun(&mut client, DreamOrder { is_kept: true, ..DreamOrder::default() }).dream;
    assert_eq!(asked(&mut client, &within(&dream, "Lobby x := \"some text of a length\"; 1")), Ok("1".into()));
    client.send(&Request { dream: Some(dream.clone()), ..Request::new(Command::Wake) }).unwrap();
    wait_for("it has ended", || page(&up, &dream)["status"] == "ended");
    let file = up.directory.join("dreams").join(&dream);
    let mut bytes = std::fs::read(&file).unwrap();
    let at = bytes.windows(9).position(|window| window == b"some text").unwrap();
    bytes[at] ^= 1;
    std::fs::write(&file, bytes).unwrap();
    let resumed = telos_dream(&up, "resume", &[&dream]);
    assert!(resumed.code == Some(1) && resumed.errors.contains("damaged"), "{}{}", resumed.output, resumed.errors);
}

/// A mandate of 300,000 letters was taken, and `dream list` panicked for as long as the dream was kept: no column is so wide.
#[test]
fn a_mandate_has_a_bound_and_a_list_is_short() {
    let up = Up::start(&[]);
    let ran = up.send("Telos mergeEvolution(\"y\" repeated(300000), block(1)); nil");
    assert!(ran.code == Some(1) && ran.errors.contains("4096 are the most"), "{ran:?}");
    let long = "ü".repeat(2049);
    for rung in ["process", "world"] {
        let ran = telos_dream(&up, "run", &["--rung", rung, "--mandate", &long, "-e", "1"]);
        assert!(ran.code == Some(1) && ran.errors.contains("4096 are the most"), "{ran:?}");
    }
    telos_dream(&up, "new", &["--keep", "--mandate", &long[2..]]).ok();
    let list = telos_dream(&up, "list", &[]).ok();
    assert!(list.lines().all(|line| line.chars().count() < 300) && list.contains("üü…"), "{list}");
}

/// "the frame at byte 0 has 40000099 bytes": nobody knows what a frame is, nor what to do about one.
#[test]
fn a_value_that_no_journal_takes_is_told_with_what_to_do() {
    let up = Up::start(&[]);
    let source = "Lobby big := \"x\" repeated(40000000); nil";
    let ran = up.telos(&["dream", "run", "-e", source]);
    assert!(ran.code == Some(1) && ran.errors.contains("let it write less, or in several transactions"), "{ran:?}");
}
