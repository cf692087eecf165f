//! `telos run`: arguments, exit codes, pipes, limits and input that is no program.

use crate::launch::{command, eval, telos, telos_in, write};
use std::io::Read;
use std::process::Stdio;
use tempfile::tempdir;

#[test]
fn a_file_sees_its_arguments_and_its_place() {
    let directory = tempdir().unwrap();
    write(directory.path(), "a.io", "System args println\nSystem launchScript println\nisLaunchScript println\n");
    let ran = telos_in(directory.path(), &["run", "a.io", "one", "--two", "-3"], "");
    assert_eq!(ran.ok(), "list(\"a.io\", \"one\", \"--two\", \"-3\")\na.io\ntrue\n");
    write(directory.path(), "b.io", "System launchPath println");
    let path = directory.path().canonicalize().unwrap();
    assert_eq!(telos_in(&path, &["run", "b.io"], "").ok().trim(), path.to_str().unwrap());
}

#[test]
fn standard_input_is_a_program_too() {
    assert_eq!(telos_in(".".as_ref(), &["run", "-", "x"], "System args println").ok(), "list(\"-\", \"x\")\n");
}

#[test]
fn a_program_reads_its_input() {
    let directory = tempdir().unwrap();
    write(directory.path(), "a.io", "File standardInput foreachLine(i, line, writeln(i, \": \", line))");
    assert_eq!(telos_in(directory.path(), &["run", "a.io"], "x\r\ny\n\nz").ok(), "0: x\n1: y\n2: \n3: z\n");
    write(directory.path(), "b.io", "File standardInput contents size println");
    assert_eq!(telos_in(directory.path(), &["run", "b.io"], "12345").ok(), "5\n");
}

#[test]
fn exit_codes_tell_how_it_ended() {
    assert_eq!(eval("System exit(7)").code, Some(7));
    assert_eq!(eval("write(\"x\"); System exit").ok(), "x");
    assert_eq!(eval("Exception raise(\"no\")").code, Some(1));
    assert_eq!(eval("a b(").code, Some(1));
    assert_eq!(telos(&["frobnicate"]).code, Some(2));
    assert_eq!(telos(&["eval"]).code, Some(2));
    assert_eq!(telos(&["eval", "--memory", "1X", "1"]).code, Some(2));
}

/// 256 has no low bits and nan is no number, so both looked like success.
#[test]
fn an_exit_code_that_no_process_can_have_is_refused() {
    for code in ["256", "-256", "0/0", "1.5", "1e300"] {
        let ran = eval(&format!("System exit({code})"));
        assert_eq!(ran.code, Some(1), "{code}");
        assert!(ran.errors.contains("an exit code is a whole number from 0 to 255"), "{ran:?}");
    }
    assert_eq!(eval("System exit(255)").code, Some(255));
    assert_eq!(eval("System exit(-1)").code, Some(255));
    assert_eq!(eval("exit(-255)").code, Some(1));
}

#[test]
fn each_limit_has_its_code_and_says_so() {
    let fuel = telos(&["eval", "--fuel", "10000", "loop(nil)"]);
    assert_eq!(fuel.code, Some(122));
    assert!(fuel.errors.contains("out of fuel"), "{fuel:?}");
    let memory = telos(&["eval", "--memory", "2M", "l := list(); loop(l append(Object clone))"]);
    assert_eq!(memory.code, Some(123));
    assert!(memory.errors.contains("out of memory"), "{memory:?}");
    let timeout = telos(&["eval", "--timeout", "0.2", "loop(nil)"]);
    assert_eq!(timeout.code, Some(124));
    assert!(timeout.errors.contains("timed out after 0.2 s"), "{timeout:?}");
    let depth = telos(&["eval", "--depth", "50", "f := method(f); f"]);
    assert_eq!(depth.code, Some(1));
    assert!(depth.errors.contains("the depth limit is 50"), "{depth:?}");
    assert_eq!(telos(&["eval", "--depth", "50", "f := method(f); try(f) isNil not"]).ok(), "true\n");
}

#[test]
fn limits_are_written_as_people_write_them() {
    for limits in [
        ["--fuel", "1e6"],
        ["--fuel", "1_000_000"],
        ["--memory", "64MiB"],
        ["--timeout", "1.5s"],
        ["--timeout", "60000ms"],
        ["--depth", "10k"],
    ] {
        assert_eq!(telos(&["eval", limits[0], limits[1], "1"]).ok(), "1\n", "{limits:?}");
    }
    for (limit, value, example) in [
        ("--fuel", "-1", "such as 1000000, 1e6 or 10M"),
        ("--fuel", "many", "such as 1000000, 1e6 or 10M"),
        ("--memory", "10XB", "such as 64M, 1.5GiB or 1048576"),
        ("--timeout", "-1", "such as 5, 1.5s, 500ms or 2m"),
        ("--depth", "", "such as 1000000, 1e6 or 10M"),
        ("--fuel", "1.5", "a whole number from 1 on"),
        ("--fuel", "0", "a whole number from 1 on"),
        ("--timeout", "0", "a time longer than 0"),
    ] {
        let ran = telos(&["eval", limit, value, "1"]);
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert!(ran.errors.contains(example) && ran.errors.contains(limit), "{ran:?}");
    }
}

/// `telos run x.io --fuel 10` ran without a limit and said nothing.
#[test]
fn a_limit_behind_the_file_is_the_programs_and_is_warned_about() {
    let directory = tempdir().unwrap();
    write(directory.path(), "a.io", "System args println");
    let run = |arguments: &[&str]| telos_in(directory.path(), arguments, "");
    for arguments in [&["run", "a.io", "--fuel", "10"][..], &["run", "a.io", "--fuel=10"]] {
        let ran = run(arguments);
        assert!(ran.errors.starts_with("warning: --fuel") && ran.errors.contains("after the file"), "{ran:?}");
        assert!(ran.ok().starts_with("list(\"a.io\", \"--fuel"));
    }
    let meant = run(&["run", "--", "a.io", "--fuel", "10"]);
    assert_eq!(meant.errors, "");
    assert_eq!(meant.ok(), "list(\"a.io\", \"--fuel\", \"10\")\n");
    assert_eq!(run(&["run", "a.io", "--verbose"]).errors, "");
    let help = run(&["run", "a.io", "--help"]);
    assert_eq!(help.errors, "", "it looks at its arguments");
    assert_eq!(help.ok(), "list(\"a.io\", \"--help\")\n");
    write(directory.path(), "b.io", "1 println");
    let help = run(&["run", "b.io", "--help"]);
    assert!(help.errors.starts_with("note: --help stands after the file") && help.output == "1\n", "{help:?}");
    assert_eq!(run(&["run", "--", "b.io", "--help"]).errors, "");
    let misspelled = run(&["run", "--fule", "10", "a.io"]);
    assert_eq!(misspelled.code, Some(2));
    assert!(misspelled.errors.contains("'--fule'") && misspelled.errors.contains("'--fuel'"), "{misspelled:?}");
}

#[test]
fn a_sleeping_program_is_stopped_too() {
    let ran = telos(&["eval", "--timeout", "0.2", "System sleep(60)"]);
    assert_eq!(ran.code, Some(124), "{ran:?}");
}

#[test]
fn the_same_fuel_stops_at_the_same_message() {
    let run = || telos(&["eval", "--fuel", "54321", "n := 0; loop(n = n + 1; n println)"]).output;
    let first = run();
    assert!(first.lines().count() > 100);
    assert_eq!(first, run());
}

/// The standard library replaces a closed output by /dev/null: what was printed was lost, and all seemed well.
#[test]
fn output_that_was_closed_is_an_error_for_who_prints() {
    let shell = |line: &str| {
        let line = line.replace("telos", env!("CARGO_BIN_EXE_telos"));
        std::process::Command::new("sh").args(["-c", &line]).output().unwrap()
    };
    for line in
        ["telos eval '1 println' >&-", "telos eval 1 >&-", "telos eval --json 1 >&-", "telos completions bash >&-"]
    {
        let ended = shell(line);
        let errors = String::from_utf8_lossy(&ended.stderr);
        assert_eq!(ended.status.code(), Some(1), "{line}: {errors}");
        assert!(errors.contains("cannot write to standard output: it is closed"), "{line}: {errors}");
    }
    for line in ["telos eval nil >&-", "telos eval '1 println' > /dev/null", "telos eval '1 println' 1<> /dev/null"] {
        assert_eq!(shell(line).status.code(), Some(0), "{line}");
    }
}

#[test]
fn output_that_nobody_reads_ends_the_program_quietly() {
    let directory = tempdir().unwrap();
    write(directory.path(), "a.io", "i := 0; loop(i = i + 1; i println)");
    let mut child =
        command(directory.path(), &["run", "a.io"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut first = [0; 2];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    let ended = child.wait_with_output().unwrap();
    assert_eq!(&first, b"1\n");
    assert_eq!(ended.status.code(), Some(141));
    assert_eq!(String::from_utf8_lossy(&ended.stderr), "");
}

#[test]
fn what_is_no_program_is_refused_clearly() {
    let directory = tempdir().unwrap();
    write(directory.path(), "latin.io", b"1 println\n\"caf\xe9\"");
    write(directory.path(), "nul.io", b"1 println\n\0");
    let run = |name| telos_in(directory.path(), &["run", name], "");
    for (name, words) in [
        ("latin.io", "\"latin.io\" is not UTF-8: byte 0xe9 at offset 14, line 2"),
        ("nul.io", "syntax error: stray character \"\\0\""),
        ("missing.io", "cannot read \"missing.io\": no such file or directory"),
        (".", "cannot read \".\": is a directory"),
    ] {
        let ran = run(name);
        assert_eq!(ran.code, Some(1), "{ran:?}");
        assert!(ran.errors.contains(words), "{ran:?}");
        assert_eq!(ran.output, "");
    }
}

#[test]
fn nesting_without_end_neither_panics_nor_overflows() {
    let directory = tempdir().unwrap();
    write(directory.path(), "open.io", "(".repeat(100_000));
    let ran = telos_in(directory.path(), &["run", "open.io"], "");
    assert_eq!(ran.code, Some(1), "{}", &ran.errors[..ran.errors.len().min(500)]);
    assert!(ran.errors.len() < 5_000);
    write(directory.path(), "deep.io", "(".repeat(100_000) + "1" + &")".repeat(100_000));
    assert_eq!(telos_in(directory.path(), &["run", "deep.io"], "").code, Some(0));
}

#[test]
fn coroutines_come_to_their_end() {
    let program = "Object clone do(later := method(yield; \"later\" println)) @@later; \"now\" println";
    assert_eq!(telos_in(".".as_ref(), &["run", "-"], program).ok(), "now\nlater\n");
}

/// They were written to standard output, or nowhere, and the program ended well.
#[test]
fn an_exception_in_a_coroutine_is_an_error() {
    let actor = "worker := Object clone do(work := method(1 foo))\n";
    for code in ["worker @@work", "x := worker @work", "coroDo(worker work)", "worker coroDoLater(work)"] {
        let ran = telos_in(".".as_ref(), &["run", "-"], &format!("{actor}{code}; \"done\" println"));
        assert_eq!((ran.code, ran.output.as_str()), (Some(1), "done\n"), "{code}: {ran:?}");
        assert!(
            ran.errors.starts_with("error: in a coroutine: Exception: Number does not respond to 'foo'\n"),
            "{ran:?}"
        );
        assert!(ran.errors.contains(" --> -:1:"), "{ran:?}");
    }
    let unknown = telos_in(".".as_ref(), &["run", "-"], "Object clone @@foo(1)");
    assert!(unknown.errors.contains("1 | Object clone @@foo(1)\n  |                ^^^\n"), "{unknown:?}");
}

#[test]
fn an_exception_in_a_coroutine_that_somebody_handles_is_none() {
    let actor = "worker := Object clone do(work := method(1 foo))\n";
    for code in [
        "f := worker @work; e := try(f println); e catch(Exception, e error println)",
        "coroDo(worker work) exception catch(Exception, \"caught\" println)",
        "worker handleActorException := method(e, e error println); worker @@work",
        "f := worker @work; try(f println)",
    ] {
        let ran = telos_in(".".as_ref(), &["run", "-"], &format!("{actor}{code}"));
        assert_eq!((ran.code, ran.errors.as_str()), (Some(0), ""), "{code}: {ran:?}");
    }
    // Whoever waits for the result gets it, and is the only one to report it.
    let ran = telos_in(".".as_ref(), &["run", "-"], &format!("{actor}f := worker @work; f println"));
    assert_eq!((ran.code, ran.errors.matches("error:").count()), (Some(1), 1), "{ran:?}");
}
