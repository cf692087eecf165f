//! Runs of the process backend: what it starts, what comes out, how it ends.

use sandbox::outcome::Limit;
use sandbox::process::Process;
use sandbox::{Backend, Order, Outcome, SandboxError, Stdin, Stream, Streams, Verdict};
use std::sync::{Arc, Mutex};
use std::time::Duration;

struct Told {
    outcome: Outcome,
    output: String,
    error: String,
}

fn order(program: &[&str]) -> Order {
    Order { program: program.iter().map(Into::into).collect(), ..Order::default() }
}

fn run_with(order: &Order, stdin: Stdin) -> Result<Told, SandboxError> {
    let written: Arc<Mutex<(Vec<u8>, Vec<u8>)>> = Arc::default();
    let place = written.clone();
    let output = Box::new(move |stream, bytes: &[u8]| {
        let mut place = place.lock().unwrap();
        match stream {
            Stream::Output => place.0.extend(bytes),
            Stream::Error => place.1.extend(bytes),
        }
    });
    let outcome = Process::new().start(order, Streams { stdin, output })?.wait()?;
    let written = written.lock().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ok(Told { outcome, output: text(&written.0), error: text(&written.1) })
}

fn run(program: &[&str]) -> Told {
    run_with(&order(program), Stdin::Empty).unwrap()
}

fn shell(script: &str) -> Told {
    run(&["sh", "-c", script])
}

#[test]
fn a_program_runs_and_its_exit_code_is_told() {
    assert_eq!(run(&["/bin/true"]).outcome.verdict, Verdict::Exited(0));
    assert_eq!(shell("exit 3").outcome.verdict, Verdict::Exited(3));
}

#[test]
fn a_signal_that_ended_it_is_told() {
    assert_eq!(shell("kill -TERM $$").outcome.verdict, Verdict::Signalled(15));
}

#[test]
fn output_and_errors_come_out_apart() {
    let told = shell("echo out; echo err >&2");
    assert_eq!((told.output.as_str(), told.error.as_str()), ("out\n", "err\n"));
    assert_eq!(told.outcome.usage.output_bytes, 8);
}

#[test]
fn input_goes_in() {
    let bytes = vec![b'x'; 1 << 20];
    let told = run_with(&order(&["wc", "-c"]), Stdin::Bytes(bytes)).unwrap();
    assert_eq!(told.output.trim(), (1 << 20).to_string());
}

#[test]
fn time_that_is_up_ends_the_whole_tree() {
    let mut order = order(&["sh", "-c", "sleep 1000 & trap '' TERM; while :; do sleep 1000; done"]);
    order.limits.time = Some(Duration::from_millis(300));
    assert_eq!(run_with(&order, Stdin::Empty).unwrap().outcome.verdict, Verdict::Limited(Limit::Time));
}

#[test]
fn what_the_program_leaves_running_ends_with_it() {
    let told = shell("(setsid sleep 1000 &) ; echo done");
    assert_eq!(told.outcome.verdict, Verdict::Exited(0));
    assert_eq!(told.output, "done\n");
}

#[test]
fn too_much_output_ends_it() {
    let mut order = order(&["sh", "-c", "while :; do echo yes; done"]);
    order.limits.output_bytes = Some(10_000);
    let told = run_with(&order, Stdin::Empty).unwrap();
    assert_eq!(told.outcome.verdict, Verdict::Limited(Limit::Output));
    assert_eq!(told.output.len(), 10_000);
}

#[test]
fn a_program_that_is_not_there_is_named() {
    let error = run_with(&order(&["no-such-program"]), Stdin::Empty).err().unwrap();
    assert!(matches!(error, SandboxError::NoProgram { program } if program == "no-such-program"));
}

#[test]
fn it_is_alone_unprivileged_and_inherits_nothing() {
    let told = shell(
        "id -u; id -g; hostname; env | grep -v ^PWD= | grep -v ^_= | sort; ls /proc | grep -c '^[0-9]'; ls /proc/self/fd | wc -l",
    );
    let lines: Vec<&str> = told.output.lines().collect();
    assert_eq!(lines.get(..3), Some(["1000", "1000", "sandbox"].as_slice()), "{}", told.error);
    let told = shell("grep -E '^(Cap...|NoNewPrivs):' /proc/self/status");
    for line in told.output.lines() {
        let value = line.split_whitespace().last().unwrap();
        let expected = if line.starts_with("NoNewPrivs") { "1" } else { "0000000000000000" };
        assert_eq!(value, expected, "{line}");
    }
}

#[test]
fn it_writes_only_where_it_may() {
    let told = shell("for d in / /usr /etc /proc /dev /tmp /dev/shm ~ ; do touch $d/x 2>/dev/null && echo $d; done");
    assert_eq!(told.output, "/tmp\n/dev/shm\n");
}
