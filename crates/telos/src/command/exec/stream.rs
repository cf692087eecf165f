//! What a program prints, on its way: written at once, or kept for `--json`; digested in any case. Where nobody reads it
//! any more, the program is stopped.

use super::outlet::{Outlet, Patience, Unwritten};
use super::terminal::Tamed;
use sandbox::changes::Digest;
use sandbox::{Sink, Stop, Stream};
use std::io::{self, IsTerminal};
use std::os::fd::AsFd;
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
    output: Half,
    errors: Half,
    /// Why nothing more of it is written.
    unwritten: Option<Unwritten>,
    patience: Patience,
    stop: Option<Stop>,
}

struct Half {
    digest: Digest,
    kept: Vec<u8>,
    /// Where it is written; none if it is kept.
    outlet: Option<Outlet>,
    /// On a terminal, what is harmless.
    tamed: Option<Tamed>,
}

/// What came of it.
pub struct Taken {
    pub output: Vec<u8>,
    pub errors: Vec<u8>,
    pub output_digest: String,
    pub errors_digest: String,
    /// Why not all of it was written, if so.
    pub unwritten: Option<Unwritten>,
}

impl Tap {
    pub fn new(route: Route, is_raw: bool) -> io::Result<Tap> {
        let (output, errors) = match route {
            Route::Through => (Half::to(io::stdout(), is_raw)?, Half::to(io::stderr(), is_raw)?),
            Route::Aside => (Half::to(io::stderr(), is_raw)?, Half::to(io::stderr(), is_raw)?),
            Route::Kept => (Half::kept(), Half::kept()),
        };
        let patience = Patience::default();
        Ok(Tap(Arc::new(Mutex::new(State { output, errors, unwritten: None, patience, stop: None }))))
    }

    pub fn sink(&self) -> Sink {
        let tap = self.clone();
        Box::new(move |stream, bytes| tap.state().take(stream, bytes))
    }

    /// From now on a program that nobody listens to is ended, and a reader that stands still waited for only so long.
    pub fn stop_with(&self, stop: Stop, patience: Patience) {
        let mut state = self.state();
        if state.unwritten.is_some_and(Unwritten::is_lasting) {
            stop.stop();
        }
        state.stop = Some(stop);
        state.patience = patience;
    }

    pub fn taken(&self) -> Taken {
        let mut state = self.state();
        state.end();
        Taken {
            output: std::mem::take(&mut state.output.kept),
            errors: std::mem::take(&mut state.errors.kept),
            output_digest: state.output.digest.text(),
            errors_digest: state.errors.digest.text(),
            unwritten: state.unwritten,
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn take(&mut self, stream: Stream, bytes: &[u8]) {
        self.half(stream).digest.add(bytes);
        let half = self.half(stream);
        match &mut half.tamed {
            _ if half.outlet.is_none() => half.kept.extend_from_slice(bytes),
            Some(tamed) => {
                let harmless = tamed.tame(bytes);
                self.write(stream, &harmless);
            }
            None => self.write(stream, bytes),
        }
    }

    fn half(&mut self, stream: Stream) -> &mut Half {
        match stream {
            Stream::Output => &mut self.output,
            Stream::Error => &mut self.errors,
        }
    }

    /// What was held back to see what comes behind it.
    fn end(&mut self) {
        for stream in [Stream::Output, Stream::Error] {
            let held = self.half(stream).tamed.take().and_then(Tamed::end);
            self.write(stream, held.as_slice());
        }
    }

    fn write(&mut self, stream: Stream, bytes: &[u8]) {
        let half = match stream {
            Stream::Output => &self.output,
            Stream::Error => &self.errors,
        };
        let Some(outlet) = half.outlet.as_ref().filter(|_| self.unwritten.is_none()) else { return };
        match outlet.write(bytes, &self.patience) {
            // Where nobody reads complaints, there is nobody to complain to.
            Err(Unwritten::Closed) if stream == Stream::Error => {}
            Ok(()) => {}
            Err(unwritten) => {
                self.unwritten = Some(unwritten);
                if let Some(stop) = self.stop.as_ref().filter(|_| unwritten.is_lasting()) {
                    stop.stop();
                }
            }
        }
    }
}

impl Half {
    fn kept() -> Half {
        Half { digest: Digest::default(), kept: Vec::new(), outlet: None, tamed: None }
    }

    fn to(standard: impl AsFd + IsTerminal, is_raw: bool) -> io::Result<Half> {
        let tamed = (standard.is_terminal() && !is_raw).then(Tamed::default);
        Ok(Half { outlet: Some(Outlet::new(standard)?), tamed, ..Half::kept() })
    }
}
