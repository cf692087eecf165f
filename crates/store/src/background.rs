//! The thread of the checkpoint: sleeps until enough has gathered, or has waited long enough, and applies it.

use crate::store::Shared;

/// Returns when it is asked to stop, or when the store failed.
pub fn run(shared: &Shared) {
    while shared.journal.await_work() {
        // The failure is latched, and told to every commit from now on.
        if shared.step().is_err() {
            return;
        }
    }
}
