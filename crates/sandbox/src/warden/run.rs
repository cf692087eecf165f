//! A run in a place that was prepared, to which it goes back.

use super::pool::{Place, Pool};
use crate::backend::{Running, Stop};
use crate::error::SandboxError;
use crate::outcome::Outcome;
use std::os::fd::OwnedFd;
use std::sync::Arc;

pub struct Prepared {
    pub run: Box<dyn Running>,
    pub place: Place,
    pub pool: Arc<Pool>,
}

impl Running for Prepared {
    fn stop(&self) -> Stop {
        self.run.stop()
    }

    fn stop_when_readable(&mut self, lifeline: OwnedFd) {
        self.run.stop_when_readable(lifeline);
    }

    fn wait(self: Box<Self>) -> Result<Outcome, SandboxError> {
        let Prepared { run, place, pool } = *self;
        let outcome = run.wait();
        // All that was in it has ended: what is left now stays.
        if outcome.is_ok() {
            pool.give_back(place);
        }
        outcome
    }
}
