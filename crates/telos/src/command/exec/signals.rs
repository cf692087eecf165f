//! Ctrl-C, SIGTERM and SIGHUP end a run, so that it can be recorded; they would end us, and it with us.

use sandbox::Stop;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};

/// The signal that came, 0 if none did.
pub type Received = Arc<AtomicI32>;

/// Only after a run has been started: this makes a thread. Without it those signals end us as ever.
pub fn stop_on_signals(stop: Stop) -> Received {
    let received = Received::default();
    let told = received.clone();
    if let Ok(mut signals) = Signals::new([SIGHUP, SIGINT, SIGTERM]) {
        std::thread::spawn(move || {
            for signal in signals.forever() {
                told.store(signal, Ordering::SeqCst);
                stop.stop();
            }
        });
    }
    received
}
