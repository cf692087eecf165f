//! How a living image ends: told to, in a hurry, or by force.

use crate::launch::up::{Up, is_alive, signal, wait_for};
use keeper::protocol::{FailureKind, Outcome, Request};
use keeper::{Client, KeeperError};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Sends something that does not end by itself.
fn busy(up: &Up) -> Client {
    let mut client = up.client();
    client.post(&Request::evaluate("loop(nil)")).unwrap();
    client.flush().unwrap();
    let mut other = up.client();
    wait_for("the machine is busy", || other.status().unwrap().image["doing"]["request"] == "send");
    client
}

fn failure(client: &mut Client) -> (FailureKind, String) {
    match client.receive().unwrap().1.outcome {
        Outcome::Failure(failure) => (failure.kind, failure.message),
        Outcome::Value(shown) => panic!("{shown:?}"),
    }
}

/// What was begun is answered, and what was not is refused: so the answers tell exactly what was done.
#[test]
fn a_stop_under_load_answers_all_that_was_done() {
    let mut up = Up::start(&[]);
    let done = AtomicUsize::new(0);
    let append = "File with(\"done\") openForAppending write(\"x\") close; nil";
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let mut client = up.client();
                loop {
                    match client.send(&Request::evaluate(append)).map(|answer| answer.outcome) {
                        Ok(Outcome::Value(_)) => done.fetch_add(1, Ordering::SeqCst),
                        Ok(Outcome::Failure(failure)) => {
                            assert_eq!(failure.kind, FailureKind::Refused, "{failure:?}");
                            break;
                        }
                        Err(error) => {
                            assert!(matches!(error, KeeperError::KeeperGone | KeeperError::Refused(_)), "{error}");
                            break;
                        }
                    };
                }
            });
        }
        wait_for("they are at work", || done.load(Ordering::SeqCst) > 500);
        up.signal("TERM");
    });
    let (code, errors) = up.ended();
    assert_eq!(code, Some(0), "{errors}");
    let written = std::fs::read(up.directory.join("done")).unwrap().len();
    assert_eq!(written, done.load(Ordering::SeqCst));
}

#[test]
fn what_is_under_way_may_end_and_a_second_signal_hurries_it() {
    let mut up = Up::start(&[]);
    let mut client = busy(&up);
    up.signal("TERM");
    wait_for("newcomers are told", || {
        Client::connect(&up.directory, "late").is_err_and(|error| error.to_string().contains("stopping"))
    });
    assert!(is_alive(up.image_pid), "nothing is interrupted yet");
    up.signal("TERM");
    let (kind, message) = failure(&mut client);
    assert!(kind == FailureKind::Interrupted && message.contains("stopping"), "{message}");
    let (code, errors) = up.ended();
    assert_eq!(code, Some(0), "{errors}");
    assert!(errors.contains("1 request is under way"), "{errors}");
    assert!(!up.directory.join("telos.sock").exists());
}

/// `timeout` signals a program and then its group. An image that was closing was killed, and said to have taken too long.
#[test]
fn a_signal_that_comes_twice_lets_an_idle_image_close() {
    for pause_ms in [0, 2, 5, 10] {
        let mut up = Up::start(&[]);
        up.signal("TERM");
        std::thread::sleep(Duration::from_millis(pause_ms));
        up.signal("TERM");
        let (code, errors) = up.ended();
        assert_eq!(code, Some(0), "{pause_ms} ms: {errors}");
    }
}

#[test]
fn ctrl_c_stops_it_too() {
    let mut up = Up::start(&[]);
    up.signal("INT");
    assert_eq!(up.ended().0, Some(0));
}

/// Whoever stops a whole group of processes, as service managers do, means the keeper.
#[test]
fn the_image_process_leaves_stopping_to_the_keeper() {
    let mut up = Up::start(&[]);
    signal(up.image_pid, "TERM");
    signal(up.image_pid, "INT");
    assert_eq!(up.send("1 + 2").ok(), "3\n");
    signal(up.image_pid, "TERM");
    assert_eq!(up.stop().0, Some(0));
}

#[test]
fn when_the_image_process_dies_those_who_wait_are_told_and_the_keeper_ends() {
    let mut up = Up::start(&[]);
    let mut client = busy(&up);
    let mut waiting = up.client();
    waiting.post(&Request::evaluate("1")).unwrap();
    waiting.flush().unwrap();
    signal(up.image_pid, "KILL");
    let (kind, message) = failure(&mut client);
    assert!(kind == FailureKind::Lost && message.contains("signal 9") && message.contains("not known"), "{message}");
    assert!(matches!(failure(&mut waiting).0, FailureKind::Lost | FailureKind::Refused));
    let (code, errors) = up.ended();
    assert_eq!(code, Some(1));
    assert!(errors.contains("signal 9") && errors.contains(&up.image_pid.to_string()), "{errors}");
    assert!(!up.directory.join("telos.sock").exists());
    drop(Up::start_in(&up.directory, &[]));
}

#[test]
fn when_the_keeper_dies_the_image_process_ends_and_another_can_start() {
    let mut up = Up::start(&[]);
    let mut client = busy(&up);
    up.signal("KILL");
    let gone = client.receive().unwrap_err();
    assert!(matches!(gone, KeeperError::KeeperGone), "{gone}");
    up.ended();
    wait_for("the image process has noticed", || !is_alive(up.image_pid));
    assert!(up.directory.join("telos.sock").exists(), "nobody could remove it");
    let dead = up.send("1");
    assert!(dead.errors.contains("no image is up"), "{dead:?}");
    let again = Up::start_in(&up.directory, &[]);
    assert_eq!(again.send("1 + 2").ok(), "3\n");
}

#[test]
fn a_program_that_waits_for_the_system_is_stopped_too() {
    let mut up = Up::start(&[]);
    let waiting = up.run(&["send", "--timeout", "50ms", "System runCommand(\"sleep 600\")"], "");
    assert_eq!(waiting.code, Some(124), "{waiting:?}");
    assert_eq!(up.send("1 + 2").ok(), "3\n");
    assert_eq!(up.stop().0, Some(0));
}

/// Whatever keeps the image process from hearing, a client with a timeout gets its answer, and a stop its end.
#[test]
fn an_image_process_that_is_deaf_is_given_up() {
    let mut up = Up::start(&[]);
    signal(up.image_pid, "STOP");
    let deaf = up.run(&["send", "--timeout", "50ms", "1 + 2"], "");
    assert!(deaf.code == Some(124) && deaf.errors.contains("not known"), "{deaf:?}");
    let status = up.run(&["status"], "").ok();
    assert!(status.contains("does not say"), "{status}");
    signal(up.image_pid, "CONT");
    assert_eq!(up.send("1 + 2").ok(), "3\n", "nothing is broken by having waited");
    signal(up.image_pid, "STOP");
    up.signal("TERM");
    wait_for("it stops", || Client::connect(&up.directory, "late").is_err());
    up.signal("TERM");
    let (code, errors) = up.ended();
    // Who was in a hurry was told that the system may be out of memory.
    assert!(code == Some(1) && errors.contains("its keeper killed it"), "{errors}");
    assert!(!errors.contains("out of memory"), "{errors}");
}

/// Whoever waited for a keeper that was halted waited for ever, `--timeout` or not.
#[test]
fn a_keeper_that_does_not_answer_is_given_up() {
    let up = Up::start(&[]);
    let mut before = up.client();
    up.signal("STOP");
    let told =
        |ran: crate::launch::Ran| assert!(ran.code == Some(1) && ran.errors.contains("does not answer"), "{ran:?}");
    std::thread::scope(|scope| {
        scope.spawn(|| told(up.run(&["send", "--timeout", "1s", "1 + 2"], "")));
        scope.spawn(|| told(up.run(&["status"], "")));
        scope.spawn(|| {
            let directory = up.directory.to_str().unwrap();
            told(crate::launch::telos(&["image", "check", "--image", directory]));
        });
        scope.spawn(|| {
            let error = before.send(&Request::evaluate("1 + 2")).err().unwrap();
            assert!(error.to_string().contains(&format!("process {}", up.pid())), "{error}");
        });
    });
    up.signal("CONT");
    assert_eq!(up.send("1 + 2").ok(), "3\n");
}

/// The exit code said that it failed, and nothing said that it was done.
#[test]
fn an_answer_that_cannot_be_printed_does_not_hide_the_commit() {
    let up = Up::start(&[]);
    let full = || std::fs::File::create("/dev/full").unwrap();
    let directory = up.directory.to_str().unwrap();
    let mut send = crate::launch::command(std::path::Path::new("."), &["send", "--image", directory, "Kept := 5"]);
    let ended = send.stdout(full()).output().unwrap();
    let errors = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.code() == Some(1) && errors.contains("is done, as commit"), "{errors}");
    assert_eq!(up.send("Kept").ok(), "5\n");
}
