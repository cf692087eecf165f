//! Limits of the process backend: what happens to a run that reaches one, and what is left of it.

use sandbox::outcome::Limit;
use sandbox::process::Process;
use sandbox::{Backend, Limits, Order, Outcome, Stdin, Stream, Streams, Strength, Verdict, Wall};
use std::sync::{Arc, Mutex};
use std::time::Duration;

fn run(script: &str, change: impl FnOnce(&mut Limits)) -> (Outcome, String) {
    let mut order = Order { program: ["sh", "-c", script].map(Into::into).to_vec(), ..Order::default() };
    change(&mut order.limits);
    let written: Arc<Mutex<Vec<u8>>> = Arc::default();
    let place = written.clone();
    let output = Box::new(move |_: Stream, bytes: &[u8]| place.lock().unwrap().extend(bytes));
    let outcome = Process::new().start(&order, Streams { stdin: Stdin::Empty, output }).unwrap().wait().unwrap();
    let text = String::from_utf8_lossy(&written.lock().unwrap()).into_owned();
    (outcome, text)
}

fn strength(wall: Wall) -> Strength {
    Process::new().survey().into_iter().find(|(other, _)| *other == wall).unwrap().1
}

#[test]
fn memory_beyond_the_limit_is_not_had() {
    let (outcome, output) = run("tail /dev/zero", |limits| limits.memory_bytes = Some(64 << 20));
    // Where the kernel limits each process, that is told that there is no more.
    let is_refused = matches!(outcome.verdict, Verdict::Exited(1)) && output.contains("memory");
    assert!(outcome.verdict == Verdict::Limited(Limit::Memory) || is_refused, "{:?}: {output}", outcome.verdict);
    assert!(outcome.usage.memory_bytes <= 128 << 20, "{:?}", outcome.usage);
}

#[test]
fn memory_of_many_processes_is_counted_together() {
    let script =
        "for i in 1 2 3 4 5 6 7 8; do head -c 20000000 /dev/zero | tail -c 20000000 | (sleep 1000) & done; wait";
    let (outcome, _) = run(script, |limits| limits.memory_bytes = Some(64 << 20));
    assert_eq!(outcome.verdict, Verdict::Limited(Limit::Memory));
}

#[test]
fn files_count_as_memory() {
    let (outcome, _) = run("cat /dev/zero > /tmp/file; sleep 1000", |limits| limits.memory_bytes = Some(32 << 20));
    assert_eq!(outcome.verdict, Verdict::Limited(Limit::Memory));
}

#[test]
fn processor_time_is_counted_together() {
    let script = "for i in 1 2 3 4; do (while :; do :; done) & done; wait";
    let (outcome, _) = run(script, |limits| limits.cpu = Some(Duration::from_millis(300)));
    assert_eq!(outcome.verdict, Verdict::Limited(Limit::Cpu));
    assert!(outcome.usage.user + outcome.usage.system >= Duration::from_millis(250), "{:?}", outcome.usage);
}

#[test]
fn processes_beyond_the_limit_are_not_made() {
    let script = "for i in $(seq 30); do sleep 1000 & done; echo all";
    let (outcome, output) = run(script, |limits| limits.processes = Some(10));
    assert!(!output.contains("all") && outcome.verdict != Verdict::Exited(0), "{:?}: {output}", outcome.verdict);
    let (outcome, output) = run(script, |limits| limits.processes = Some(40));
    assert_eq!((outcome.verdict, output.as_str()), (Verdict::Exited(0), "all\n"));
}

#[test]
fn files_and_their_size_have_limits() {
    let script = "i=0; while [ $i -lt 500 ]; do true > /tmp/$i || break; i=$((i+1)); done 2>/dev/null; echo $i";
    let (_, output) = run(script, |limits| limits.disk_files = Some(100));
    let made: u64 = output.lines().last().and_then(|line| line.parse().ok()).unwrap_or(0);
    assert!((50..=200).contains(&made), "{output}");
    let (outcome, _) = run("exec head -c 100000 /dev/zero > /tmp/file", |limits| limits.file_bytes = Some(50_000));
    assert_eq!(outcome.verdict, Verdict::Signalled(25));
}

#[test]
fn a_run_can_be_stopped_from_elsewhere() {
    let order = Order { program: ["sleep", "1000"].map(Into::into).to_vec(), ..Order::default() };
    let running = Process::new().start(&order, Streams::nowhere()).unwrap();
    let stop = running.stop();
    let thread = std::thread::spawn(move || stop.stop());
    assert_eq!(running.wait().unwrap().verdict, Verdict::Stopped);
    thread.join().unwrap();
}

#[test]
fn the_survey_says_what_this_host_has() {
    for (wall, strength) in Process::new().survey() {
        if let Strength::Missing(lack) = &strength {
            assert!(!lack.why.is_empty() && !lack.remedy.is_empty(), "{wall:?}");
        }
        println!("{wall:?}: {strength:?}");
    }
    assert!(matches!(strength(Wall::UserNamespace), Strength::Full));
    assert!(matches!(strength(Wall::Seccomp), Strength::Full));
}
