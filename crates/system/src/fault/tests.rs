//! What is said when a process ends with a signal: the file is named when it can be the reason, and only then.
//!
//! Each case is done by a child process, which it ends.

use super::name_on_fault;
use crate::lmdb::{Access, Environment, Options, Snapshot};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Output};

const CHILD: &str = "TELOS_FAULT";
const NAMED: &str = "fault while reading";

/// Not a test of its own: what the children do.
#[test]
fn child() {
    let Ok(case) = std::env::var(CHILD) else { return };
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("tree");
    name_on_fault(&path);
    // A second time, as tests do: it must not take itself for whoever was there before.
    name_on_fault(&path);
    let before = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    assert!(!before.contains("tree"));
    match case.as_str() {
        "short" => read_short(&path),
        "into the mapping" => write_into(&path),
        "zero" => touch(std::hint::black_box(8)),
        "elsewhere" => touch(std::hint::black_box(1 << 45)),
        "overflow" => drop(deeper(std::hint::black_box(1))),
        "abort" => std::process::abort(),
        "sent" => send_segv(),
        _ => panic!("there is no case {case}"),
    }
    std::process::exit(0);
}

fn open(path: &Path) -> std::sync::Arc<Environment> {
    let options =
        Options { access: Access::Write, snapshot: Snapshot::Newest, map_bytes: 1 << 26, tables: 4, readers: 8 };
    Environment::open(path, &options).expect("it opens")
}

fn read_short(path: &Path) {
    let environment = open(path);
    let table = environment.table("things", true).expect("there is a table");
    let mut transaction = environment.write().expect("it can be written");
    transaction.put(table, b"key", &[7; 100_000]).expect("there is room");
    transaction.commit().expect("there is room");
    std::fs::File::options().write(true).open(path).and_then(|file| file.set_len(8192)).expect("it is cut");
    let snapshot = environment.read().expect("the header is there");
    let value = snapshot.get(table, b"key").expect("nobody knows yet");
    println!("{:?}", value.map(|value| value.iter().map(|byte| u64::from(*byte)).sum::<u64>()));
}

/// The mapping is only for reading.
fn write_into(path: &Path) {
    let _environment = open(path);
    let maps = std::fs::read_to_string("/proc/self/maps").expect("it can be read");
    let line = maps.lines().find(|line| line.ends_with("tree")).expect("it is mapped");
    let start = usize::from_str_radix(line.split('-').next().unwrap_or_default(), 16).expect("an address");
    touch(std::hint::black_box(start + 4096));
}

fn touch(address: usize) {
    // SAFETY: none: it is meant to end this process, which exists for nothing else.
    unsafe { (address as *mut u8).write_volatile(1) };
}

#[expect(unconditional_recursion, reason = "it is meant to overflow the stack")]
fn deeper(depth: u64) -> u64 {
    let room = std::hint::black_box([depth; 512]);
    deeper(depth + 1) + room[depth as usize % 512]
}

/// Not once: the handler of Rust steps back at the first, and takes it for done.
fn send_segv() {
    for _ in 0..3 {
        // SAFETY: the call takes a number only, and this process is meant to end. It comes to this thread, at once.
        unsafe { libc::raise(libc::SIGSEGV) };
    }
}

fn run(case: &str) -> (Output, String) {
    let mut command = Command::new(std::env::current_exe().expect("it runs"));
    command.args(["--exact", "fault::tests::child", "--nocapture", "--test-threads=1"]).env(CHILD, case);
    let output = command.output().expect("it was started");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    (output, said)
}

#[test]
fn a_file_that_can_be_the_reason_is_named() {
    for (case, signal) in [("short", libc::SIGBUS), ("into the mapping", libc::SIGSEGV), ("zero", libc::SIGSEGV)] {
        let (output, said) = run(case);
        assert_eq!(output.status.signal(), Some(signal), "{case}: {said}");
        assert_eq!(said.matches(NAMED).count(), 1, "{case}: {said}");
        assert!(said.contains("tree: the file is shorter"), "{case}: {said}");
    }
}

/// The story: every abort and every stack that overflowed was blamed on the file, and Rust's own message was lost.
#[test]
fn other_ends_are_told_as_they_were_before() {
    let cases =
        [("elsewhere", libc::SIGSEGV), ("overflow", libc::SIGABRT), ("abort", libc::SIGABRT), ("sent", libc::SIGSEGV)];
    for (case, signal) in cases {
        let (output, said) = run(case);
        assert_eq!(output.status.signal(), Some(signal), "{case}: {said}");
        assert!(!said.contains(NAMED), "{case}: {said}");
        assert_eq!(said.contains("overflowed its stack"), case == "overflow", "{case}: {said}");
    }
}
