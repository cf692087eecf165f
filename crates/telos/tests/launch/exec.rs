//! Programs in sandboxes, each with a log of runs of its own.

use super::{Ran, command};
use std::io::Write;
use std::path::Path;
use std::process::Stdio;
use tempfile::{TempDir, tempdir};

/// A place to run things from.
pub struct Bench {
    pub directory: TempDir,
    pub state: TempDir,
    pub configuration: TempDir,
}

impl Bench {
    pub fn new() -> Bench {
        let [directory, state, configuration] = [(); 3].map(|()| tempdir().expect("a temporary directory"));
        Bench { directory, state, configuration }
    }

    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    pub fn command(&self, arguments: &[&str]) -> std::process::Command {
        let mut command = command(self.path(), arguments);
        command.env("XDG_STATE_HOME", self.state.path()).env("XDG_CONFIG_HOME", self.configuration.path());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// `telos exec` with these arguments, and text on its standard input.
    pub fn exec_with(&self, arguments: &[&str], input: &str) -> Ran {
        let arguments = [&["exec"], arguments].concat();
        let mut child = self.command(&arguments).stdin(Stdio::piped()).spawn().expect("the binary starts");
        // A program that does not read its input closes it.
        let _ = child.stdin.take().expect("standard input is a pipe").write_all(input.as_bytes());
        ran(child.wait_with_output().expect("the binary ends"))
    }

    pub fn exec(&self, arguments: &[&str]) -> Ran {
        self.exec_with(arguments, "")
    }

    /// A script for `bash`, with options before it.
    pub fn bash(&self, options: &[&str], script: &str) -> Ran {
        self.exec(&[options, &["--", "bash", "-c", script]].concat())
    }

    pub fn telos(&self, arguments: &[&str]) -> Ran {
        ran(self.command(arguments).output().expect("the binary ends"))
    }

    /// The newest line of the log of runs.
    pub fn last_run(&self) -> serde_json::Value {
        let runs: serde_json::Value = serde_json::from_str(&self.telos(&["runs", "--json", "-n1"]).ok()).expect("JSON");
        runs[0].clone()
    }
}

fn ran(ended: std::process::Output) -> Ran {
    ended.into()
}
