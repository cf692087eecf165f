//! What an agent wrote and nobody has looked at yet. The sandbox puts it in and never waits; whoever talks with the agent takes it
//! out. An agent that writes more than fits is not waited for: it has to read its answers.

use crate::command::exec::outlet::{Outlet, Patience, Unwritten};
use crate::command::exec::terminal::Tamed;
use sandbox::changes::Digest;
use sandbox::{Sink, Stop, Stream};
use std::io::{self, IsTerminal};
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
    /// How long whoever reads its standard error is waited for.
    patience: Arc<Patience>,
    keeps_errors: bool,
    errors: Vec<u8>,
    /// Of all that it wrote.
    output_digest: Digest,
    errors_digest: Digest,
}

/// What it writes to standard error, on its way to ours.
struct Complaints {
    outlet: Outlet,
    /// On a terminal, what is harmless.
    tamed: Option<Tamed>,
    unwritten: Option<Unwritten>,
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

    pub fn sink(&self) -> io::Result<Sink> {
        let intake = self.clone();
        let mut complaints = if self.state().keeps_errors { None } else { Some(Complaints::new()?) };
        Ok(Box::new(move |stream, bytes| {
            let patience = intake.state().take_from(stream, bytes);
            intake.0.1.notify_all();
            // Nobody else waits meanwhile: what it asks for is answered.
            if let (Stream::Error, Some(complaints)) = (stream, &mut complaints) {
                complaints.hand_on(bytes, &patience);
            }
        }))
    }

    /// From now on an agent that floods us is ended.
    pub fn stop_with(&self, stop: Stop, patience: Patience) {
        let mut state = self.state();
        if state.is_flooded {
            stop.stop();
        }
        state.stop = Some(stop);
        state.patience = Arc::new(patience);
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

    /// Of standard output and standard error.
    pub fn digests(&self) -> [String; 2] {
        let state = self.state();
        [state.output_digest.text(), state.errors_digest.text()]
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn take_from(&mut self, stream: Stream, bytes: &[u8]) -> Arc<Patience> {
        match stream {
            Stream::Output => {
                self.output_digest.add(bytes);
                self.take(bytes);
            }
            Stream::Error => {
                self.errors_digest.add(bytes);
                self.keep_errors(bytes);
            }
        }
        self.patience.clone()
    }

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

    fn keep_errors(&mut self, bytes: &[u8]) {
        if self.keeps_errors {
            let room = ERRORS_BYTES_MAX.saturating_sub(self.errors.len());
            self.errors.extend_from_slice(&bytes[..room.min(bytes.len())]);
        }
    }
}

impl Complaints {
    fn new() -> io::Result<Complaints> {
        let tamed = io::stderr().is_terminal().then(Tamed::default);
        Ok(Complaints { outlet: Outlet::new(io::stderr())?, tamed, unwritten: None })
    }

    /// Where nobody reads it, there is nobody to complain to; who took too long hears no more.
    fn hand_on(&mut self, bytes: &[u8], patience: &Patience) {
        if self.unwritten.is_none() {
            let harmless = self.tamed.as_mut().map(|tamed| tamed.tame(bytes));
            self.unwritten = self.outlet.write(harmless.as_deref().unwrap_or(bytes), patience).err();
        }
    }
}

impl Drop for Complaints {
    /// What was held back to see what comes behind it.
    fn drop(&mut self) {
        if let Some(held) = self.tamed.take().and_then(Tamed::end).filter(|_| self.unwritten.is_none()) {
            let at_once = Patience { until: Some(Instant::now()), lifeline: None };
            let _ = self.outlet.write(&[held], &at_once);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_comes_before_the_end_and_a_flood_is_told() {
        let intake = Intake::new(true);
        let mut sink = intake.sink().unwrap();
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
        let [output, errors] = intake.digests();
        assert_eq!(errors, sandbox::changes::digest::of(&vec![0; 16_000 << 10]).text(), "of all of it, kept or not");
        assert_eq!(output, sandbox::changes::digest::of(&[b"onetwo".to_vec(), vec![0; 16_000 << 10]].concat()).text());
    }
}
