//! Cells that are ready, and zygotes in such. One is made where none is; one that a run has left is kept if nothing can be
//! told of that run.

use crate::order::Order;
use crate::process::{Cell, Guest, ZygoteKind};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// So many of each wait for runs; more are given up.
const MOST: usize = 32;
/// After so many runs a zygote is replaced: what its children have in common, such as where things lie in memory, is known
/// to all that ran there.
const MOST_RUNS: u32 = 1000;

/// A zygote that could not be started is tried again after so long: the host may have been short of something.
const AGAIN: Duration = Duration::from_secs(30);

/// A cell, perhaps with a zygote.
pub struct Place {
    pub guest: Option<Guest>,
    pub cell: Cell,
    /// Which of the kinds the zygote is.
    kind: Option<usize>,
    runs: u32,
    /// When the last run ended.
    since: Instant,
}

#[derive(Default)]
pub struct Pool {
    kinds: Vec<ZygoteKind>,
    /// How long a place waits for a run, if not for ever.
    keeping: Option<Duration>,
    /// Which of them could not be started, and when: they are not tried again at once.
    failed: Mutex<BTreeMap<usize, Instant>>,
    places: Mutex<Vec<Place>>,
    /// Whose they are: a copy of that process has none.
    owner: AtomicU32,
}

impl Pool {
    pub fn new(kinds: Vec<ZygoteKind>, keeping: Option<Duration>) -> Pool {
        Pool { kinds, keeping, ..Pool::default() }
    }

    /// `None` where no cell can be made: the way without says why.
    pub fn take(&self, order: &Order) -> Option<Place> {
        let kind = self.kinds.iter().position(|kind| kind.serves(order));
        let has_failed = |kind: &usize| held(&self.failed).get(kind).is_some_and(|when| when.elapsed() < AGAIN);
        let kind = kind.filter(|kind| !has_failed(kind));
        self.take_kind(kind, order).or_else(|| self.take_kind(None, order))
    }

    fn take_kind(&self, kind: Option<usize>, order: &Order) -> Option<Place> {
        let mut places = held(&self.places);
        let this = std::process::id();
        if self.owner.swap(this, Ordering::Relaxed) != this {
            // Dropped they would end, and the one who made them may be at work there.
            std::mem::forget(std::mem::take(&mut *places));
        }
        if let Some(keeping) = self.keeping {
            places.retain(|place| place.since.elapsed() < keeping);
        }
        if let Some(position) = places.iter().position(|place| place.kind == kind) {
            return Some(places.swap_remove(position));
        }
        drop(places);
        let mut cell = Cell::make(&order.limits).ok()?;
        let guest = match kind.and_then(|kind| self.kinds.get(kind)) {
            Some(program) => {
                let Ok(guest) = Guest::start(program, &cell) else {
                    held(&self.failed).extend(kind.map(|kind| (kind, Instant::now())));
                    return None;
                };
                // What it has loaded is the cell's own.
                cell.settle();
                Some(guest)
            }
            None => None,
        };
        Some(Place { guest, cell, kind, runs: 0, since: Instant::now() })
    }

    pub fn give_back(&self, mut place: Place) {
        (place.runs, place.since) = (place.runs + 1, Instant::now());
        let is_worn = place.guest.is_some() && place.runs >= MOST_RUNS;
        // The kernel may have ended either for want of memory.
        let is_alive = place.cell.is_alive() && place.guest.as_ref().is_none_or(Guest::is_alive);
        if is_worn || !is_alive || !place.cell.is_pristine() {
            return;
        }
        let mut places = held(&self.places);
        if places.iter().filter(|other| other.kind == place.kind).count() < MOST {
            places.push(place);
        }
    }

    pub fn clear(&self) {
        held(&self.places).clear();
    }
}

/// Whoever panicked while holding it left it whole.
fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
