//! `telos demo`: the whole cycle happens, each step shows what it must, and nothing is left of it, however it ends.

use crate::launch::exec::Bench;
use crate::launch::up::{Up, signal, wait_for};
use crate::launch::{Ran, command};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use tempfile::{TempDir, tempdir};

const STEPS: [&str; 10] = ["serve", "test", "dream", "merge", "why", "bad", "hostile", "conflict", "undo", "end"];

/// A directory for temporary files of one demo, so that it can be seen what is left in it.
struct Place(TempDir);

impl Place {
    fn new() -> Place {
        Place(tempdir().unwrap())
    }

    fn demo(&self, arguments: &[&str]) -> Command {
        let mut command = command(Path::new("/"), &[&["demo"], arguments].concat());
        command.env("TMPDIR", self.0.path()).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn run(&self, arguments: &[&str]) -> Ran {
        ran(self.demo(arguments).output().expect("the binary starts"))
    }

    /// Neither a file nor a process.
    fn check_nothing_is_left(&self) {
        let left: Vec<_> = std::fs::read_dir(self.0.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert!(left.is_empty(), "{left:?}");
        let path = self.0.path().to_str().expect("temporary files have plain names");
        wait_for("no process is left", || processes_in(path).is_empty());
    }
}

/// Processes that were started with a path, or stand there.
fn processes_in(path: &str) -> Vec<u32> {
    let processes =
        std::fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let is_there = |process: &u32| {
        let words = std::fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
        let place = std::fs::read_link(format!("/proc/{process}/cwd")).unwrap_or_default();
        String::from_utf8_lossy(&words).contains(path) || place.starts_with(path)
    };
    processes.filter(is_there).collect()
}

fn ran(ended: std::process::Output) -> Ran {
    ended.into()
}

#[test]
fn the_whole_cycle_is_shown_plainly_and_nothing_is_left() {
    let place = Place::new();
    let ran = place.run(&[]);
    assert_eq!((ran.code, ran.errors.as_str()), (Some(0), ""), "{}", ran.output);
    assert!(!ran.output.contains('\x1b'), "{}", ran.output);
    for number in 1..=STEPS.len() {
        assert!(ran.output.contains(&format!("\n{number}. ")), "{number}: {}", ran.output);
    }
    for words in [
        "$ telos up shop &",
        "$ telos dream run --keep --mandate multiply",
        "is merged as commit",
        "ShopTest testTotal: fails, and did not before",
        "File.read: this was asked of the world outside, and was not granted",
        "╰ exit code 3, ",
        "╰ exit code 4, ",
        " requests, 0 failed",
        "telos demo --keep",
    ] {
        assert!(ran.output.contains(words), "{words}: {}", ran.output);
    }
    place.check_nothing_is_left();
}

#[test]
fn programs_are_told_each_step_as_an_object() {
    let place = Place::new();
    let told = place.run(&["--json"]).ok();
    let steps: Vec<Value> = told.lines().map(|line| serde_json::from_str(line).expect("it is JSON")).collect();
    assert_eq!(steps.iter().map(|step| step["name"].as_str().unwrap()).collect::<Vec<_>>(), STEPS);
    for (index, step) in steps.iter().enumerate() {
        assert_eq!(
            (&step["step"], &step["passed"], &step["reason"]),
            (&(index + 1).into(), &true.into(), &Value::Null)
        );
        assert!(step["time_ms"].as_f64().is_some() && step["title"].is_string(), "{step}");
        for command in step["commands"].as_array().expect("there is a list of commands") {
            assert!(command["command"].as_str().is_some_and(|typed| typed.starts_with("telos ")), "{command}");
            for key in ["exit_code", "time_ms", "output", "errors"] {
                assert!(!command[key].is_null(), "{key}: {command}");
            }
        }
    }
    let codes = |name: &str| -> Vec<i64> {
        let step = steps.iter().find(|step| step["name"] == name).expect("there is such a step");
        step["commands"].as_array().unwrap().iter().map(|command| command["exit_code"].as_i64().unwrap()).collect()
    };
    assert_eq!((codes("test"), codes("bad")[0], codes("hostile")[0]), (vec![1], 3, 3));
    assert!(codes("conflict").contains(&4) && codes("merge").iter().all(|code| *code == 0));
    let requests = &steps.last().unwrap()["requests"];
    assert_eq!(requests["failed"], 0, "{requests}");
    for value in ["7", "12"] {
        assert!(requests["answers"][value].as_u64().is_some_and(|count| count > 0), "{requests}");
    }
    place.check_nothing_is_left();
}

#[test]
fn ctrl_c_at_any_step_ends_it_and_clears_up() {
    for (step, name, code) in [(1, "INT", 130), (4, "INT", 130), (8, "TERM", 143)] {
        let place = Place::new();
        let mut child = place.demo(&[]).spawn().expect("the binary starts");
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let heading = format!("{step}. ");
        assert!(lines.any(|line| line.is_ok_and(|line| line.starts_with(&heading))), "step {step} comes");
        signal(child.id(), name);
        // All that it prints is read, or it might wait.
        let rest = lines.count();
        let ended = ran(child.wait_with_output().unwrap());
        assert_eq!(ended.code, Some(code), "step {step}, {rest} lines later: {ended:?}");
        place.check_nothing_is_left();
    }
}

#[test]
fn nobody_who_reads_ends_it_quietly() {
    let place = Place::new();
    let mut child = place.demo(&[]).spawn().expect("the binary starts");
    drop(child.stdout.take());
    let ended = ran(child.wait_with_output().unwrap());
    assert_eq!((ended.code, ended.errors.as_str()), (Some(141), ""));
    place.check_nothing_is_left();
}

#[test]
fn what_is_kept_is_an_image_to_go_on_with_and_nothing_is_written_over() {
    let place = Place::new();
    let kept = tempdir().unwrap();
    let image = kept.path().join("my shop");
    let path = image.to_str().unwrap();
    let ran = place.run(&["--keep", path]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.output.contains(&format!("telos up '{path}'\n")), "{}", ran.output);
    place.check_nothing_is_left();
    let mut up = Up::start_in(&image, &[]);
    assert_eq!(up.send("list(Shop total(3, 4), Shop stock, Shop opens)").ok(), "list(7, 99, \"8:00\")\n");
    up.stop();
    let ran = place.run(&["--keep", path]);
    assert!(ran.code == Some(1) && ran.errors.contains("is there already"), "{ran:?}");
    place.check_nothing_is_left();
}

/// A terminal of so many columns.
const TERMINAL: &str = "\
import fcntl, os, pty, struct, sys, termios
columns, program = int(sys.argv[1]), sys.argv[2:]
pid, line = pty.fork()
if pid == 0:
    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack('HHHH', 24, columns, 0, 0))
    os.execv(program[0], program)
while True:
    try: bytes = os.read(line, 65536)
    except OSError: break
    if not bytes: break
    sys.stdout.buffer.write(bytes)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
";

fn on_terminal(place: &Place, columns: &str, variables: &[(&str, &str)]) -> Ran {
    let plain = place.demo(&[]);
    let mut python = Command::new("python3");
    python.args(["-c", TERMINAL, columns]).arg(plain.get_program()).args(plain.get_args()).env_remove("NO_COLOR");
    python.env("TMPDIR", place.0.path()).envs(variables.iter().copied()).stdin(Stdio::null());
    ran(python.output().expect("there is a Python"))
}

#[test]
fn a_terminal_has_colours_unless_they_are_unwanted_and_lines_that_fit() {
    let place = Place::new();
    let wide = on_terminal(&place, "80", &[]);
    assert!(wide.code == Some(0) && wide.output.contains("\x1b[32m"), "{wide:?}");
    let narrow = on_terminal(&place, "40", &[("NO_COLOR", "1")]);
    assert_eq!(narrow.code, Some(0), "{narrow:?}");
    assert!(!narrow.output.contains('\x1b'), "{}", narrow.output);
    // Commands are whole, to be copied; what has no spaces cannot be broken.
    let is_text = |line: &&str| line.starts_with("   ") && !line.contains("$ ") && line.trim().contains(' ');
    for line in narrow.output.lines().filter(is_text).filter(|line| !line.starts_with("     ")) {
        let longest = line.split(' ').map(|word| word.chars().count()).max().unwrap_or(0);
        assert!(line.trim_end().chars().count() <= 40.max(longest + 20), "{line:?}");
    }
    place.check_nothing_is_left();
}

/// Inside of a sandbox no other can be made: it is a host without namespaces.
#[test]
fn a_host_that_cannot_seal_is_told_where_to_look() {
    let bench = Bench::new();
    let binary = Path::new(env!("CARGO_BIN_EXE_telos"));
    let directory = binary.parent().and_then(Path::to_str).expect("the binary is in a directory");
    let ran = bench.exec(&["--read", directory, "--timeout", "60", "--", binary.to_str().unwrap(), "demo"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.errors.contains("cannot seal dreams") && ran.errors.contains("`telos doctor`"), "{ran:?}");
}

#[test]
fn the_tour_of_the_language_has_no_options_of_the_cycle() {
    let place = Place::new();
    let ran = place.run(&["language", "--json"]);
    assert!(ran.code == Some(2) && ran.errors.contains("--keep and --json are for the cycle"), "{ran:?}");
    assert_eq!(place.run(&["nonsense"]).code, Some(2));
}
