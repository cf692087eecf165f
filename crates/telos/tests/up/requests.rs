//! `up`, `send`, `status` and the attached dialogue: what a user of a living image sees.

use crate::launch::up::{Up, is_alive, wait_for};
use crate::launch::{telos, telos_in};
use keeper::protocol::{FailureKind, Outcome, Request};
use std::os::unix::fs::PermissionsExt;

#[test]
fn an_image_comes_up_answers_and_stops() {
    let mut up = Up::start(&[]);
    let socket = up.directory.join("telos.sock");
    assert_eq!(std::fs::metadata(&socket).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(up.send("1 + 2").ok(), "3\n");
    assert_eq!(up.send("x := list(1, \"a\")").ok(), "list(1, \"a\")\n");
    assert_eq!(up.send("x size println; nil").ok(), "2\n");
    assert_eq!(up.send("nil").ok(), "");
    assert_eq!(up.run(&["send", "-"], "x append(3)\nx size").ok(), "3\n");
    let json: serde_json::Value = serde_json::from_str(&up.run(&["send", "--json", "x"], "").ok()).unwrap();
    assert_eq!((&json["value"], &json["type"]), (&serde_json::json!([1, "a", 3]), &"List".into()));
    let status: serde_json::Value = serde_json::from_str(&up.run(&["status", "--json"], "").ok()).unwrap();
    assert_eq!((&status["state"], &status["keeper_pid"]), (&"running".into(), &up.pid().into()));
    assert!(up.run(&["status"], "").ok().contains("is running"));
    assert_eq!(up.stop(), (Some(0), String::new()));
    assert!(!socket.exists());
    let gone = up.send("1");
    assert_eq!(gone.code, Some(1));
    assert!(gone.errors.contains("no image is up in") && gone.errors.contains("telos up"), "{gone:?}");
    wait_for("the image process has ended too", || !is_alive(up.image_pid));
}

#[test]
fn failures_look_and_end_as_those_of_eval() {
    let up = Up::start(&[]);
    for expression in ["list(1) appendd(2)", "1 +(", "f := method(x, x foo); f(3)", "\"hi\" print; nil foo", "if 1 > 2"]
    {
        let (sent, evaluated) = (up.send(expression), telos(&["eval", expression]));
        let told = sent.errors.replace("send:", "eval:");
        assert_eq!((sent.code, sent.output, told), (evaluated.code, evaluated.output, evaluated.errors));
    }
    let code = |arguments: &[&str]| up.run(arguments, "").code;
    assert_eq!(code(&["send", "--fuel", "1000", "loop(nil)"]), Some(122));
    assert_eq!(code(&["send", "--memory", "1M", "l := list(); loop(l append(Object clone))"]), Some(123));
    assert_eq!(code(&["send", "--timeout", "50ms", "loop(nil)"]), Some(124));
    assert_eq!(code(&["send", "System exit(7)"]), Some(7));
    assert_eq!(up.send("1 + 1").ok(), "2\n", "and it goes on");
    let error = up.run(&["send", "--json", "list appendd"], "");
    let json: serde_json::Value = serde_json::from_str(&error.output).unwrap();
    assert_eq!((error.code, &json["error"]["hint"]), (Some(1), &"did you mean 'append'?".into()));
}

#[test]
fn limits_of_the_image_hold_for_every_request() {
    let up = Up::start(&["--fuel", "100k", "--deny", "files", "--timeout", "20s"]);
    assert_eq!(up.send("loop(nil)").code, Some(122));
    assert_eq!(up.run(&["send", "--fuel", "1e9", "loop(nil)"], "").code, Some(122));
    assert!(up.send("File with(\"x\") contents").errors.contains("given no files"));
}

#[test]
fn a_second_keeper_is_told_who_is_there() {
    let mut up = Up::start(&[]);
    let second = telos(&["up", up.directory.to_str().unwrap()]);
    assert_eq!(second.code, Some(1));
    assert!(second.errors.contains("is up already") && second.errors.contains(&up.pid().to_string()), "{second:?}");
    assert_eq!(up.send("1").ok(), "1\n", "and the first is not disturbed");
    up.stop();
    drop(Up::start_in(&up.directory, &[]));
}

/// Whoever starts a keeper may have secrets in the environment and files open; neither is the image's business.
#[test]
fn the_image_process_inherits_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let script = "exec 7</etc/passwd; exec \"$0\" up --env SHARED --json image";
    let mut child = std::process::Command::new("sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_telos")])
        .current_dir(directory.path())
        .envs([("SECRET", "1"), ("SHARED", "2")])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(child.stdout.take().unwrap()), &mut line).unwrap();
    let ready: serde_json::Value = serde_json::from_str(&line).unwrap();
    let process = format!("/proc/{}", ready["image_pid"]);
    let environment = std::fs::read_to_string(format!("{process}/environ")).unwrap();
    let links = std::fs::read_dir(format!("{process}/fd")).unwrap().flatten();
    let open: Vec<_> = links.filter_map(|link| std::fs::read_link(link.path()).ok()).collect();
    crate::launch::up::signal(child.id(), "TERM");
    assert!(child.wait().unwrap().success());
    assert!(environment.contains("SHARED=2") && !environment.contains("SECRET"), "{environment}");
    assert!(open.iter().all(|path| !path.ends_with("passwd")), "{open:?}");
    assert_eq!(open.iter().filter(|path| path.to_string_lossy().starts_with("/dev/null")).count(), 1, "{open:?}");
}

#[test]
fn a_dialogue_attaches_to_an_image_that_is_up() {
    let mut up = Up::start(&[]);
    up.send("tea := 3").ok();
    assert_eq!(up.run(&["repl"], "tea + 1\n\"a\"\ntea = 5\n").ok(), "==> 4\n==> \"a\"\n==> 5\n");
    assert_eq!(up.send("tea").ok(), "5\n");
    let failing = up.run(&["repl"], "1 foo\n2\n");
    assert!(failing.errors.contains("input 1:1:3") && failing.output == "==> 2\n", "{failing:?}");
    assert_eq!(failing.code, Some(1));
    assert!(up.run(&["repl"], "help List append\n").ok().contains("append"));
    assert!(up.run(&["repl", "--no-host"], "1\n").errors.contains("telos up"));
    // In the image's own directory it need not be named.
    assert_eq!(telos_in(&up.directory, &["repl"], "tea\n").ok(), "==> 5\n");
    assert_eq!(telos_in(&up.directory, &["send", "tea"], "").ok(), "5\n");
    up.stop();
    let nowhere = telos(&["repl", "--image", up.directory.join("nowhere").to_str().unwrap()]);
    assert!(nowhere.code == Some(1) && nowhere.errors.contains("no image is up"), "{nowhere:?}");
}

#[test]
fn actors_go_on_between_requests() {
    let up = Up::start(&[]);
    up.send("Counter := Object clone do(n := 0; work := method(10 repeat(n = n + 1; yield)))").ok();
    up.send("Counter @@work; nil").ok();
    wait_for("the actor has done its work", || up.send("Counter n").ok() == "10\n");
    up.send("Late := Object clone do(done := false; work := method(wait(0.05); done = true))").ok();
    up.send("Late @@work; nil").ok();
    wait_for("the sleeper has woken up", || up.send("Late done").ok() == "true\n");
}

#[test]
fn nobody_makes_an_image_by_accident() {
    let directory = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| telos_in(directory.path(), arguments, "");
    let up = run(&["up"]);
    assert!(up.code == Some(1) && up.errors.contains("telos up DIR"), "{up:?}");
    let send = run(&["send", "1"]);
    assert!(send.code == Some(1) && send.errors.contains("--image DIR"), "{send:?}");
    let by_hand = run(&["image-process", "."]);
    assert!(by_hand.code == Some(1) && by_hand.errors.contains("telos up"), "{by_hand:?}");
}

#[test]
fn a_request_that_is_not_begun_times_out_too() {
    let up = Up::start(&[]);
    let mut busy = up.client();
    busy.post(&Request::evaluate("loop(nil)")).unwrap();
    busy.flush().unwrap();
    let waiting = up.run(&["send", "--timeout", "100ms", "1"], "");
    assert_eq!(waiting.code, Some(124), "{waiting:?}");
    // The status is told while the machine is busy.
    let status: serde_json::Value = serde_json::from_str(&up.run(&["status", "--json"], "").ok()).unwrap();
    assert_eq!(status["image"]["doing"]["request"], "send");
    let canceller = busy.canceller().unwrap();
    canceller.cancel(1).unwrap();
    let (_, answer) = busy.receive().unwrap();
    assert!(matches!(answer.outcome, Outcome::Failure(failure) if failure.kind == FailureKind::Interrupted));
}
