//! What an agent wrote and nobody has looked at yet. The sandbox puts it in and never waits; whoever talks with the agent takes it
//! out. An agent that writes more than fits is not waited for: it has to read its answers.

use crate::command::exec::terminal::Tamed;
use sandbox::{Sink, Stop, Stream};
use std::io::{IsTerminal, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Of requests that wait for their turn.
const WAITING_BYTES_MAX: usize = 4 << 20;
/// Of standard error, for `--json`; the rest is left out.
const ERRORS_BYTES_MAX: usize = 1 << 20;

#[derive(Clone)]
pub struct Intake(Arc<(Mutex<State>, Condvar)>);

#[derive(Default)]
struct State {
    waiting: Vec<u8>,
    is_flooded: bool,
    /// Nothing more will come.
    is_closed: bool,
    stop: Option<Stop>,
    keeps_errors: bool,
    errors: Vec<u8>,
    tamed: Tamed,
}

/// What there is to do.
pub enum Next {
    Bytes(Vec<u8>),
    Closed,
    /// It said nothing for a while.
    Silence,
}

impl Intake {
    /// Standard error goes to ours, unless it is to be kept.
    pub fn new(keeps_errors: bool) -> Intake {
        Intake(Arc::new((Mutex::new(State { keeps_errors, ..State::default() }), Condvar::new())))
    }

    pub fn sink(&self) -> Sink {
        let intake = self.clone();
        Box::new(move |stream, bytes| {
            let mut state = intake.state();
            match stream {
                Stream::Output => state.take(bytes),
                Stream::Error => state.take_errors(bytes),
            }
            intake.0.1.notify_all();
        })
    }

    /// From now on an agent that floods us is ended.
    pub fn stop_with(&self, stop: Stop) {
        let mut state = self.state();
        if state.is_flooded {
            stop.stop();
        }
        state.stop = Some(stop);
    }

    pub fn close(&self) {
        self.state().is_closed = true;
        self.0.1.notify_all();
    }

    /// Waits for something to do. What was written before the end comes before it.
    pub fn next(&self, patience: Duration) -> Next {
        let mut state = self.wait(patience, |state| !state.waiting.is_empty() || state.is_closed);
        match (state.waiting.is_empty(), state.is_closed) {
            (false, _) => Next::Bytes(std::mem::take(&mut state.waiting)),
            (true, true) => Next::Closed,
            (true, false) => Next::Silence,
        }
    }

    /// Whether nothing more comes, which is waited for.
    pub fn is_closed_within(&self, patience: Duration) -> bool {
        self.wait(patience, |state| state.is_closed).is_closed
    }

    fn wait(&self, patience: Duration, is_ready: impl Fn(&State) -> bool) -> MutexGuard<'_, State> {
        let deadline = Instant::now() + patience;
        let mut state = self.state();
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if is_ready(&state) || left.is_zero() {
                return state;
            }
            state = self.0.1.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    pub fn is_flooded(&self) -> bool {
        self.state().is_flooded
    }

    /// What it wrote to standard error, if that was kept.
    pub fn errors(&self) -> String {
        String::from_utf8_lossy(&self.state().errors).into_owned()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn take(&mut self, bytes: &[u8]) {
        if self.is_flooded {
            return;
        }
        if self.waiting.len() + bytes.len() <= WAITING_BYTES_MAX {
            return self.waiting.extend_from_slice(bytes);
        }
        self.is_flooded = true;
        if let Some(stop) = &self.stop {
            stop.stop();
        }
    }

    fn take_errors(&mut self, bytes: &[u8]) {
        if self.keeps_errors {
            let room = ERRORS_BYTES_MAX.saturating_sub(self.errors.len());
            self.errors.extend_from_slice(&bytes[..room.min(bytes.len())]);
            return;
        }
        let mut to = std::io::stderr().lock();
        // Where nobody reads it, there is nobody to complain to.
        let _ = match to.is_terminal() {
            true => to.write_all(&self.tamed.tame(bytes)),
            false => to.write_all(bytes),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_comes_before_the_end_and_a_flood_is_told() {
        let intake = Intake::new(true);
        let mut sink = intake.sink();
        assert!(matches!(intake.next(Duration::ZERO), Next::Silence));
        sink(Stream::Output, b"one");
        sink(Stream::Output, b"two");
        intake.close();
        assert!(matches!(intake.next(Duration::ZERO), Next::Bytes(bytes) if bytes == b"onetwo"));
        assert!(matches!(intake.next(Duration::ZERO), Next::Closed));
        for _ in 0..1000 {
            sink(Stream::Output, &[0; 16 << 10]);
            sink(Stream::Error, &[0; 16 << 10]);
        }
        assert!(intake.is_flooded() && intake.state().waiting.len() <= WAITING_BYTES_MAX);
        assert_eq!(intake.state().errors.len(), ERRORS_BYTES_MAX);
    }
}
