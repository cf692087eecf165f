//! How a living image wakes up: genesis, `Telos awake`, and what happens when that fails.

use crate::launch::up::{Up, wait_for};
use crate::launch::{Ran, telos_in};
use serde_json::Value;
use std::path::Path;
use system::file::Lock;

fn status(up: &Up) -> Value {
    serde_json::from_str(&up.run(&["status", "--json"], "").ok()).unwrap()
}

fn log(up: &Up) -> Vec<(String, String)> {
    let commits: Vec<Value> = serde_json::from_str(&up.run(&["log", "--count=100", "--json"], "").ok()).unwrap();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_string();
    commits.iter().map(|commit| (text(&commit["author"]), text(&commit["cause"]))).collect()
}

/// Stops an image and wakes it up again.
fn again(up: &mut Up, arguments: &[&str]) {
    assert_eq!(up.stop().0, Some(0));
    up.start_again(arguments);
}

#[test]
fn a_new_image_is_born_with_a_root_object_and_told_that_it_is_awake() {
    let mut up = Up::start(&[]);
    assert_eq!(up.send("list(Telos type, Telos name, Telos born type, Telos wakings)").ok(), {
        "list(\"Telos\", \"Telos\", \"Date\", 1)\n"
    });
    assert_eq!(up.send("Telos failures").ok(), "list()\n");
    assert_eq!(log(&up), [("telos".into(), "awake".into()), ("telos".into(), "genesis".into())]);
    let told = status(&up);
    assert_eq!(told["image"]["awake"], "yes");
    let steps: Vec<&String> = told["image"]["waking"].as_object().unwrap().keys().collect();
    assert_eq!(steps, ["make", "open", "recover", "replay", "genesis", "awake"]);
    again(&mut up, &[]);
    assert_eq!(up.send("Telos wakings").ok(), "2\n");
    let told = status(&up);
    let steps: Vec<&String> = told["image"]["waking"].as_object().unwrap().keys().collect();
    assert_eq!(steps, ["open", "recover", "replay", "check", "awake"]);
}

#[test]
fn an_image_without_a_clock_does_not_know_when_it_was_born() {
    let up = Up::start(&["--deny", "clock"]);
    assert_eq!(up.send("Telos born type").ok(), "nil\n");
}

#[test]
fn awake_does_what_its_owner_put_there() {
    let mut up = Up::start(&[]);
    up.send("Telos awake := method(Lobby greeted := Date now; self)").ok();
    again(&mut up, &[]);
    assert_eq!(up.send("greeted type").ok(), "Date\n");
    // What it prints does not come before the line that says that it is up.
    up.send("Telos awake := method(\"good morning\" println)").ok();
    again(&mut up, &[]);
    assert!(up.stop().1.contains("good morning"));
}

/// Whatever `awake` does, the image is up, nothing of it stays, and why it failed is kept and told.
#[test]
fn an_image_whose_awake_fails_stays_up_and_keeps_the_failure() {
    let cases = [
        ("Telos awake := method(Lobby half := 1; nobody)", "does not respond to 'nobody'"),
        ("Telos awake := method(Lobby half := 1; loop(nil))", "fuel"),
        ("Telos awake := method(Lobby half := 1; System exit(3))", "exit"),
        ("Telos awake := method(Lobby half := 1; wait(1000))", "interrupted after 0.3 s"),
    ];
    let mut up = Up::start(&[]);
    for (number, (program, words)) in cases.into_iter().enumerate() {
        up.send(program).ok();
        again(&mut up, &["--fuel", "1M", "--timeout", "300ms"]);
        assert_eq!(up.send("1 + 2").ok(), "3\n");
        assert_eq!(up.send("Lobby hasLocalSlot(\"half\")").ok(), "false\n", "{program}");
        assert_eq!(up.send("Telos failures size").ok(), format!("{}\n", number + 1));
        let failure = up.send("Telos failures last").ok();
        assert!(failure.contains(words), "{failure}");
        assert!(status(&up)["image"]["awake"].as_str().unwrap().contains(words));
        let (author, cause) = &log(&up)[0];
        assert!(author == "telos" && cause.starts_with("awake failed: ") && cause.contains(words), "{cause}");
    }
    let (code, errors) = up.stop();
    assert_eq!((code, errors.matches("could not wake up").count()), (Some(0), 1), "{errors}");
}

#[test]
fn an_image_without_its_root_object_keeps_the_failure_in_the_lobby() {
    let mut up = Up::start(&[]);
    for (program, words) in [("Lobby removeSlot(\"Telos\")", "no Telos"), ("Telos := 5", "does not respond")] {
        up.allowed(program).ok();
        again(&mut up, &[]);
        assert_eq!(up.send("1 + 2").ok(), "3\n");
        let failure = up.send("awakeFailures last").ok();
        assert!(failure.contains(words), "{failure}");
    }
    assert_eq!(up.send("awakeFailures size").ok(), "2\n");
    up.allowed("Telos := Object clone do(awake := method(self))").ok();
    again(&mut up, &[]);
    assert_eq!(status(&up)["image"]["awake"], "yes");
}

/// The files were made, and the process was killed before the first commit: what is there is worth nothing, and no error.
#[test]
fn an_image_that_was_not_born_completely_is_born_the_next_time() {
    let mut up = Up::start(&[]);
    up.stop();
    let directory = tempfile::tempdir().unwrap();
    store::Store::make(directory.path(), &store::Options::default()).unwrap();
    let up = Up::start_in(directory.path(), &[]);
    assert_eq!(up.send("Telos wakings").ok(), "1\n");
    drop(up);
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("telos.img"), "precious").unwrap();
    let refused = telos_in(Path::new("."), &["up", directory.path().to_str().unwrap()], "");
    assert!(refused.code == Some(1) && refused.errors.contains("restore it from a backup"), "{refused:?}");
    assert_eq!(std::fs::read(directory.path().join("telos.img")).unwrap(), b"precious");
}

// ---- a dialogue with an image that is not up

fn repl(directory: &Path, arguments: &[&str], input: &str) -> Ran {
    let all: Vec<&str> = ["repl", "--image", directory.to_str().unwrap()].iter().chain(arguments).copied().collect();
    telos_in(Path::new("."), &all, input)
}

#[test]
fn a_dialogue_opens_an_image_that_is_not_up() {
    let mut up = Up::start(&[]);
    up.send("tea := 3").ok();
    up.stop();
    assert_eq!(repl(&up.directory, &[], "tea + 1\ntea = 5\nTelos wakings\n").ok(), "==> 4\n==> 5\n==> 2\n");
    let failing = repl(&up.directory, &[], "tea = 7; tea foo\ntea\n");
    assert_eq!((failing.code, failing.output.as_str()), (Some(1), "==> 5\n"), "what fails is taken back");
    assert!(failing.errors.contains("input 1:1:14"), "{failing:?}");
    assert_eq!(repl(&up.directory, &["--timeout", "50ms"], "loop(nil)\ntea\n").code, Some(124));
    assert_eq!(repl(&up.directory, &[], "System exit(7)\n").code, Some(7));
    let denied = repl(&up.directory, &["--deny", "files"], "File with(\"x\") contents\n");
    assert!(denied.errors.contains("given no files"), "{denied:?}");
    assert!(repl(&up.directory, &[], "help List append\n").ok().contains("append"));
    let worker = "W := Object clone do(n := 0; work := method(10 repeat(n = n + 1; yield)))\nW @@work; nil\nW n\n";
    assert_eq!(repl(&up.directory, &[], worker).ok().lines().last(), Some("==> 10"));
    up.start_again(&[]);
    assert_eq!(up.send("tea").ok(), "5\n");
    assert!(log(&up).iter().any(|(_, cause)| cause.trim() == "tea = 5"), "each input was a transaction");
}

#[test]
fn an_image_that_is_open_in_a_dialogue_is_nobody_elses() {
    let mut up = Up::start(&[]);
    up.stop();
    let mut dialogue = crate::launch::command(Path::new("."), &["repl", "--image", up.directory.to_str().unwrap()])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let holder = dialogue.id().to_string();
    wait_for("the dialogue has the image", || {
        std::fs::read_to_string(up.directory.join("telos.lock")).is_ok_and(|pid| pid.trim() == holder)
    });
    let refused = telos_in(Path::new("."), &["up", up.directory.to_str().unwrap()], "");
    assert!(refused.code == Some(1) && refused.errors.contains(&holder), "{refused:?}");
    assert!(up.send("1").errors.contains("telos up"), "and it is not up");
    drop(dialogue.stdin.take());
    assert!(dialogue.wait().unwrap().success());
    assert_eq!(Up::start_in(&up.directory, &[]).send("1 + 2").ok(), "3\n");
}

// ---- after a keeper that was killed

/// The image process of a keeper that is killed in the midst of a long commit held its lock for ten seconds.
#[test]
fn another_keeper_starts_at_once_after_one_was_killed() {
    let mut up = Up::start(&[]);
    for program in ["nil", "loop(nil)", "Big := list(); 300000 repeat(Big append(Object clone)); nil"] {
        let mut client = up.client();
        client.post(&keeper::protocol::Request::evaluate(program)).unwrap();
        client.flush().unwrap();
        up.signal("KILL");
        up.ended();
        up.start_again(&[]);
        assert_eq!(up.send("1 + 2").ok(), "3\n", "{program}");
    }
}

/// What is left of an image process in the kernel holds the lock until the last of its memory and files is given back.
#[test]
fn a_holder_that_is_ending_is_waited_for() {
    let mut up = Up::start(&[]);
    up.stop();
    let path = up.directory.join("telos.lock");
    let lock = Lock::take(&path).unwrap();
    // It is in the name of a process that is no more.
    std::fs::write(&path, format!("{}\n", up.image_pid)).unwrap();
    let directory = up.directory.clone();
    let second = std::thread::spawn(move || Up::start_in(&directory, &[]));
    wait_for("the second keeper has its seat", || keeper::Client::connect(&up.directory, "test").is_ok());
    drop(lock);
    let mut second = second.join().unwrap();
    assert_eq!(second.send("1 + 2").ok(), "3\n");
    second.stop();
}

// ---- an image that does harm when it wakes up

/// Nothing said how to get at an image whose waking ends its own process.
#[test]
fn an_image_that_kills_itself_on_waking_up_can_be_opened_asleep() {
    let mut up = Up::start(&[]);
    up.send("Telos awake := method(System system(\"kill -9 \" .. System thisProcessPid))").ok();
    up.send(
        "Late := Object clone do(work := method(wait(0.01); System system(\"kill -9 \" .. System thisProcessPid)))",
    )
    .ok();
    assert_eq!(up.stop().0, Some(0));
    let killed = telos_in(Path::new("/"), &["up", up.directory.to_str().unwrap()], "");
    assert!(killed.code == Some(1) && killed.errors.contains("telos up --asleep"), "{killed:?}");
    up.start_again(&["--asleep"]);
    // A coroutine has no turn either.
    up.send("Late @@work; nil").ok();
    assert_eq!(up.send("Scheduler yieldingCoros size").ok(), "1\n");
    assert!(status(&up)["image"]["awake"].as_str().unwrap().starts_with("no: it was started with --asleep"));
    up.send("Telos removeSlot(\"awake\"); Scheduler yieldingCoros removeAll; nil").ok();
    up.send("Telos awake := method(wakings = wakings + 1)").ok();
    again(&mut up, &[]);
    assert_eq!(up.send("Telos wakings").ok(), "2\n");
}
