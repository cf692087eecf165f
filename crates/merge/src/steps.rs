//! How long a merge may look for circles of protos. A journal can be written so that one knot is untied again for each object in
//! it, which takes the cube of its length, while live waits. Such a journal is refused.

use std::cell::Cell;

/// Links and elements that a merge may look at for its protos: about two seconds (20 ns each, measured on a chain of 300 to 6000
/// objects in one knot). Nearly all protos lead in no circle, and are looked at a few times each.
const STEPS_MOST: u64 = 100_000_000;

/// The steps that are left.
pub(crate) struct Steps(Cell<u64>);

impl Steps {
    pub const fn bounded() -> Steps {
        Steps(Cell::new(STEPS_MOST))
    }

    /// For live, and for what was let in before: neither can be refused any more.
    pub const fn unbounded() -> Steps {
        Steps(Cell::new(u64::MAX))
    }

    pub fn take(&self, count: usize) {
        self.0.set(self.0.get().saturating_sub(count as u64));
    }

    /// What was found is not to be used then: the search was broken off.
    pub fn are_used_up(&self) -> bool {
        self.0.get() == 0
    }
}
