//! Runs the real binary, as a user would.

#![allow(dead_code, reason = "each test file uses what it needs")]

pub mod cycle;
pub mod exec;
pub mod kill;
pub mod person;
pub mod up;

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// What a run left behind.
#[derive(Debug)]
pub struct Ran {
    pub code: Option<i32>,
    pub output: String,
    pub errors: String,
}

impl From<Output> for Ran {
    fn from(ended: Output) -> Ran {
        Ran {
            code: ended.status.code(),
            output: String::from_utf8_lossy(&ended.stdout).into_owned(),
            errors: String::from_utf8_lossy(&ended.stderr).into_owned(),
        }
    }
}

impl Ran {
    /// The output of a run that must have succeeded.
    pub fn ok(self) -> String {
        assert_eq!(self.code, Some(0), "{self:?}");
        self.output
    }
}

pub fn telos(arguments: &[&str]) -> Ran {
    telos_in(Path::new("."), arguments, "")
}

/// Runs in a directory, with text on standard input.
pub fn telos_in(directory: &Path, arguments: &[&str], input: &str) -> Ran {
    let mut child = command(directory, arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let mut stdin = child.stdin.take().expect("standard input is a pipe");
    // A program that does not read its input closes it.
    let _ = stdin.write_all(input.as_bytes());
    drop(stdin);
    let ended = child.wait_with_output().expect("the binary ends");
    ended.into()
}

pub fn command(directory: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_telos"));
    command
        .current_dir(directory)
        .args(arguments)
        .env("TZ", "UTC")
        .env_remove("NO_COLOR")
        .env_remove("TELOS_IMAGE")
        .env_remove("TELOS_TOKEN_FILE")
        // Nobody's own log of runs, nor languages.
        .env("XDG_STATE_HOME", concat!(env!("CARGO_TARGET_TMPDIR"), "/state"))
        .env("XDG_CONFIG_HOME", concat!(env!("CARGO_TARGET_TMPDIR"), "/configuration"))
        .env("RUST_BACKTRACE", "0");
    command
}

/// Evaluates one expression.
pub fn eval(expression: &str) -> Ran {
    telos(&["eval", expression])
}

/// Runs a line of a shell with our binary first on the path.
pub fn shell(directory: &Path, line: &str) -> Ran {
    let binary = Path::new(env!("CARGO_BIN_EXE_telos")).parent().expect("the binary is in a directory");
    let path = format!("{}:{}", binary.display(), std::env::var("PATH").unwrap_or_default());
    let mut shell = Command::new("sh");
    shell.args(["-c", line]).current_dir(directory).env("PATH", path).stdin(Stdio::null());
    shell.env("XDG_STATE_HOME", directory.join("state"));
    shell.output().expect("there is a shell").into()
}

pub fn write(directory: &Path, name: &str, contents: impl AsRef<[u8]>) {
    std::fs::write(directory.join(name), contents).expect("a temporary file can be written");
}

/// Whether there is a cgroup whose name contains this.
pub fn has_cgroup(name: &str) -> bool {
    const DEEPEST: u32 = 4;
    holds_below(Path::new("/sys/fs/cgroup"), name, DEEPEST)
}

/// Whether a directory of this name, or a part of it, lies below another.
fn holds_below(directory: &Path, name: &str, depth: u32) -> bool {
    std::fs::read_dir(directory).into_iter().flatten().flatten().any(|entry| {
        entry.file_name().to_string_lossy().contains(name)
            || (depth > 0
                && entry.file_type().is_ok_and(|kind| kind.is_dir())
                && holds_below(&entry.path(), name, depth - 1))
    })
}
