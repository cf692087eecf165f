//! Limits on a program: fuel, memory, depth and interruption. Counted, never timed, so that the same program with the
//! same limits stops at the same message every time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What a program may use.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Messages sent, and work done by primitives in the same measure.
    pub fuel: Option<u64>,
    /// Logical bytes in use after a collection; on a store, only of what the transaction made.
    pub memory_bytes: Option<u64>,
    /// Block activations on one coroutine's stack and on those that started it and wait; one more raises an exception that a program can catch.
    pub depth: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { fuel: None, memory_bytes: None, depth: 4_000_000 }
    }
}

/// Lets another thread stop the machine at its next look, within `FUEL_SLICE` messages.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    pub fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it was set since the last look.
    pub fn take(&self) -> bool {
        self.0.load(Ordering::Relaxed) && self.0.swap(false, Ordering::Relaxed)
    }
}

/// The machine looks at interrupts and memory each time it has used this much fuel.
pub(crate) const FUEL_SLICE: u64 = 10_000;

/// Fuel, handed out in slices so that the hot path counts down one number only.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tank {
    /// Left in this slice.
    pub slice: u64,
    /// Left beyond this slice.
    pub reserve: u64,
    pub limit: Option<u64>,
    /// How much a slice is.
    pub portion: u64,
}

impl Tank {
    pub fn new(limit: Option<u64>) -> Tank {
        Tank { slice: 0, reserve: limit.unwrap_or(u64::MAX), limit, portion: FUEL_SLICE }
    }

    /// Fuel left in all.
    pub fn left(&self) -> u64 {
        self.slice.saturating_add(self.reserve)
    }

    /// Takes whole slices until there are so many units, at least one slice. False if there is not enough left: then
    /// the rest is in the slice.
    pub fn refill(&mut self, units: u64) -> bool {
        let missing = units.saturating_sub(self.slice).max(1);
        let taken = missing.div_ceil(self.portion).saturating_mul(self.portion).min(self.reserve);
        if self.limit.is_some() {
            self.reserve -= taken;
        }
        self.slice = self.slice.saturating_add(taken);
        taken > 0 && self.slice >= units
    }
}
