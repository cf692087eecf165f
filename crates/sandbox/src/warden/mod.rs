//! The process backend for those who run many: what is the same for all runs is prepared.
//!
//! - `pool`: cells that are ready, which one run after another is in, alone

mod pool;

use crate::backend::{Backend, Running, Stop, Streams};
use crate::error::SandboxError;
use crate::network::Network;
use crate::order::Order;
use crate::outcome::Outcome;
use crate::process::{Cell, Process, Purpose, begin_in};
use crate::wall::{Strength, Wall};
use pool::Pool;
use std::os::fd::OwnedFd;
use std::sync::Arc;

/// Runs in cells what can be run there, and all else as `Process` does.
#[derive(Default)]
pub struct Pooled {
    pool: Arc<Pool>,
}

impl Pooled {
    pub fn new() -> Pooled {
        Pooled::default()
    }
}

impl Backend for Pooled {
    fn name(&self) -> &'static str {
        "pooled"
    }

    fn survey(&self) -> Vec<(Wall, Strength)> {
        Process::new().survey()
    }

    fn start(&self, order: &Order, streams: Streams) -> Result<Box<dyn Running>, SandboxError> {
        // A host that lacks a wall is told by who looks for each of them.
        let can_be_in_cell = order.network == Network::None && !order.allows_weaker;
        let cell = if can_be_in_cell { self.pool.take() } else { None };
        let Some(cell) = cell else { return Process::new().start(order, streams) };
        let run = begin_in(Some(&cell), order, streams, Purpose::Run)?;
        Ok(Box::new(InCell { run: Box::new(run), cell, pool: self.pool.clone() }))
    }
}

/// A run and the cell that it is in.
struct InCell {
    run: Box<dyn Running>,
    cell: Cell,
    pool: Arc<Pool>,
}

impl Running for InCell {
    fn stop(&self) -> Stop {
        self.run.stop()
    }

    fn stop_when_readable(&mut self, lifeline: OwnedFd) {
        self.run.stop_when_readable(lifeline);
    }

    fn wait(self: Box<Self>) -> Result<Outcome, SandboxError> {
        let InCell { run, cell, pool } = *self;
        let outcome = run.wait();
        // All that was in it has ended: what is left now stays.
        if outcome.is_ok() {
            pool.give_back(cell);
        }
        outcome
    }
}
