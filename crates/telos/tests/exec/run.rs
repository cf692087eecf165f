//! `telos exec`: what a program gets, what comes out, and how its end becomes an exit code.

use crate::launch::exec::Bench;
use crate::launch::up::{signal, wait_for};
use crate::launch::{has_cgroup, write};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::Stdio;

#[test]
fn output_errors_and_exit_code_are_those_of_the_program() {
    let ran = Bench::new().bash(&[], "echo out; echo err >&2; exit 3");
    assert_eq!((ran.code, ran.output.as_str(), ran.errors.as_str()), (Some(3), "out\n", "err\n"));
}

#[test]
fn standard_input_is_handed_on() {
    let ran = Bench::new().exec_with(&["--", "tr", "a-z", "A-Z"], "hello\n");
    assert_eq!(ran.ok(), "HELLO\n");
}

#[test]
fn output_comes_while_the_program_runs() {
    let bench = Bench::new();
    let mut child = bench
        .command(&["exec", "--", "bash", "-c", "echo ready; read line; echo got $line"])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    output.read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n", "before the program ends, for it waits for us");
    child.stdin.take().unwrap().write_all(b"it\n").unwrap();
    let mut rest = String::new();
    output.read_to_string(&mut rest).unwrap();
    assert_eq!((rest.as_str(), child.wait().unwrap().code()), ("got it\n", Some(0)));
}

/// It ended with 0 more often than not, and nobody was told that the output was lost.
#[test]
fn output_that_cannot_be_written_is_a_failure() {
    let bench = Bench::new();
    for arguments in [&["exec", "--", "seq", "5"][..], &["exec", "--json", "--", "true"], &["exec", "--", "yes"]] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let ran = bench.command(arguments).stdout(full).output().unwrap();
        let errors = String::from_utf8_lossy(&ran.stderr);
        assert_eq!(ran.status.code(), Some(125), "{arguments:?}: {errors}");
        assert!(errors.contains("could not be written: No space left"), "{arguments:?}: {errors}");
    }
}

#[test]
fn a_signal_is_128_and_its_number() {
    let ran = Bench::new().bash(&[], "kill -SEGV $$");
    assert_eq!(ran.code, Some(128 + 11), "{ran:?}");
    assert!(ran.errors.ends_with("telos: ended by signal 11 (segmentation fault)\n"), "{ran:?}");
}

/// Who ignores SIGCHLD hands that on to whatever it starts, and the kernel then tells nobody how a child ended.
#[test]
fn a_run_is_heard_of_also_where_ends_of_children_are_ignored() {
    let bench = Bench::new();
    let mut command = std::process::Command::new("bash");
    command.args(["-c", "trap '' CHLD; exec \"$0\" exec -- sh -c 'exit 3'", env!("CARGO_BIN_EXE_telos")]);
    let ran = command.env("XDG_STATE_HOME", bench.state.path()).current_dir(bench.path()).output().unwrap();
    assert_eq!(ran.status.code(), Some(3), "{ran:?}");
}

#[test]
fn limits_end_it_with_a_code_and_a_word_of_their_own() {
    let bench = Bench::new();
    let hungry = "x=$(head -c 400M /dev/zero | tr '\\0' x); echo ${#x}";
    for (options, script, code, words) in [
        (&["--timeout", "0.3"], "sleep 1000", 124, "timed out after 0.3 s; --timeout"),
        (&["--cpu", "1"], "while :; do :; done", 122, "1 s of processor time; --cpu"),
        (&["--memory", "64M"], hungry, 123, "64 MiB of memory; --memory"),
        (&["--output", "1M"], "while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxx; done", 121, "more than 1 MiB; --output"),
    ] {
        let ran = bench.bash(options, script);
        assert_eq!(ran.code, Some(code), "{options:?} {:?} {}", ran.code, ran.errors);
        let last = ran.errors.lines().last().unwrap_or_default();
        assert!(last.starts_with("telos: ") && last.contains(words), "{last}");
    }
}

#[test]
fn it_gets_no_variable_file_or_directory_of_ours() {
    let bench = Bench::new();
    write(bench.path(), "secret", "x");
    let ran = bench.command(&["exec", "--", "env"]).env("SECRET", "1").output().unwrap();
    let variables = String::from_utf8_lossy(&ran.stdout).into_owned();
    let mut names: Vec<&str> = variables.lines().filter_map(|line| line.split('=').next()).collect();
    names.sort_unstable();
    assert_eq!(names, ["HOME", "LANG", "PATH", "USER"], "{variables}");
    let secret = bench.path().join("secret").display().to_string();
    let ran = bench.exec(&["--", "cat", &secret]);
    assert!(ran.code == Some(1) && ran.errors.contains("No such file"), "{ran:?}");
    let ran = bench.command(&["exec", "--env", "SECRET", "--env", "A=b c", "--", "sh", "-c", "echo $SECRET $A"]);
    let mut ran = ran;
    assert_eq!(ran.env("SECRET", "1").output().unwrap().stdout, b"1 b c\n");
}

#[test]
fn it_sees_what_it_was_granted_where_it_was_granted() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path().join("data")).unwrap();
    write(bench.path(), "data/a", "A");
    write(bench.path(), "tool", "B");
    assert_eq!(bench.bash(&["--read", "data"], "cat a; pwd").ok(), format!("A{}/data\n", bench.path().display()));
    assert_eq!(bench.bash(&["--read", "data:/in/side"], "cat /in/side/a").ok(), "A");
    assert_eq!(bench.bash(&["--read", "data/a:/one"], "cat /one").ok(), "A");
    assert_eq!(bench.bash(&["--file", "tool", "--file", "tool:/x/y"], "cat tool /x/y").ok(), "BB");
    let ran = bench.bash(&["--read", "data"], "echo x > a");
    assert!(ran.code == Some(1) && ran.errors.contains("Read-only"), "{ran:?}");
    assert_eq!(bench.bash(&["--directory", "/usr"], "pwd").ok(), "/usr\n");
}

#[test]
fn what_it_writes_never_reaches_the_directory_unasked() {
    let bench = Bench::new();
    write(bench.path(), "a", "1");
    let ran = bench.bash(&["--write", "."], "echo 2 > a; echo 3 > b; cat a b");
    assert_eq!(ran.ok(), "2\n3\n");
    assert_eq!(std::fs::read(bench.path().join("a")).unwrap(), b"1");
    assert!(!bench.path().join("b").exists());
}

#[test]
fn json_is_one_object_with_all_of_it() {
    let bench = Bench::new();
    let ran = bench.bash(&["--json", "--write", "."], "echo out; echo err >&2; echo x > new; exit 3");
    let json: serde_json::Value = serde_json::from_str(&ran.output).unwrap();
    assert_eq!((ran.code, ran.errors.as_str()), (Some(3), ""));
    assert_eq!((&json["verdict"], &json["exit_code"]), (&"exited".into(), &3.into()), "{json}");
    assert_eq!((&json["stdout"], &json["stderr"]), (&"out\n".into(), &"err\n".into()));
    assert_eq!(json["lacks"], serde_json::json!([]));
    assert!(json["usage"]["time_ms"].as_f64().unwrap() > 0.0, "{json}");
    let change = json["changes"].as_array().unwrap().iter().find(|change| change["path"] == "new").unwrap();
    assert_eq!((&change["kind"], &change["bytes"]), (&"file".into(), &2.into()));
    // What `printf 'out\n' | sha256sum` prints.
    let digest = "sha256:6e5b9b9bf22d8eaa1bdcf3adc3fbc0ec6c81f7a5c0d2a5f2b4e3cdd1aa63c2b2";
    assert_eq!(json["digest"]["stdout"].as_str().unwrap().len(), digest.len());
    let limited = bench.bash(&["--json", "--timeout", "0.2"], "sleep 100");
    let json: serde_json::Value = serde_json::from_str(&limited.output).unwrap();
    assert_eq!((&json["verdict"], &json["limit"], limited.code), (&"limited".into(), &"time".into(), Some(124)));
}

#[test]
fn what_cannot_be_run_says_what_to_do() {
    let bench = Bench::new();
    write(bench.path(), "notes.txt", "hello");
    for (arguments, code, words) in [
        (&["--", "no-such-program"][..], 127, "no-such-program"),
        (&[], 125, "nothing to run: name a file"),
        (&["ls"], 125, "to run a command: telos exec -- ls"),
        (&["notes.txt"], 125, "does not tell its language; --lang NAME does"),
        (&["--lang", "pyton", "-e", "1"], 125, "did you mean python?"),
        (&["-e", "1"], 125, "--lang NAME says in which language"),
        (&["--read", "nowhere", "--", "true"], 125, "cannot let it see \"nowhere\""),
        (&["--write", "notes.txt", "--", "true"], 125, "is no directory; --file hands in a file"),
        (&["--net", "127.0.0.1:80", "--", "true"], 2, "never reached"),
        (&["--diff", "--", "true"], 2, "--write"),
        (&["--memory", "0", "--", "true"], 2, "or none"),
    ] {
        let ran = bench.exec(arguments);
        assert_eq!(ran.code, Some(code), "{arguments:?} {ran:?}");
        assert!(ran.errors.contains(words), "{arguments:?} {ran:?}");
    }
    let ran = bench.exec(&["--json", "--", "no-such-program"]);
    let json: serde_json::Value = serde_json::from_str(&ran.output).unwrap();
    assert_eq!((&json["verdict"], ran.code, ran.errors.as_str()), (&"refused".into(), Some(127), ""));
}

#[test]
fn a_program_that_nobody_listens_to_is_ended() {
    let bench = Bench::new();
    let mut child = bench.command(&["exec", "--timeout", "none", "--output", "none", "--", "yes"]).spawn().unwrap();
    let mut first = [0; 2];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    assert_eq!((child.wait().unwrap().code(), &first), (Some(141), b"y\n"));
}

#[test]
fn signals_to_us_end_it_and_are_recorded() {
    let bench = Bench::new();
    for (name, code) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        let mut child = bench.command(&["exec", "--", "bash", "-c", "echo up; sleep 1000"]).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let kill = format!("kill -{name} {}", child.id());
        assert!(std::process::Command::new("sh").args(["-c", &kill]).status().unwrap().success());
        assert_eq!(child.wait().unwrap().code(), Some(code), "{name}");
        assert_eq!(bench.last_run()["verdict"], "stopped", "{name}");
    }
}

/// What was made for the run stayed until the next one, whenever that was.
#[test]
fn a_killed_exec_leaves_no_cgroup_and_nobody() {
    let bench = Bench::new();
    let mut child = bench.command(&["exec", "--", "bash", "-c", "echo up; sleep 1000"]).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    signal(child.id(), "KILL");
    child.wait().unwrap();
    let mut rest = String::new();
    child.stdout.take().unwrap().read_to_string(&mut rest).expect("nobody holds its output open");
    let name = format!("-{}-", child.id());
    wait_for("its cgroups are gone", || !has_cgroup(&name));
}

/// Whoever watches over a program also hands its output on: a reader that stood still held up the end of its time, and signals.
#[test]
fn a_reader_that_stands_still_holds_up_neither_time_nor_signals() {
    let bench = Bench::new();
    let script = "head -c 300000 /dev/zero; sleep 1000";
    let child = bench.command(&["exec", "--timeout", "1", "--", "bash", "-c", script]).spawn().unwrap();
    assert_eq!(ended_unread(child), Some(124));
    assert_eq!((&bench.last_run()["verdict"], &bench.last_run()["limit"]), (&"limited".into(), &"time".into()));
    let json = "head -c 3000000 /dev/zero | tr '\\0' x";
    let orders: [&[&str]; 2] = [&["exec", "--", "bash", "-c", script], &["exec", "--json", "--", "bash", "-c", json]];
    for order in orders {
        let child = bench.command(order).spawn().unwrap();
        let is_full = || rustix::io::ioctl_fionread(child.stdout.as_ref().unwrap()).unwrap() >= 64 << 10;
        wait_for("the pipe is full", is_full);
        signal(child.id(), "TERM");
        assert_eq!(ended_unread(child), Some(143), "{order:?}");
    }
}

/// Its output stays open, and full.
fn ended_unread(mut child: std::process::Child) -> Option<i32> {
    let _output = child.stdout.take();
    child.wait().unwrap().code()
}

/// The reader goes on after the program has ended, before its time is up: it gets all of it.
#[test]
fn a_reader_that_is_slow_gets_all_of_it() {
    let bench = Bench::new();
    let mut child = bench.command(&["exec", "--", "head", "-c", "300000", "/dev/zero"]).spawn().unwrap();
    let is_full = || rustix::io::ioctl_fionread(child.stdout.as_ref().unwrap()).unwrap() >= 64 << 10;
    wait_for("the pipe is full", is_full);
    let mut output = Vec::new();
    child.stdout.take().unwrap().read_to_end(&mut output).unwrap();
    assert_eq!((output.len(), child.wait().unwrap().code()), (300_000, Some(0)));
}
