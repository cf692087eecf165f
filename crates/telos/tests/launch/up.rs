//! An image that is up, for one test: started, talked to, and always ended.

use super::{Ran, command, telos_in};
use keeper::Client;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Nothing that is waited for here takes that long on any machine.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// A keeper and its image process.
pub struct Up {
    pub directory: PathBuf,
    child: Child,
    pub image_pid: u32,
    is_ended: bool,
    _temporary: Option<tempfile::TempDir>,
}

impl Up {
    pub fn start(arguments: &[&str]) -> Up {
        let temporary = tempfile::tempdir().expect("there is a place for temporary files");
        let directory = temporary.path().join("image");
        let mut up = Up::start_in(&directory, arguments);
        up._temporary = Some(temporary);
        up
    }

    /// With variables that the keeper has.
    pub fn start_with_environment(variables: &[(&str, &str)]) -> Up {
        let temporary = tempfile::tempdir().expect("there is a place for temporary files");
        let directory = temporary.path().join("image");
        let mut started = command(Path::new("/"), &up_arguments(&directory, &[]));
        started.envs(variables.iter().copied());
        let mut up = Up::launch(&directory, started);
        up._temporary = Some(temporary);
        up
    }

    pub fn start_in(directory: &Path, arguments: &[&str]) -> Up {
        Up::launch(directory, command(Path::new("/"), &up_arguments(directory, arguments)))
    }

    /// With these variables, such as where its log of runs is.
    pub fn start_with(variables: &[(&str, &Path)], arguments: &[&str]) -> Up {
        let temporary = tempfile::tempdir().expect("there is a place for temporary files");
        let directory = temporary.path().join("image");
        let mut command = command(Path::new("/"), &up_arguments(&directory, arguments));
        command.envs(variables.iter().copied());
        let mut up = Up::launch(&directory, command);
        up._temporary = Some(temporary);
        up
    }

    /// With a limit that a shell sets, such as `-n 64`.
    pub fn start_limited(limit: &str) -> Up {
        let temporary = tempfile::tempdir().expect("there is a place for temporary files");
        let directory = temporary.path().join("image");
        let mut up = Up::launch(&directory, limited(limit, &up_arguments(&directory, &[])));
        up._temporary = Some(temporary);
        up
    }

    fn launch(directory: &Path, mut command: Command) -> Up {
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        let mut line = String::new();
        let stdout = child.stdout.as_mut().expect("standard output is a pipe");
        BufReader::new(stdout).read_line(&mut line).expect("it says when it is ready");
        let ready: serde_json::Value = serde_json::from_str(&line).unwrap_or_else(|_| {
            let mut errors = String::new();
            let _ = child.stderr.take().expect("standard error is a pipe").read_to_string(&mut errors);
            panic!("not ready: {line:?} {errors}")
        });
        let image_pid = ready["image_pid"].as_u64().expect("it names the image process") as u32;
        Up { directory: directory.into(), child, image_pid, is_ended: false, _temporary: None }
    }

    /// Starts it once more, after it has ended, in the same directory.
    pub fn start_again(&mut self, arguments: &[&str]) {
        let mut again = Up::start_in(&self.directory, arguments);
        again._temporary = self._temporary.take();
        *self = again;
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn client(&self) -> Client {
        Client::connect(&self.directory, "test").expect("the image is up")
    }

    pub fn run(&self, arguments: &[&str], input: &str) -> Ran {
        let directory = self.directory.to_str().expect("temporary files have plain names");
        let (verb, rest) = arguments.split_first().expect("there is a command");
        let all: Vec<&str> = [*verb, "--image", directory].iter().chain(rest).copied().collect();
        telos_in(Path::new("."), &all, input)
    }

    pub fn send(&self, expression: &str) -> Ran {
        self.run(&["send", expression], "")
    }

    pub fn signal(&self, name: &str) {
        signal(self.pid(), name);
    }

    /// Waits for the keeper to end; gives its exit code and what it said.
    pub fn ended(&mut self) -> (Option<i32>, String) {
        let deadline = Instant::now() + PATIENCE;
        let status = loop {
            match self.child.try_wait().expect("it is our child") {
                Some(status) => break status,
                None if Instant::now() > deadline => panic!("the keeper does not end"),
                None => std::thread::sleep(Duration::from_millis(5)),
            }
        };
        self.is_ended = true;
        let mut errors = String::new();
        let _ = self.child.stderr.take().expect("standard error is a pipe").read_to_string(&mut errors);
        (status.code(), errors)
    }

    /// Stops it as an administrator would.
    pub fn stop(&mut self) -> (Option<i32>, String) {
        self.signal("TERM");
        self.ended()
    }
}

fn up_arguments<'a>(directory: &'a Path, arguments: &[&'a str]) -> Vec<&'a str> {
    let path = directory.to_str().expect("temporary files have plain names");
    ["up", "--json", path].iter().chain(arguments).copied().collect()
}

/// The binary behind a shell that sets a limit.
pub fn limited(limit: &str, arguments: &[&str]) -> Command {
    let plain = command(Path::new("/"), arguments);
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("ulimit {limit}; exec \"$0\" \"$@\"")]).arg(plain.get_program()).args(plain.get_args());
    shell.current_dir("/").envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
    shell
}

impl Drop for Up {
    fn drop(&mut self) {
        if !self.is_ended {
            // The image process ends when it notices.
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
        wait_for("the image process ends", || !is_alive(self.image_pid));
    }
}

pub fn signal(pid: u32, name: &str) {
    let sent = std::process::Command::new("kill").args([format!("-{name}"), pid.to_string()]).status();
    assert!(sent.is_ok_and(|status| status.success()), "process {pid} is there");
}

/// Whether a process runs; one that waits to be buried does not.
pub fn is_alive(pid: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = status.rsplit(") ").next().and_then(|rest| rest.chars().next());
    state.is_some_and(|state| state != 'Z')
}

/// Waits until something is so, and says what was not if it takes for ever.
pub fn wait_for(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !is_so() {
        if std::thread::panicking() {
            return;
        }
        assert!(Instant::now() < deadline, "it never came to this: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
