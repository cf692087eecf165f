//! Cells that are ready, and zygotes in such. One is made where none is; one that a run has left is kept if nothing can be
//! told of that run.

use crate::order::Order;
use crate::process::{Cell, Zygote, ZygoteKind};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// So many wait for runs; more are given up.
const MOST: usize = 32;
/// After so many runs a zygote is replaced: what its children have in common, such as where things lie in memory, is known
/// to all that ran there.
const MOST_RUNS: u32 = 1000;

/// A zygote and what is known of it.
pub struct Resident {
    pub zygote: Zygote,
    /// Which of the kinds.
    kind: usize,
    runs: u32,
    /// It counts to the memory of its runs, whose limit is this.
    memory_bytes: Option<u64>,
}

#[derive(Default)]
pub struct Pool {
    kinds: Vec<ZygoteKind>,
    cells: Mutex<Vec<Cell>>,
    zygotes: Mutex<Vec<Resident>>,
}

impl Pool {
    pub fn new(kinds: Vec<ZygoteKind>) -> Pool {
        Pool { kinds, ..Pool::default() }
    }

    /// `None` where no cell can be made: the way without says why.
    pub fn take(&self) -> Option<Cell> {
        let ready = held(&self.cells).pop();
        ready.or_else(|| Cell::make().ok())
    }

    pub fn give_back(&self, cell: Cell) {
        if cell.is_pristine() {
            let mut cells = held(&self.cells);
            if cells.len() < MOST {
                cells.push(cell);
            }
        }
    }

    /// `None` if no kind serves the order, or it could not be started.
    pub fn take_zygote(&self, order: &Order) -> Option<Resident> {
        let kind = self.kinds.iter().position(|kind| kind.serves(order) && Zygote::can_be_limited())?;
        let memory_bytes = order.limits.memory_bytes;
        let mut zygotes = held(&self.zygotes);
        // One that was made for another limit is in the way.
        zygotes.retain(|ready| ready.memory_bytes == memory_bytes);
        if let Some(position) = zygotes.iter().position(|ready| ready.kind == kind) {
            return Some(zygotes.swap_remove(position));
        }
        drop(zygotes);
        let zygote = Zygote::start(self.kinds.get(kind)?, self.take()?, &order.limits).ok()?;
        Some(Resident { zygote, kind, runs: 0, memory_bytes })
    }

    pub fn give_zygote_back(&self, mut resident: Resident) {
        resident.runs += 1;
        if resident.runs < MOST_RUNS && resident.zygote.cell.is_pristine() {
            let mut zygotes = held(&self.zygotes);
            if zygotes.len() < MOST {
                zygotes.push(resident);
            }
        }
    }
}

/// Whoever panicked while holding it left it whole.
fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
