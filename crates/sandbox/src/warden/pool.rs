//! Cells that are ready. One is made where none is; one that a run has left is kept if nothing can be told of that run.

use crate::process::Cell;
use std::sync::{Mutex, PoisonError};

/// So many wait for runs; more are given up.
const MOST: usize = 32;

#[derive(Default)]
pub struct Pool {
    ready: Mutex<Vec<Cell>>,
}

impl Pool {
    /// `None` where no cell can be made: the way without says why.
    pub fn take(&self) -> Option<Cell> {
        let ready = self.ready.lock().unwrap_or_else(PoisonError::into_inner).pop();
        ready.or_else(|| Cell::make().ok())
    }

    pub fn give_back(&self, cell: Cell) {
        if !cell.is_pristine() {
            return;
        }
        let mut ready = self.ready.lock().unwrap_or_else(PoisonError::into_inner);
        if ready.len() < MOST {
            ready.push(cell);
        }
    }
}
