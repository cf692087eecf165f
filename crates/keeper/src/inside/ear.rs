//! Who reads what the keeper sends. The machine's own thread does, as long as it has nothing else to do: a request that is
//! read by the thread that runs it wakes nobody else. When the machine is busy for a while, the *listener* stands in for
//! it, on a thread of its own, so that an interruption gets through at any time, and the keeper's end is seen.
//!
//! In the image process the listener is there from the start, for opening an image may take long. In a dream it is made with
//! the first program that takes long: most dreams have none.

use super::desk::{Desk, Work};
use super::reader::Reader;
use crate::error::KeeperError;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

/// The machine is busy for a while if it has not come to read for so long. No interruption waits longer before it is read.
const WHILE: Duration = Duration::from_millis(4);

/// How long the machine may take to end after the keeper has gone. Nobody waits for an answer then, and another keeper
/// may wait for the files; what was acknowledged is in the log.
const GRACE: Duration = Duration::from_millis(500);

pub struct Ear {
    desk: Arc<Desk>,
    reader: Mutex<Reader>,
    exit: fn(i32),
    /// How often the machine has come to read.
    visits: AtomicU64,
    has_listener: AtomicBool,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// The machine has been reading for a while; when it goes to work, it wakes the listener.
    is_asleep: bool,
    /// The machine is known to be busy for longer, or waits for something that has to be read.
    is_wanted: bool,
    /// How what the machine read has ended, if it has: whether the keeper said so.
    is_told: Option<bool>,
}

impl Ear {
    pub fn new(reader: Reader, desk: Arc<Desk>, exit: fn(i32)) -> Ear {
        Ear {
            desk,
            reader: Mutex::new(reader),
            exit,
            visits: AtomicU64::new(0),
            has_listener: AtomicBool::new(false),
            state: Mutex::default(),
            changed: Condvar::new(),
        }
    }

    /// What a panic leaves behind here is whole: a few flags.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From here on the listener stands in for the machine; it is made if there is none. Called by the machine's thread, while
    /// that does not read.
    pub fn listen(self: &Arc<Ear>) -> Result<(), KeeperError> {
        if self.has_listener.swap(true, Ordering::Relaxed) {
            self.lock().is_wanted = true;
            self.changed.notify_one();
            return Ok(());
        }
        let its_own = self.clone();
        let started = std::thread::Builder::new().name("listener".into()).spawn(move || its_own.run());
        self.has_listener.store(started.is_ok(), Ordering::Relaxed);
        started.map(|_| ()).map_err(KeeperError::system("start a thread"))
    }

    // ---- the machine's side

    /// The next thing to do, as the desk says it.
    pub fn next(&self, next_turn: Option<Instant>) -> Work {
        // Before the lock is tried: whoever has it looks there after giving it back.
        if self.desk.await_reader()
            && let Ok(mut reader) = self.reader.try_lock()
        {
            self.visits.fetch_add(1, Ordering::Relaxed);
            let is_told = reader.hear(next_turn);
            // Before saying so: a listener that falls asleep looks whether it was given back.
            drop(reader);
            let mut state = self.lock();
            state.is_told = is_told;
            if state.is_asleep || is_told.is_some() {
                self.changed.notify_one();
            }
        }
        self.desk.next(next_turn)
    }

    // ---- the listener's side

    fn run(&self) {
        let is_told = loop {
            if let Some(is_told) = self.stand_in().or_else(|| self.give_way()) {
                break is_told;
            }
        };
        if !self.desk.is_open() {
            // Nothing was promised yet, and opening may take long: recovery begins anew the next time.
            (self.exit)(i32::from(!is_told));
        } else if !is_told {
            // The machine may be inside a primitive that looks up from nothing, or a commit of millions of objects, and
            // nobody is left to kill it.
            std::thread::sleep(GRACE);
            (self.exit)(1);
        }
    }

    /// Reads in the machine's place, until it can do so itself.
    fn stand_in(&self) -> Option<bool> {
        loop {
            let mut reader = match self.reader.try_lock() {
                Ok(reader) => reader,
                Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
                Err(TryLockError::WouldBlock) => return None,
            };
            let is_told = reader.read();
            drop(reader);
            if is_told.is_some() || !self.desk.awaits_reader() {
                return is_told;
            }
        }
    }

    /// Waits until the machine has not come to read for a while, and is not reading either; or until it is called.
    fn give_way(&self) -> Option<bool> {
        let mut state = self.lock();
        loop {
            if std::mem::take(&mut state.is_wanted) {
                return None;
            }
            let visits = self.visits.load(Ordering::Relaxed);
            state = self.changed.wait_timeout(state, WHILE).unwrap_or_else(PoisonError::into_inner).0;
            let is_called = state.is_wanted || state.is_told.is_some();
            if !is_called && self.visits.load(Ordering::Relaxed) == visits {
                if self.reader.try_lock().is_ok() {
                    return None;
                }
                state.is_asleep = true;
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                state.is_asleep = false;
            }
            if state.is_told.is_some() {
                return state.is_told;
            }
        }
    }
}
