//! The process backend for those who run many: what is the same for all runs is prepared.
//!
//! - `pool`: cells that are ready, which one run after another is in, alone, and zygotes in such
//! - `run`: a run in one of them

mod pool;
mod run;

use crate::backend::{Backend, Running, Streams};
use crate::error::SandboxError;
use crate::order::Order;
use crate::process::{Process, begin_in, can_run, find_granted, sweep};
pub use crate::process::{SAID_BY_ZYGOTES, ZygoteKind};
use crate::wall::{Strength, Wall};
use pool::Pool;
use run::Prepared;
use std::sync::Arc;
use std::time::Duration;

/// Runs in cells and zygotes what can be run there, and all else as `Process` does.
#[derive(Default)]
pub struct Pooled {
    pool: Arc<Pool>,
}

impl Pooled {
    pub fn new() -> Pooled {
        Pooled::default()
    }

    /// Orders that these serve are run by them. What nothing has run in for as long as `keeping` is given up when the next
    /// run comes.
    pub fn with_zygotes(kinds: Vec<ZygoteKind>, keeping: Duration) -> Pooled {
        Pooled { pool: Arc::new(Pool::new(kinds, Some(keeping))) }
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
        if order.allows_weaker || !can_run(order, &[]) {
            return Process::new().start(order, streams);
        }
        let Some(mut place) = self.pool.take(order) else { return Process::new().start(order, streams) };
        let sources = find_granted(&order.view.grants, place.cell.ids);
        if !sources.as_ref().is_ok_and(|sources| can_run(order, sources)) {
            self.pool.give_back(place);
            return Process::new().start(order, streams);
        }
        let run = begin_in(&mut place.cell, place.guest.as_ref(), order, sources?, streams)?;
        Ok(Box::new(Prepared { run: Box::new(run), place, pool: self.pool.clone() }))
    }

    fn clear(&self) {
        self.pool.clear();
        // What those left who were killed.
        sweep();
    }
}
