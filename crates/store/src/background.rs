//! The thread of the checkpoint: sleeps until enough has gathered, or has waited long enough, and applies it.

use crate::journal::Inside;
use crate::store::Shared;
use std::time::Duration;

/// How often it looks, whatever happens.
const LOOK: Duration = Duration::from_millis(100);

/// Returns when it is asked to stop, or when the store failed.
pub fn run(shared: &Shared) {
    loop {
        let mut inside = shared.journal.lock();
        while !inside.is_stopping && inside.failure().is_none() && !is_due(shared, &inside) {
            inside = shared.journal.await_work(inside, LOOK);
        }
        if inside.is_stopping || inside.failure().is_some() {
            return;
        }
        drop(inside);
        // The failure is latched, and told to every commit from now on.
        if shared.step().is_err() {
            return;
        }
    }
}

fn is_due(shared: &Shared, inside: &Inside) -> bool {
    let options = &shared.options;
    inside.pending.changes() >= options.begin_changes
        || inside.end() - inside.applied >= options.begin_bytes.min(shared.journal.log.capacity() / 2)
        || inside.waiting_since.is_some_and(|since| since.elapsed() >= options.begin_after)
}
