//! The trait that every kind of sandbox offers. Callers know nothing else of them.

use crate::error::SandboxError;
use crate::order::Order;
use crate::outcome::Outcome;
use crate::wall::{Strength, Wall};
use std::os::fd::OwnedFd;

pub trait Backend: Send + Sync {
    fn name(&self) -> &'static str;

    /// What this host offers, wall by wall.
    fn survey(&self) -> Vec<(Wall, Strength)>;

    /// Starts a run, or refuses: nothing has run when this fails.
    fn start(&self, order: &Order, streams: Streams) -> Result<Box<dyn Running>, SandboxError>;

    /// Gives up what is kept ready for runs to come.
    fn clear(&self) {}
}

/// A run that has been started. Dropping it kills all of it.
pub trait Running: Send {
    /// Stops it from another thread.
    fn stop(&self) -> Stop;

    /// Stops it as soon as this becomes readable, or the other end of it is closed.
    fn stop_when_readable(&mut self, lifeline: OwnedFd);

    /// Hands its output on as it comes, and returns when all of it has ended and is gone.
    fn wait(self: Box<Self>) -> Result<Outcome, SandboxError>;
}

/// Stops a run; nothing happens if it has ended.
#[derive(Clone)]
pub struct Stop(pub(crate) std::sync::Arc<dyn Fn() + Send + Sync>);

impl Stop {
    pub fn new(stop: std::sync::Arc<dyn Fn() + Send + Sync>) -> Stop {
        Stop(stop)
    }

    pub fn stop(&self) {
        (self.0)();
    }
}

/// What a run reads and where its output goes. It never gets a terminal: these are always pipes of ours inside.
pub struct Streams {
    pub stdin: Stdin,
    pub output: Sink,
}

impl Streams {
    /// Nothing to read, and what is written is of no interest.
    pub fn nowhere() -> Streams {
        Streams { stdin: Stdin::Empty, output: Box::new(|_, _| {}) }
    }
}

/// Takes output as it comes.
pub type Sink = Box<dyn FnMut(Stream, &[u8]) + Send>;

pub enum Stdin {
    Empty,
    Bytes(Vec<u8>),
    /// Read as the run reads it.
    Descriptor(OwnedFd),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stream {
    Output,
    Error,
}
