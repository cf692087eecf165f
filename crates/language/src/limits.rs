//! Limits on a program: fuel, memory, depth and interruption. Counted, never timed, so that the same program with the
//! same limits stops at the same message every time.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

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
pub struct Interrupt(Arc<Switch>);

#[derive(Debug, Default)]
struct Switch {
    is_set: AtomicBool,
    /// How often the machine has looked since it was calm.
    looks: AtomicU32,
    long: OnceLock<WhenLong>,
}

struct WhenLong(Box<dyn Fn() + Send + Sync>);

impl std::fmt::Debug for WhenLong {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("WhenLong")
    }
}

/// A program that was looked at so often takes long. The first look is where it begins.
const LOOKS_OF_SHORT: u32 = 3;

impl Interrupt {
    pub fn set(&self) {
        self.0.is_set.store(true, Ordering::Relaxed);
    }

    /// Whether it was set since the last look.
    pub fn take(&self) -> bool {
        let looks = self.0.looks.load(Ordering::Relaxed).saturating_add(1);
        self.0.looks.store(looks, Ordering::Relaxed);
        if looks == LOOKS_OF_SHORT {
            self.0.long.get().into_iter().for_each(|WhenLong(tell)| tell());
        }
        self.0.is_set.load(Ordering::Relaxed) && self.0.is_set.swap(false, Ordering::Relaxed)
    }

    /// Before the next program: what was set was not meant for it.
    pub fn calm(&self) {
        self.0.is_set.store(false, Ordering::Relaxed);
        self.0.looks.store(0, Ordering::Relaxed);
    }

    /// Has this called, where the machine looks, for each program that takes long: whoever could set the switch need not listen
    /// before. Once only.
    pub fn when_long(&self, tell: impl Fn() + Send + Sync + 'static) {
        // Whoever was first is told.
        let _ = self.0.long.set(WhenLong(Box::new(tell)));
    }
}

/// The machine looks at interrupts and memory each time it has used this much fuel.
pub(crate) const FUEL_SLICE: u64 = 10_000;

/// The most that compiled code spends before it pays: a unit whose messages are more is left to the tree.
pub const CREDIT: u64 = 4096;

/// Fuel, handed out in slices so that the hot path counts down one number only.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tank {
    /// Left in this slice. Compiled code pays late, so it may owe up to `CREDIT`.
    pub slice: i64,
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
        self.reserve.saturating_add_signed(self.slice)
    }

    /// Whether what compiled code may owe can be paid.
    #[inline(always)]
    pub fn gives_credit(&self) -> bool {
        self.reserve >= CREDIT
    }

    /// Makes the slice have so many units: by whole slices, at least one, as long as there is more than code may owe;
    /// the last of the fuel is handed out unit by unit. False if there is not enough: then the rest is in the slice.
    pub fn refill(&mut self, units: i64) -> bool {
        let missing = units.saturating_sub(self.slice).max(0) as u64;
        let spare = self.reserve.saturating_sub(CREDIT);
        let taken = match missing.max(1) <= spare {
            true => missing.max(1).div_ceil(self.portion).saturating_mul(self.portion).min(spare),
            false => missing.min(self.reserve),
        };
        if self.limit.is_some() {
            self.reserve -= taken;
        }
        self.slice = self.slice.saturating_add_unsigned(taken);
        self.slice >= units
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tank_hands_out_all_it_has_and_no_more() {
        for limit in [0, 1, CREDIT - 1, CREDIT, CREDIT + 1, 3 * FUEL_SLICE + 7] {
            let mut tank = Tank::new(Some(limit));
            let mut used = 0;
            while tank.slice > 0 || tank.refill(1) {
                tank.slice -= 1;
                used += 1;
            }
            assert_eq!((used, tank.left()), (limit, 0));
        }
    }

    #[test]
    fn somebody_is_told_of_each_program_that_takes_long_and_of_no_other() {
        let (interrupt, told) = (Interrupt::default(), Arc::new(AtomicU32::new(0)));
        let count = told.clone();
        interrupt.when_long(move || _ = count.fetch_add(1, Ordering::Relaxed));
        for (looks, told_by_then) in [(2, 0), (2, 0), (3, 1), (100, 2)] {
            interrupt.calm();
            (0..looks).for_each(|_| assert!(!interrupt.take()));
            assert_eq!(told.load(Ordering::Relaxed), told_by_then);
        }
    }

    #[test]
    fn what_is_owed_is_paid_out_of_the_rest() {
        let mut tank = Tank::new(Some(CREDIT));
        tank.slice = -100;
        assert!(tank.refill(0));
        assert_eq!((tank.slice, tank.left()), (0, CREDIT - 100));
        assert!(!tank.gives_credit());
    }
}
