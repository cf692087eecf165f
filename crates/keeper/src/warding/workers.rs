//! Threads, one for each run that is under way. Those that have nothing to do wait for the next; the keeper bounds how many
//! runs there are, and so how many threads.

use super::Warding;
use super::conversation;
use std::collections::VecDeque;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Enough for an order and all that is made of it; a thousand of them are little.
const STACK_BYTES: usize = 512 << 10;
/// So many wait for work; more end when they have none.
const IDLE_MAX: usize = 64;

type Work = (UnixStream, Option<OwnedFd>);

#[derive(Default)]
struct Line {
    work: VecDeque<Work>,
    idle: usize,
    busy: usize,
    is_closed: bool,
}

pub struct Workers {
    shared: Arc<Shared>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

struct Shared {
    warding: Arc<dyn Warding>,
    line: Mutex<Line>,
    has_work: Condvar,
    is_done: Condvar,
}

impl Shared {
    /// A run that panicked was in no critical section: those are all here, and short.
    fn line(&self) -> MutexGuard<'_, Line> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A thread could not be started. Another does its work; if there is none, sockets are closed, which says enough.
    fn do_without_one(&self) {
        let mut line = self.line();
        line.busy -= 1;
        if line.busy + line.idle == 0 {
            line.work.clear();
        }
    }
}

impl Workers {
    pub fn new(warding: Arc<dyn Warding>) -> Workers {
        let (line, has_work, is_done) = (Mutex::default(), Condvar::new(), Condvar::new());
        let shared = Arc::new(Shared { warding, line, has_work, is_done });
        Workers { shared, threads: Mutex::default() }
    }

    pub fn give(&self, socket: UnixStream, input: Option<OwnedFd>) {
        let mut line = self.shared.line();
        line.work.push_back((socket, input));
        if line.work.len() <= line.idle {
            return self.shared.has_work.notify_one();
        }
        line.busy += 1;
        drop(line);
        let shared = self.shared.clone();
        let started = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(move || work(&shared));
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        threads.retain(|thread| !thread.is_finished());
        match started {
            Ok(thread) => threads.push(thread),
            Err(_) => self.shared.do_without_one(),
        }
    }

    /// Waits until nothing is under way, or for as long as that may take, and then for the threads to end.
    pub fn finish(&self, time: Duration) {
        let until = Instant::now() + time;
        let mut line = self.shared.line();
        line.is_closed = true;
        self.shared.has_work.notify_all();
        while line.busy + line.idle > 0 {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            line = self.shared.is_done.wait_timeout(line, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        drop(line);
        let threads = std::mem::take(&mut *self.threads.lock().unwrap_or_else(PoisonError::into_inner));
        // What a thread kept for its next run goes with it.
        threads.into_iter().for_each(|thread| drop(thread.join()));
    }
}

/// The life of a thread, which counts as busy when it begins.
fn work(shared: &Shared) {
    let mut line = shared.line();
    loop {
        if let Some((socket, input)) = line.work.pop_front() {
            drop(line);
            // A panic is told where it happens; the run's socket is closed by it.
            let talk = std::panic::AssertUnwindSafe(|| conversation::hold(shared.warding.as_ref(), socket, input));
            let _ = std::panic::catch_unwind(talk);
            line = shared.line();
            continue;
        }
        line.busy -= 1;
        if line.idle >= IDLE_MAX || line.is_closed {
            return shared.is_done.notify_all();
        }
        line.idle += 1;
        line = shared.has_work.wait(line).unwrap_or_else(PoisonError::into_inner);
        line.idle -= 1;
        line.busy += 1;
    }
}
