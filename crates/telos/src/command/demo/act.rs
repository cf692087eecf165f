//! One command of the demo, as a person would type it: run, waited for, and ended if somebody wants the whole to end.

use crate::command::exec::signals::Received;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::fs::File;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};
use system::shell::quoted;

/// Why a demo does not go on.
pub enum Stop {
    /// A step did not give what it must.
    Wrong(String),
    /// By this signal.
    Interrupted(usize),
    /// Nobody reads what it prints.
    Unread,
}

/// How often it is looked whether somebody pressed Ctrl-C.
const LOOK: Duration = Duration::from_millis(20);

/// What a command came to.
#[derive(Clone)]
pub struct Ran {
    /// As it would be typed.
    pub command: String,
    /// None if a signal ended it.
    pub code: Option<i32>,
    pub output: String,
    pub errors: String,
    pub time: Duration,
}

impl Ran {
    /// Its value, as `telos send` prints it.
    pub fn value(&self) -> &str {
        self.output.trim_end()
    }

    pub fn to_json(&self) -> Value {
        json!({
            "command": self.command,
            "exit_code": self.code,
            "time_ms": milliseconds(self.time),
            "output": self.output,
            "errors": self.errors,
        })
    }
}

/// With three digits behind the point.
pub fn milliseconds(time: Duration) -> f64 {
    time.as_micros() as f64 / 1e3
}

/// Who runs commands.
pub struct Actor {
    pub program: PathBuf,
    /// Where it stands, so that files need no long names.
    pub directory: PathBuf,
    /// What `TELOS_IMAGE` says.
    pub image: PathBuf,
    pub received: Received,
}

impl Actor {
    /// As it would be typed.
    pub fn typed(words: &[&str], input: Option<&str>) -> String {
        let words: Vec<String> = words.iter().map(quoted).collect();
        let input = input.map(|file| format!(" < {}", quoted(file))).unwrap_or_default();
        format!("telos {}{input}", words.join(" "))
    }

    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(words).current_dir(&self.directory).env("TELOS_IMAGE", &self.image);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs a command of telos to its end; `input` is a file for its standard input.
    pub fn run(&self, words: &[&str], input: Option<&str>) -> Result<Ran, Stop> {
        let mut command = self.command(words);
        let cannot = |error: std::io::Error| Stop::Wrong(format!("telos cannot be started: {error}"));
        if let Some(file) = input {
            command.stdin(File::open(self.directory.join(file)).map_err(cannot)?);
        }
        let begun = Instant::now();
        let child = command.spawn().map_err(cannot)?;
        let pid = child.id();
        let ended = self.heard(&waited(child)).inspect_err(|_| signal(pid, Signal::TERM))?;
        let time = begun.elapsed();
        let Output { status, stdout, stderr } = ended.map_err(cannot)?;
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        let command = Actor::typed(words, input);
        Ok(Ran { command, code: status.code(), output: text(stdout), errors: text(stderr), time })
    }

    /// What comes, unless somebody ends the demo before.
    pub fn heard<T>(&self, from: &Receiver<T>) -> Result<T, Stop> {
        loop {
            match from.recv_timeout(LOOK) {
                Ok(value) => return Ok(value),
                Err(RecvTimeoutError::Timeout) => self.check_signals()?,
                Err(RecvTimeoutError::Disconnected) => return Err(Stop::Wrong("a thread of the demo failed".into())),
            }
        }
    }

    pub fn check_signals(&self) -> Result<(), Stop> {
        match self.received.load(Ordering::SeqCst) {
            0 => Ok(()),
            signal => Err(Stop::Interrupted(signal)),
        }
    }
}

fn waited(child: Child) -> Receiver<std::io::Result<Output>> {
    let (sender, receiver) = channel();
    // Nobody listens any more if the demo was ended.
    std::thread::spawn(move || drop(sender.send(child.wait_with_output())));
    receiver
}

/// To a child of ours that nobody has waited for yet.
pub fn signal(pid: u32, signal: Signal) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        // It may have ended by itself.
        let _ = kill_process(pid, signal);
    }
}
