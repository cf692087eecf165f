//! What programs can do with the host, and what they are told when they may not.

use crate::launch::{eval, telos, telos_in, write};
use std::path::Path;
use tempfile::tempdir;

fn eval_in(directory: &Path, program: &str) -> String {
    telos_in(directory, &["run", "-"], program).ok()
}

#[test]
fn files_are_written_read_and_removed() {
    let directory = tempdir().unwrap();
    let program = r#"
        f := File with("a.txt") setContents("one\ntwo\n")
        f appendToContents("three")
        f exists println
        f size println
        f contents println
        f readLines println
        f close
        f openForUpdating
        f at(1) println
        f atPut(0, 79)
        f setPosition(4)
        f readLine println
        f position println
        f isAtEnd println
        f close
        f contents beforeSeq("\n") println
        File with("a.txt") openForReading readToEnd size println
        f moveTo("b.txt")
        File exists("a.txt") println
        File with("b.txt") remove exists println
    "#;
    assert_eq!(
        eval_in(directory.path(), program),
        "true\n13\none\ntwo\nthree\nlist(\"one\", \"two\", \"three\")\n110\ntwo\n8\nfalse\nOne\n13\nfalse\nfalse\n"
    );
}

#[test]
fn a_file_that_was_never_closed_is_written_all_the_same() {
    let directory = tempdir().unwrap();
    eval_in(directory.path(), "File with(\"a\") open write(\"x\", 1, \"y\")");
    assert_eq!(std::fs::read_to_string(directory.path().join("a")).unwrap(), "x1y");
    let ran = telos_in(directory.path(), &["eval", "File with(\"b\") open write(\"z\"); System exit(4)"], "");
    assert_eq!(ran.code, Some(4));
    assert_eq!(std::fs::read_to_string(directory.path().join("b")).unwrap(), "z");
}

#[test]
fn failures_name_the_file_and_the_reason() {
    let directory = tempdir().unwrap();
    let error = |program: &str| telos_in(directory.path(), &["run", "-"], program).errors;
    assert!(error("File with(\"no\") contents").contains("cannot read \"no\": no such file or directory"));
    assert!(error("File with(\"no\") openForReading").contains("cannot open \"no\""));
    assert!(error("File with(\"no\") readLine").contains("it is not open"));
    assert!(error("Directory with(\"no\") items").contains("cannot read the directory \"no\""));
    write(directory.path(), "r", "x");
    assert!(error("File with(\"r\") openForReading write(\"y\")").contains("open for reading only"));
}

#[test]
fn directories_list_create_and_walk() {
    let directory = tempdir().unwrap();
    let program = r#"
        Directory with("d/e") createIfAbsent
        File with("d/f.txt") create
        Directory with("d") items map(name) println
        Directory with("d") directories map(path) println
        Directory with("d") files map(name) println
        Directory with("d") at("f.txt") type println
        Directory with("d") at("nothing") println
        Directory with("d") remove exists println
    "#;
    assert_eq!(
        eval_in(directory.path(), program),
        "list(\".\", \"..\", \"e\", \"f.txt\")\nlist(\"d/e\")\nlist(\"f.txt\")\nFile\nnil\nfalse\n"
    );
}

#[test]
fn commands_run_with_the_program_s_environment() {
    assert_eq!(eval("System setEnvironmentVariable(\"A\", \"b\"); System system(\"echo $A\"); nil").ok(), "b\n");
    assert_eq!(eval("System system(\"exit 3\")").ok(), "3\n");
    assert_eq!(eval("System runCommand(\"echo out\") stdout").ok(), "out\n\n");
    assert_eq!(
        eval("f := File clone popen(\"echo a; exit 2\"); l := f readLine; f close; list(l, f exitStatus)").ok(),
        "list(\"a\", 2)\n"
    );
    assert_eq!(eval("write(\"first \"); System system(\"echo second\"); nil").ok(), "first second\n");
    assert_eq!(eval("System getEnvironmentVariable(\"no such=\")").ok(), "");
}

#[test]
fn dates_know_the_calendar() {
    let date = "Date clone fromNumber(1234567890)";
    assert_eq!(eval(&format!("{date} asString(\"%Y-%m-%d %H:%M:%S %Z\")")).ok(), "2009-02-13 23:31:30 UTC\n");
    assert_eq!(eval(&format!("{date} convertToZone(-60) asString(\"%H:%M %Z\")")).ok(), "00:31 +0100\n");
    assert_eq!(eval("Date clone fromString(\"2004/09/06\", \"%Y/%m/%d\") day").ok(), "6\n");
    assert_eq!(eval("(Date clone now - Date clone fromNumber(0)) asNumber > 1700000000").ok(), "true\n");
    assert_eq!(eval("Date secondsToRun(System sleep(0.05)) > 0.04").ok(), "true\n");
    assert_eq!(eval("Duration clone setHours(25) asString(\"%d %H\")").ok(), "01 01\n");
}

#[test]
fn the_local_zone_is_the_host_s() {
    let mut command =
        crate::launch::command(Path::new("."), &["eval", "Date clone fromNumber(1247659200) asString(\"%H %Z\")"]);
    let ended = command.env("TZ", "Europe/Berlin").output().unwrap();
    let text = String::from_utf8_lossy(&ended.stdout).into_owned();
    // A machine without zone files knows UTC only.
    assert!(text == "14 CEST\n" || text.starts_with("12 "), "{text}");
}

#[test]
fn random_numbers_differ_and_seeded_ones_do_not() {
    let draw = "Random clone value";
    assert_ne!(eval(draw).ok(), eval(draw).ok());
    let seeded = "r := Random clone setSeed(7); list(r value, r int(100), r flip)";
    assert_eq!(eval(seeded).ok(), eval(seeded).ok());
}

#[test]
fn what_was_withheld_is_refused_by_name() {
    for (capability, program) in [
        ("files", "File with(\"x\")"),
        ("files", "Directory with(\"x\")"),
        ("clock", "Date clone now"),
        ("clock", "System sleep(0)"),
        ("environment", "System getEnvironmentVariable(\"HOME\")"),
        ("processes", "System system(\"true\")"),
        ("processes", "File clone popen(\"true\")"),
        ("randomness", "Random value"),
        ("system", "System platform"),
        ("system", "System activeCpus"),
        ("system", "System installPrefix"),
    ] {
        let ran = telos(&["eval", "--deny", capability, program]);
        assert_eq!(ran.code, Some(1), "{ran:?}");
        assert!(ran.errors.contains(&format!("this machine was given no {capability}")), "{ran:?}");
        assert!(ran.errors.contains("help: start it without"), "{ran:?}");
        let ran = telos(&["eval", "--no-host", program]);
        assert!(ran.errors.contains("this machine was given no"), "{ran:?}");
    }
}

#[test]
fn a_machine_without_host_runs_what_needs_none() {
    assert_eq!(telos(&["eval", "--no-host", "Random clone setSeed(1) value < 1"]).ok(), "true\n");
    assert_eq!(telos(&["eval", "--no-host", "list(3, 1, 2) sort"]).ok(), "list(1, 2, 3)\n");
    assert_eq!(telos(&["eval", "--no-host", "System exit(5)"]).code, Some(5));
    assert_eq!(telos(&["eval", "--no-host", "try(File with(\"x\")) error"]).ok(), "this machine was given no files\n");
    // Found by review: System was handed in whatever was withheld, and told where this program lies.
    assert_eq!(telos(&["eval", "--no-host", "System isAvailable"]).ok(), "false\n");
    assert_eq!(telos(&["eval", "--no-host", "System distribution"]).ok(), "telos\n");
    let ran = telos(&["eval", "--no-host", "Unheard"]);
    assert!(ran.errors.contains("does not respond to 'Unheard'"), "{ran:?}");
}

/// "file name contained an unexpected nul byte", and `exists` was false: a literal with other letters than ASCII has wider items, whose
/// bytes were taken for the path.
#[test]
fn paths_commands_and_variables_have_any_letters() {
    let directory = tempfile::tempdir().unwrap();
    let program = "Directory with(\"ü\") create
        list(Directory with(\"ü\") exists, Directory exists(\"ü\"), Directory with(\".\") at(\"ü\") type) println
        f := File with(\"ü/木🌳\") setContents(\"x\")
        list(f exists, f size, File exists(\"ü/木🌳\"), f path == \"ü/木🌳\", f name == \"木🌳\" asUTF8) println
        f moveTo(\"ü/é\")
        File clone openForReading(\"ü/é\") readLine println
        Directory with(\"ü\") createSubdirectory(\"ñ\") exists println
        System runCommand(\"ls ü; echo $ß\") stdout print
        System setEnvironmentVariable(\"ß\", \"µ\"); System getEnvironmentVariable(\"ß\") println
        Directory setCurrentWorkingDirectory(\"ü\") println";
    assert_eq!(
        eval_in(directory.path(), program),
        "list(true, true, \"Directory\")\nlist(true, 1, true, true, true)\nx\ntrue\né\nñ\n$ß\nµ\ntrue\n"
    );
    assert!(directory.path().join("ü/é").exists());
}
