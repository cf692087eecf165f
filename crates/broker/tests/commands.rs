//! Commands: of the live image as children of the broker, of dreams in a sandbox beside theirs.

mod shared;

use broker::{Answer, Broker, Call, Caller, House, Stop, Value, Way};
use shared::*;
use std::io::Read;
use std::os::unix::net::UnixStream;
use std::process::Command;

fn run(broker: &Broker, caller: &Caller, line: &str) -> Answer {
    ask(broker, caller, "System.systemOutput", &[text(line)])
}

/// Status, output and errors.
fn ended(answer: &Answer) -> (f64, String, String) {
    match &answer.values[..] {
        [Value::Number(status), output, errors] => (*status, bytes(output), bytes(errors)),
        other => panic!("{other:?}"),
    }
}

/// None where this host has no sandbox, which is told and nothing else.
fn in_sibling(broker: &Broker, line: &str) -> Option<(f64, String, String)> {
    let answer = run(broker, &redirected(), line);
    if answer.way == Way::Failed && bytes(&answer.values[0]).contains("was not run") {
        return None;
    }
    Some(ended(&answer))
}

#[test]
fn a_command_of_the_live_image_runs_as_a_child_with_its_directory_and_variables() {
    let broker = Broker::new(House::default(), None);
    let live = Caller::live();
    assert_eq!(ended(&run(&broker, &live, "echo out; echo err >&2; exit 3")), (3.0, "out\n".into(), "err\n".into()));
    assert_eq!(ended(&run(&broker, &live, "kill -9 $$")).0, 137.0);
    assert_eq!(ended(&run(&broker, &live, "cat")).1, "", "there is nothing to read");
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().canonicalize().unwrap();
    let arguments = [text("pwd; echo $COLOUR"), text(&path), text("COLOUR=a=b")];
    let answer = ask(&broker, &live, "System.system", &arguments);
    assert_eq!(ended(&answer).1, format!("{}\na=b\n", path.display()));
    for pair in ["COLOUR", "=x", "A=\0"] {
        let answer = ask(&broker, &live, "System.system", &[text("true"), Value::Nil, text(pair)]);
        assert_eq!(answer.way, Way::Failed, "{pair:?}");
    }
    let nowhere = ask(&broker, &live, "System.system", &[text("true"), text("/nowhere")]);
    assert_eq!(nowhere.way, Way::Failed);
}

#[test]
fn a_child_that_outlives_its_command_is_not_waited_for() {
    let broker = Broker::new(House::default(), None);
    // The child keeps the pipe until the test is over: it reads from a socket that the test holds.
    let (ours, theirs) = UnixStream::pair().unwrap();
    let descriptor = rustix::io::dup(&theirs).unwrap();
    let number = std::os::fd::AsRawFd::as_raw_fd(&descriptor);
    rustix::io::fcntl_setfd(&descriptor, rustix::io::FdFlags::empty()).unwrap();
    let answer = run(&broker, &Caller::live(), &format!("cat <&{number} & echo started"));
    assert_eq!(ended(&answer).1, "started\n");
    drop((ours, theirs));
}

#[test]
fn output_is_bounded_and_what_goes_on_writing_is_ended() {
    let broker = Broker::new(House::default(), None);
    let answer = run(&broker, &Caller::live(), "yes");
    assert!(refusal(&answer, Way::Failed).contains("16 MiB"), "{answer:?}");
}

#[test]
fn a_stop_kills_a_sleeping_command_with_its_children() {
    let broker = Broker::new(House::default(), None);
    let directory = tempfile::tempdir().unwrap();
    let fifo = directory.path().join("alive");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    // Both hold the pipe's end; it is closed when both are gone.
    let line = format!("exec 3>{}; echo here >&3; sleep 1000 & sleep 1000", fifo.display());
    let stop = Stop::default();
    let call = Call::new("System.system", [text(&line)]);
    let answer = std::thread::scope(|scope| {
        let asking = scope.spawn(|| broker.answer(&Caller::live(), &call, &stop));
        let mut reader = std::fs::File::open(&fifo).unwrap();
        let mut said = [0; 5];
        reader.read_exact(&mut said).unwrap();
        stop.stop();
        let answer = asking.join().unwrap();
        assert_eq!(reader.read_to_end(&mut Vec::new()).unwrap(), 0, "nobody holds it any more");
        answer
    });
    assert!(refusal(&answer, Way::Failed).contains("stopped"), "{answer:?}");
}

#[test]
fn a_command_of_a_dream_runs_in_a_sandbox_without_network_files_or_variables_of_ours() {
    let secret = tempfile::tempdir().unwrap();
    std::fs::write(secret.path().join("file"), "host").unwrap();
    let broker = Broker::new(House::default(), None);
    let Some(ended) = in_sibling(&broker, "echo out; echo err >&2; exit 3") else { return };
    assert_eq!(ended, (3.0, "out\n".into(), "err\n".into()));
    let look =
        format!("cat {}/file; ls /sys/class/net 2>/dev/null; echo $PPID $CARGO_PKG_NAME; pwd", secret.path().display());
    let (_, output, errors) = in_sibling(&broker, &look).unwrap();
    assert!(!output.contains("host") && errors.contains("No such file"), "{output}{errors}");
    assert!(output.ends_with("/home/user\n") && !output.contains("broker"), "{output}");
    // Its own directory and variables are not for there.
    let answer =
        ask(&broker, &redirected(), "System.system", &[text("pwd; echo $A"), text(secret.path()), text("A=b")]);
    assert_eq!(bytes(&answer.values[1]), "/home/user\n\n");
}

#[test]
fn a_command_of_a_dream_is_bounded() {
    let broker = Broker::new(House::default(), None);
    if in_sibling(&broker, "true").is_none() {
        return;
    }
    let answer = run(&broker, &redirected(), "yes");
    assert!(refusal(&answer, Way::Failed).contains("16 MiB"), "{answer:?}");
    let answer = run(&broker, &redirected(), "head -c 1G /dev/zero | tail");
    let memory = answer.way == Way::Failed && bytes(&answer.values[0]).contains("512 MiB");
    // Without a cgroup, the one process that wants it is refused the memory.
    assert!(memory || ended(&answer).0 != 0.0, "{answer:?}");
}

#[test]
fn a_stop_ends_a_command_of_a_dream() {
    let broker = Broker::new(House::default(), None);
    if in_sibling(&broker, "true").is_none() {
        return;
    }
    let stop = Stop::default();
    let call = Call::new("System.system", [text("sleep 1000")]);
    let dream = redirected();
    let answer = std::thread::scope(|scope| {
        let asking = scope.spawn(|| broker.answer(&dream, &call, &stop));
        // Whether it has begun by now or not, it ends.
        stop.stop();
        asking.join().unwrap()
    });
    assert!(refusal(&answer, Way::Failed).contains("stopped"), "{answer:?}");
}

#[test]
fn a_secret_of_a_variable_is_not_inherited_and_not_told() {
    let directory = tempfile::tempdir().unwrap();
    let file = house_file(&directory, "[secrets.key]\nvariable = \"BROKER_TEST_KEY\"\nhosts = [\"example.org\"]\n");
    // In a process of its own: the environment of this one is everybody's.
    let test = std::env::current_exe().unwrap();
    if std::env::var_os("BROKER_TEST_KEY").is_none() {
        let output = Command::new(test)
            .args(["--exact", "a_secret_of_a_variable_is_not_inherited_and_not_told", "--nocapture"])
            .env("BROKER_TEST_KEY", "sk-from-outside")
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        let error = House::read(&file).unwrap_err().to_string();
        assert!(error.contains("BROKER_TEST_KEY"), "{error}");
        return;
    }
    let broker = Broker::new(House::read(&file).unwrap(), None);
    let (_, output, _) = ended(&run(&broker, &Caller::live(), "echo [$BROKER_TEST_KEY] sk-from-outs\"\"ide"));
    assert_eq!(output, "[] {{secret:key}}\n");
}
