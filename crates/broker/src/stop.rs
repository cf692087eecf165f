//! Ends a call that is under way, from another thread. Whoever waits for something says here how to be woken.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Copies are the same stop.
#[derive(Clone, Default)]
pub struct Stop(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    is_stopped: bool,
    last_number: u64,
    waiting: Vec<(u64, Box<dyn FnOnce() + Send>)>,
}

impl Stop {
    /// For good: calls that begin later with this stop end at once.
    pub fn stop(&self) {
        let waiting = {
            let mut state = self.state();
            state.is_stopped = true;
            std::mem::take(&mut state.waiting)
        };
        waiting.into_iter().for_each(|(_, wake)| wake());
    }

    pub fn is_stopped(&self) -> bool {
        self.state().is_stopped
    }

    /// Calls `wake` once, on the thread that stops, or at once if that has happened; not if the watch is dropped before.
    pub(crate) fn watch(&self, wake: impl FnOnce() + Send + 'static) -> Watch<'_> {
        let mut state = self.state();
        state.last_number += 1;
        let number = state.last_number;
        if state.is_stopped {
            drop(state);
            wake();
        } else {
            state.waiting.push((number, Box::new(wake)));
        }
        Watch { stop: self, number }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Stop {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Stop").field("is_stopped", &self.is_stopped()).finish()
    }
}

/// That somebody waits.
pub(crate) struct Watch<'a> {
    stop: &'a Stop,
    number: u64,
}

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        self.stop.state().waiting.retain(|(number, _)| *number != self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn who_waits_is_woken_once_and_who_left_is_not() {
        let stop = Stop::default();
        let woken = Arc::new(AtomicUsize::new(0));
        let counting = |woken: &Arc<AtomicUsize>| {
            let woken = Arc::clone(woken);
            move || {
                woken.fetch_add(1, Ordering::SeqCst);
            }
        };
        drop(stop.watch(counting(&woken)));
        let watch = stop.watch(counting(&woken));
        stop.clone().stop();
        stop.stop();
        drop(watch);
        assert_eq!(woken.load(Ordering::SeqCst), 1);
        let _late = stop.watch(counting(&woken));
        assert_eq!(woken.load(Ordering::SeqCst), 2);
    }
}
