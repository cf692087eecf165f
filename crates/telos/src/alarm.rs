//! A clock beside a machine, which interrupts it when its time is up.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

pub struct Alarm {
    done: Sender<()>,
    thread: JoinHandle<bool>,
}

impl Alarm {
    pub fn after(time: Duration, ring: impl FnOnce() + Send + 'static) -> Alarm {
        let (done, waiting) = channel::<()>();
        let thread = std::thread::spawn(move || {
            let is_due = waiting.recv_timeout(time) == Err(RecvTimeoutError::Timeout);
            if is_due {
                ring();
            }
            is_due
        });
        Alarm { done, thread }
    }

    /// Ends it, and says whether it has rung.
    pub fn stop(self) -> bool {
        drop(self.done);
        self.thread.join().unwrap_or(false)
    }
}
