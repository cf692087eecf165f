//! An image whose process or disk is at an end: what happened is told in words that help.

use crate::launch::up::{Up, limited};
use rustix::process::{Pid, Resource, Rlimit, prlimit};
use std::process::Stdio;

/// A request whose commit could not be written stayed to be seen by all who came after it, until a restart took it back.
/// Before that, a file too large ended the process without a word.
#[test]
fn what_could_not_be_written_is_seen_by_nobody() {
    let mut up = Up::start(&[]);
    up.send("x := 1").ok();
    let pid = Pid::from_raw(up.image_pid as i32);
    prlimit(pid, Resource::Fsize, Rlimit { current: Some(1), maximum: Some(1) }).unwrap();
    let failed = up.send("y := 2");
    assert!(failed.code == Some(1) && failed.errors.contains("start it again"), "{failed:?}");
    for arguments in [&["send", "y"][..], &["send", "1 + 2"], &["log"], &["revert", "2"]] {
        let refused = up.run(arguments, "");
        assert!(refused.code == Some(1) && refused.errors.contains("takes no commits"), "{arguments:?}: {refused:?}");
    }
    let status: serde_json::Value = serde_json::from_str(&up.run(&["status", "--json"], "").ok()).unwrap();
    assert!(status["image"]["failure"].is_string(), "{status}");
    up.stop();
    up.start_again(&[]);
    assert_eq!(up.send("list(x, Lobby hasSlot(\"y\"))").ok(), "list(1, false)\n");
}

#[test]
fn an_image_process_without_processor_time_is_not_blamed_on_memory() {
    let mut up = Up::start(&[]);
    let pid = Pid::from_raw(up.image_pid as i32);
    prlimit(pid, Resource::Cpu, Rlimit { current: Some(1), maximum: None }).unwrap();
    let lost = up.send("loop(nil)");
    assert!(lost.errors.contains("ulimit -t"), "{lost:?}");
    let (_, errors) = up.ended();
    assert!(errors.contains("ulimit -t") && !errors.contains("out of memory"), "{errors}");
}

#[test]
fn an_image_without_address_space_says_what_it_needs() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("image");
    let mut command = limited("-v 3000000", &["up", path.to_str().unwrap()]);
    let ended = command.stdin(Stdio::null()).output().unwrap();
    let errors = String::from_utf8_lossy(&ended.stderr);
    assert!(!ended.status.success() && errors.contains("address space (ulimit -v)"), "{errors}");
}
