//! The process backend for those who run many: what is the same for all runs is prepared.
//!
//! - `pool`: cells that are ready, which one run after another is in, alone, and zygotes in such
//! - `run`: a run in one of them

mod pool;
mod run;

use crate::backend::{Backend, Running, Streams};
use crate::error::SandboxError;
use crate::network::Network;
use crate::order::Order;
pub use crate::process::ZygoteKind;
use crate::process::{Process, Purpose, begin_hosted, begin_in};
use crate::wall::{Strength, Wall};
use pool::Pool;
use run::{Place, Prepared};
use std::sync::Arc;

/// Runs in cells and zygotes what can be run there, and all else as `Process` does.
#[derive(Default)]
pub struct Pooled {
    pool: Arc<Pool>,
}

impl Pooled {
    pub fn new() -> Pooled {
        Pooled::default()
    }

    /// Orders that these serve are run by them.
    pub fn with_zygotes(kinds: Vec<ZygoteKind>) -> Pooled {
        Pooled { pool: Arc::new(Pool::new(kinds)) }
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
        if order.network != Network::None || order.allows_weaker {
            return Process::new().start(order, streams);
        }
        let (run, place) = if let Some(zygote) = self.pool.take_zygote(order) {
            (begin_hosted(&zygote.zygote, order, streams)?, Place::Zygote(zygote))
        } else if let Some(cell) = self.pool.take() {
            (begin_in(Some(&cell), order, streams, Purpose::Run)?, Place::Cell(cell))
        } else {
            return Process::new().start(order, streams);
        };
        Ok(Box::new(Prepared { run: Box::new(run), place, pool: self.pool.clone() }))
    }
}
