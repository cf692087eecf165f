//! A clock beside a machine, which interrupts it when its time is up. Made once and set again and again: setting and
//! stopping it wakes no thread as long as it is set often.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

pub struct Alarm {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    due: Option<Instant>,
    /// Until when the thread sleeps, if it is not for ever.
    asleep_until: Option<Instant>,
    has_rung: bool,
    is_over: bool,
}

impl Shared {
    /// A panic while ringing leaves it whole: a few times and flags.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self, ring: impl Fn()) {
        let mut state = self.lock();
        while !state.is_over {
            let left = state.due.map(|due| due.saturating_duration_since(Instant::now()));
            state.asleep_until = state.due;
            state = match left {
                // Under the lock: who has stopped it is not interrupted any more.
                Some(Duration::ZERO) => {
                    ring();
                    (state.due, state.has_rung) = (None, true);
                    state
                }
                Some(left) => self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0,
                None => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }
}

impl Alarm {
    /// One that is not set.
    pub fn new(ring: impl Fn() + Send + 'static) -> Alarm {
        let shared = Arc::<Shared>::default();
        let its_own = shared.clone();
        let thread = std::thread::spawn(move || its_own.run(ring));
        Alarm { shared, thread: Some(thread) }
    }

    /// Lets it ring after that time, unless it is stopped before.
    pub fn set(&self, time: Duration) {
        let mut state = self.shared.lock();
        let due = Instant::now().checked_add(time);
        (state.due, state.has_rung) = (due, false);
        if due.is_some() && state.asleep_until.is_none_or(|until| Some(until) > due) {
            self.shared.changed.notify_one();
        }
    }

    /// Stops it, and says whether it has rung.
    pub fn stop(&self) -> bool {
        let mut state = self.shared.lock();
        state.due = None;
        state.has_rung
    }
}

impl Drop for Alarm {
    fn drop(&mut self) {
        self.shared.lock().is_over = true;
        self.shared.changed.notify_one();
        // A panic there was reported by its thread.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    #[test]
    fn it_rings_once_for_each_time_that_it_is_set_and_not_stopped() {
        let (rung, rings) = channel();
        let alarm = Alarm::new(move || rung.send(()).unwrap());
        alarm.set(Duration::from_secs(3600));
        assert!(!alarm.stop());
        // An earlier time than the one that it sleeps until.
        for _ in 0..3 {
            alarm.set(Duration::from_millis(1));
            rings.recv().unwrap();
            assert!(alarm.stop());
        }
        alarm.set(Duration::from_secs(3600));
        assert!(!alarm.stop(), "what rang before is forgotten");
        drop(alarm);
        assert!(rings.recv().is_err(), "and it did not ring again");
    }
}
