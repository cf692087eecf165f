//! Ctrl-C, Ctrl-\, SIGTERM and SIGHUP end a run, so that it can be recorded; they would end us, and it with us. What is being
//! applied when one comes is applied to its end.
//!
//! No thread waits for them: a handler notes which one came and writes to a pipe, which whoever waits for the run watches
//! as well.

use rustix::pipe::{PipeFlags, pipe_with};
use sandbox::Running;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::{flag, low_level};
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize};

/// The signal that came, 0 if none did.
pub type Received = Arc<AtomicUsize>;

/// What is known of signals that come.
#[derive(Default)]
pub struct Signals {
    pub received: Received,
    /// Becomes readable when one has come.
    lifeline: Option<OwnedFd>,
}

impl Signals {
    /// For somebody else who waits.
    pub fn lifeline(&self) -> Option<OwnedFd> {
        self.lifeline.as_ref()?.try_clone().ok()
    }

    /// Forgets that one has come: what follows is stopped by the next.
    pub fn rearm(&self) {
        if let Some(lifeline) = &self.lifeline {
            // The pipe does not block, and whatever is in it is as many signals.
            while matches!(rustix::io::read(lifeline, &mut [0; 64]), Ok(1..)) {}
        }
    }
}

/// Only after a run has been started: the sandbox forks, and what is inside must not have these handlers. Without them the
/// signals end us as ever.
pub fn stop_on_signals(running: &mut dyn Running) -> Signals {
    let received = Received::default();
    let lifeline = try_stop_on_signals(running, &received).ok();
    Signals { received, lifeline }
}

fn try_stop_on_signals(running: &mut dyn Running, received: &Received) -> io::Result<OwnedFd> {
    let (readable, writable) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
    let lifeline = readable.try_clone()?;
    // All before the first is registered: a signal that is caught must stop the run.
    let copy = || writable.try_clone();
    let ends = [(SIGHUP, copy()?), (SIGINT, copy()?), (SIGQUIT, copy()?), (SIGTERM, copy()?)];
    for (signal, end) in ends {
        // Which one it was is known before anybody is woken: handlers run in this order.
        flag::register_usize(signal, received.clone(), signal as usize)?;
        low_level::pipe::register(signal, end)?;
    }
    running.stop_when_readable(readable);
    Ok(lifeline)
}

/// After a run: from now on they end us again, with the exit code that a shell would tell; but for Ctrl-C, for which the caller has
/// something better.
pub fn end_on_signals() {
    for signal in [SIGHUP, SIGQUIT, SIGTERM] {
        // Where it cannot be had, the signal is noted and no more.
        let _ = flag::register_conditional_shutdown(signal, 128 + signal, Arc::new(AtomicBool::new(true)));
    }
}
