//! What a program prints, on its way: written at once, or kept for `--json`; digested in any case. Where nobody reads it
//! any more, the program is stopped.

use super::terminal::Tamed;
use sandbox::changes::Digest;
use sandbox::{Sink, Stop, Stream};
use std::io::{IsTerminal, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Where output goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Route {
    /// To ours.
    Through,
    /// Both to standard error: standard output is for the diff.
    Aside,
    /// Into memory.
    Kept,
}

/// Looks at output while it comes. The sandbox has a sink of it.
#[derive(Clone)]
pub struct Tap(Arc<Mutex<State>>);

struct State {
    route: Route,
    is_raw: bool,
    output: Half,
    errors: Half,
    is_closed: bool,
    stop: Option<Stop>,
}

#[derive(Default)]
struct Half {
    digest: Digest,
    kept: Vec<u8>,
    tamed: Tamed,
}

/// What came of it.
pub struct Taken {
    pub output: Vec<u8>,
    pub errors: Vec<u8>,
    pub output_digest: String,
    pub errors_digest: String,
    /// Nobody read it any more.
    pub was_closed: bool,
}

impl Tap {
    pub fn new(route: Route, is_raw: bool) -> Tap {
        let (output, errors) = (Half::default(), Half::default());
        Tap(Arc::new(Mutex::new(State { route, is_raw, output, errors, is_closed: false, stop: None })))
    }

    pub fn sink(&self) -> Sink {
        let tap = self.clone();
        Box::new(move |stream, bytes| tap.state().take(stream, bytes))
    }

    /// From now on a program that nobody listens to is ended.
    pub fn stop_with(&self, stop: Stop) {
        let mut state = self.state();
        if state.is_closed {
            stop.stop();
        }
        state.stop = Some(stop);
    }

    pub fn taken(&self) -> Taken {
        let mut state = self.state();
        Taken {
            output: std::mem::take(&mut state.output.kept),
            errors: std::mem::take(&mut state.errors.kept),
            output_digest: state.output.digest.text(),
            errors_digest: state.errors.digest.text(),
            was_closed: state.is_closed,
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn take(&mut self, stream: Stream, bytes: &[u8]) {
        let (route, is_raw) = (self.route, self.is_raw);
        let half = match stream {
            Stream::Output => &mut self.output,
            Stream::Error => &mut self.errors,
        };
        half.digest.add(bytes);
        let written = match (route, stream) {
            (Route::Kept, _) => {
                half.kept.extend_from_slice(bytes);
                Ok(())
            }
            (Route::Through, Stream::Output) => half.write(std::io::stdout().lock(), bytes, is_raw),
            _ => half.write(std::io::stderr().lock(), bytes, is_raw),
        };
        if written.is_err() && stream == Stream::Output && !self.is_closed {
            self.is_closed = true;
            if let Some(stop) = &self.stop {
                stop.stop();
            }
        }
    }
}

impl Half {
    fn write(&mut self, mut to: impl Write + IsTerminal, bytes: &[u8], is_raw: bool) -> std::io::Result<()> {
        if is_raw || !to.is_terminal() {
            to.write_all(bytes)?;
        } else {
            to.write_all(&self.tamed.tame(bytes))?;
        }
        to.flush()
    }
}
