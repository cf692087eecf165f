//! Notices a case that does not end. Looks from a thread of its own; what is to be done then is the caller's word.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// A case that is being checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    pub seed: u64,
    pub input: String,
    began: Instant,
}

/// Watches one case after the other.
#[derive(Clone, Default)]
pub struct Watchdog(Arc<Mutex<Option<Case>>>);

impl Watchdog {
    /// Calls `on_hang`, once, with a case that takes longer than `most`.
    pub fn start(most: Duration, on_hang: impl FnOnce(Case) + Send + 'static) -> Watchdog {
        let watchdog = Watchdog::default();
        let watching = watchdog.clone();
        thread::spawn(move || {
            loop {
                thread::sleep(most / 20);
                let hanging = watching.case().clone().filter(|case| case.began.elapsed() > most);
                if let Some(case) = hanging {
                    return on_hang(case);
                }
            }
        });
        watchdog
    }

    /// Does what a case does, under watch.
    pub fn watch<R>(&self, seed: u64, input: &str, work: impl FnOnce() -> R) -> R {
        *self.case() = Some(Case { seed, input: input.to_string(), began: Instant::now() });
        let result = work();
        *self.case() = None;
        result
    }

    fn case(&self) -> MutexGuard<'_, Option<Case>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    #[test]
    fn a_case_that_does_not_end_is_told_with_seed_and_program() {
        let (tell, told) = channel();
        let watchdog = Watchdog::start(Duration::from_millis(200), move |case| tell.send(case).unwrap());
        watchdog.watch(1, "nil", || {});
        thread::sleep(Duration::from_millis(400));
        assert!(told.try_recv().is_err(), "between cases nothing hangs");
        let case = watchdog.watch(2, "loop(nil)", || told.recv_timeout(Duration::from_secs(20)).unwrap());
        assert_eq!((case.seed, case.input.as_str()), (2, "loop(nil)"));
    }
}
