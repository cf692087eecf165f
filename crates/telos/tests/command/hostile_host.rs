//! What a program can do to the host by reading too much, waiting too long or forgetting to close. Found by attack: each
//! of these took all memory, hung or left something behind.

use crate::launch::{command, eval, telos, telos_in, write};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::tempdir;

#[test]
fn a_memory_limit_holds_for_what_is_read() {
    for program in [
        "File with(\"/dev/zero\") contents",
        "File with(\"/dev/zero\") openForReading readLine",
        "File with(\"/dev/zero\") openForReading readToEnd",
        "File with(\"/dev/zero\") openForReading readBufferOfLength(1e12)",
        "File with(\"/dev/zero\") openForReading readToBufferLength(Sequence clone, 1e12)",
        "File with(\"/dev/zero\") readLines",
        "File clone popen(\"yes\") contents",
        "File clone popen(\"yes\") readLines",
        "System runCommand(\"yes\")",
        "System runCommand(\"yes 1>&2\")",
        "doFile(\"/dev/zero\")",
    ] {
        let ran = telos(&["eval", "--memory", "32M", program]);
        assert_eq!(ran.code, Some(123), "{program}: {ran:?}");
        assert!(ran.errors.contains("out of memory"), "{program}: {ran:?}");
    }
}

#[test]
fn a_memory_limit_holds_for_standard_input() {
    let input = "x".repeat(4 << 20);
    for program in ["File standardInput contents", "File standardInput readLine"] {
        let ran = telos_in(Path::new("."), &["eval", "--memory", "2M", program], &input);
        assert_eq!(ran.code, Some(123), "{program}: {ran:?}");
    }
    assert_eq!(telos_in(Path::new("."), &["eval", "File standardInput contents size"], &input).ok(), "4194304\n");
}

/// Making room for a line may collect, and the lines before it were known to nobody.
#[test]
fn lines_survive_a_collection_while_they_are_read() {
    let directory = tempdir().unwrap();
    write(directory.path(), "lines", (0..20_000).map(|each| format!("line {each}\n")).collect::<String>());
    let program = "
        l := 5 repeat(x := File with(\"lines\") readLines)
        list(l size, l at(0), l at(19999), l map(size) sum)";
    let ran = telos_in(directory.path(), &["eval", "--memory", "12M", program], "");
    assert_eq!(ran.ok(), "list(20000, \"line 0\", \"line 19999\", 188890)\n");
}

/// A file without an end: there is a limit without `--memory`, too.
#[test]
fn one_sequence_holds_a_gigabyte_at_most() {
    let directory = tempdir().unwrap();
    std::fs::File::create(directory.path().join("huge")).unwrap().set_len((1 << 30) + 1).unwrap();
    let ran = telos_in(directory.path(), &["eval", "File with(\"huge\") contents"], "");
    assert!(ran.errors.contains("it has 1073741825 bytes, and a Sequence holds 1073741824"), "{ran:?}");
}

#[test]
fn waiting_for_others_ends_with_the_time() {
    for program in [
        "System system(\"sleep 20\")",
        "System runCommand(\"sleep 20\")",
        "File clone popen(\"sleep 20\") readLine",
        "File clone popen(\"sleep 20\") isAtEnd",
        "File clone popen(\"sleep 20\") close",
        "File standardInput readLine",
        "File standardInput isAtEnd",
    ] {
        let began = Instant::now();
        let mut child = command(Path::new("."), &["eval", "--timeout", "0.1", program])
            .stdin(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // Kept open: the program waits for what never comes.
        let input = child.stdin.take();
        assert_eq!(child.wait().unwrap().code(), Some(124), "{program}");
        assert!(began.elapsed() < Duration::from_secs(2), "{program} took {:?}", began.elapsed());
        drop(input);
    }
}

/// The program's own text was read to its end, whenever that came and however long it was.
#[test]
fn reading_the_program_itself_is_bounded() {
    let directory = tempdir().unwrap();
    let ran = telos(&["run", "/dev/zero"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.errors.contains("it is longer than the 64 MiB that a program may have"), "{ran:?}");
    assert!(Command::new("mkfifo").arg(directory.path().join("pipe")).status().unwrap().success());
    for file in ["pipe", "-"] {
        let began = Instant::now();
        let mut child = command(directory.path(), &["run", "--timeout", "0.1", file])
            .stdin(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let input = child.stdin.take();
        assert_eq!(child.wait().unwrap().code(), Some(124), "{file}");
        assert!(began.elapsed() < Duration::from_secs(2), "{file} took {:?}", began.elapsed());
        drop(input);
    }
    write(directory.path(), "fed", "\"through a pipe\" println");
    let shell = format!("cat fed > pipe & exec {} run pipe", env!("CARGO_BIN_EXE_telos"));
    let ended = Command::new("sh").args(["-c", &shell]).current_dir(directory.path()).output().unwrap();
    assert_eq!(ended.stdout, b"through a pipe\n", "{ended:?}");
}

/// One step over hundreds of megabytes went on for two seconds after the time was up.
#[test]
fn a_long_step_ends_with_the_time() {
    for step in ["escape", "asUCS4", "asJson", "occurrencesOfSeq(\"ab\")", "replaceSeq(\"a\", \"bc\")", "split(\"b\")"]
    {
        let program = format!("\"begun\" println; s := \"ab\\n\" repeated(1e8); loop(s clone {step})");
        let began = Instant::now();
        let ran = telos(&["eval", "--timeout", "0.5", &program]);
        assert_eq!((ran.code, ran.output.as_str()), (Some(124), "begun\n"), "{step}: {ran:?}");
        assert!(began.elapsed() < Duration::from_millis(1500), "{step} took {:?}", began.elapsed());
    }
}

/// Whether a process is at work; one that has ended may still be listed, for want of somebody who asks how.
fn is_running(process: &str) -> bool {
    let state = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    state.rsplit_once(") ").is_some_and(|(_, state)| !state.starts_with('Z'))
}

/// The shell was ended with the program, what it had started lived on.
#[test]
fn commands_end_with_the_program_that_is_stopped() {
    let background = "sleep 50 & echo $! > process; wait";
    for program in [
        format!("System system(\"{background}\")"),
        format!("System runCommand(\"{background}\")"),
        format!("File clone popen(\"{background}\") readLine"),
        format!("f := File clone popen(\"{background}\"); System sleep(20)"),
    ] {
        let directory = tempdir().unwrap();
        let ran = telos_in(directory.path(), &["eval", "--timeout", "0.5", &program], "");
        assert_eq!(ran.code, Some(124), "{program}: {ran:?}");
        let process = std::fs::read_to_string(directory.path().join("process")).unwrap();
        let began = Instant::now();
        while is_running(process.trim()) {
            assert!(began.elapsed() < Duration::from_secs(5), "{program} left process {process} behind");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// The copy of the text and a string in the making were counted nowhere: twice the limit was in use.
#[test]
fn parsing_json_keeps_to_the_memory_limit() {
    for program in [
        r#"("[" .. ("1," repeated(3e7)) .. "1]") parseJson size"#,
        r#"("\"" .. ("abcdefgh" repeated(1e7)) .. "\"") parseJson size"#,
    ] {
        let shell = format!("ulimit -v 400000; exec {} eval --memory 200M '{program}'", env!("CARGO_BIN_EXE_telos"));
        let ended = Command::new("sh").args(["-c", &shell]).output().unwrap();
        assert_eq!(ended.status.code(), Some(123), "{program}: {ended:?}");
    }
}

#[test]
fn run_command_takes_all_that_a_pipeline_writes_and_leaves_no_files() {
    let directory = tempdir().unwrap();
    let outcome = |shell: &str| {
        let program = format!("o := System runCommand(\"{shell}\"); list(o exitStatus, o stdout, o stderr)");
        let mut command = command(directory.path(), &["eval", &program]);
        let ended = command.env("TMPDIR", directory.path().join("no such \"directory")).output().unwrap();
        String::from_utf8_lossy(&ended.stdout).into_owned()
    };
    assert_eq!(outcome("echo a; echo b | cat; echo c 1>&2; exit 3"), "list(3, \"a\\nb\\n\", \"c\\n\")\n");
    assert_eq!(outcome("echo a # and nothing else"), "list(0, \"a\\n\", \"\")\n");
    assert_eq!(outcome("sleep 20 & echo a"), "list(0, \"a\\n\", \"\")\n");
    assert_eq!(
        outcome("seq 1 100000 | tail -1; seq 1 100000 | tail -1 1>&2"),
        "list(0, \"100000\\n\", \"100000\\n\")\n"
    );
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
    assert_eq!(eval("System runCommand(\"exit 2\", 2) succeeded").ok(), "true\n");
}

/// Runs `program.io` with 64 file descriptors.
fn with_few_descriptors(directory: &Path) -> Output {
    let shell = format!("ulimit -n 64; exec {} run program.io", env!("CARGO_BIN_EXE_telos"));
    Command::new("sh").arg("-c").arg(shell).current_dir(directory).output().unwrap()
}

#[test]
fn files_that_are_never_closed_do_not_use_up_the_descriptors() {
    let directory = tempdir().unwrap();
    write(directory.path(), "a", "text");
    let program = "
        3000 repeat(File with(\"a\") openForReading)
        300 repeat(File clone popen(\"true\"))
        File with(\"a\") contents println";
    write(directory.path(), "program.io", program);
    let ended = with_few_descriptors(directory.path());
    assert_eq!(ended.stdout, b"text\n", "{ended:?}");
}

#[test]
fn files_that_are_all_kept_open_are_refused_in_the_end() {
    let directory = tempdir().unwrap();
    write(directory.path(), "a", "text");
    write(directory.path(), "program.io", "all := list(); loop(all append(File with(\"a\") openForReading))");
    let ended = with_few_descriptors(directory.path());
    assert_eq!(ended.status.code(), Some(1));
    let errors = String::from_utf8_lossy(&ended.stderr);
    assert!(errors.contains("cannot open \"a\": too many open files"), "{errors}");
}

#[test]
fn random_bytes_beyond_a_sequence_are_refused_at_once() {
    let ran = eval("Random bytes(1e15)");
    assert!(ran.errors.contains("a Sequence cannot hold 1000000000000000 bytes"), "{ran:?}");
    assert_eq!(eval("Random bytes(10) size").ok(), "10\n");
}
