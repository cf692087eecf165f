//! What was asked and answered, written down: one line of JSON for each call, in one write.

use crate::call::{Answer, Call};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::Write;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

/// A recording does not fill the disk.
const BYTES_MAX: u64 = 1 << 30;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Line {
    pub time_ms: u64,
    pub caller: String,
    pub call: Call,
    pub answer: Answer,
}

pub struct Record(Mutex<State>);

struct State {
    file: File,
    written_bytes: u64,
    /// Why there is nothing more after some line.
    problem: Option<String>,
}

impl Record {
    pub fn new(file: File) -> Record {
        let written_bytes = file.metadata().map_or(0, |details| details.len());
        Record(Mutex::new(State { file, written_bytes, problem: None }))
    }

    /// After the first failure nothing more is written: a recording has no holes.
    pub fn write(&self, caller: String, call: Call, answer: Answer) {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let time_ms = u64::try_from(since.as_millis()).unwrap_or(u64::MAX);
        let line = serde_json::to_vec(&Line { time_ms, caller, call, answer });
        let mut state = self.state();
        if state.problem.is_some() {
            return;
        }
        let written = line.map_err(Into::into).and_then(|mut line| {
            line.push(b'\n');
            state.written_bytes += line.len() as u64;
            if state.written_bytes > BYTES_MAX {
                return Err(std::io::Error::other("it is full; take another file"));
            }
            state.file.write_all(&line)
        });
        state.problem = written.err().map(|error| format!("the recording ends early: {error}"));
    }

    pub fn problem(&self) -> Option<String> {
        self.state().problem.clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
