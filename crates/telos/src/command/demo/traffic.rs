//! Customers who call the image all the while, one request after the other, and count what comes of it.

use super::act::{Actor, Stop, milliseconds};
use keeper::Client;
use keeper::protocol::{Outcome, Request};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// What they ask for.
pub const REQUEST: &str = "Till sell(3, 4)";
/// Between two requests, so that a small machine has time for the rest.
const PAUSE: Duration = Duration::from_millis(2);
const GLANCE: Duration = Duration::from_millis(1);
/// What a step waits for has come long before, on any machine.
const PATIENCE: Duration = Duration::from_secs(10);

/// What came of all requests so far.
#[derive(Clone, Default)]
pub struct Counts {
    /// How often each value was the answer.
    pub answers: BTreeMap<String, u64>,
    /// The answer before now.
    pub last: String,
    pub failed: u64,
    pub failure: Option<String>,
    pub slowest: Duration,
}

impl Counts {
    pub fn answered(&self) -> u64 {
        self.answers.values().sum()
    }

    pub fn to_json(&self) -> Value {
        json!({
            "request": REQUEST,
            "answered": self.answered(),
            "failed": self.failed,
            "answers": self.answers,
            "slowest_ms": milliseconds(self.slowest),
        })
    }

    fn take(&mut self, outcome: Result<String, String>, time: Duration) {
        match outcome {
            Ok(value) => {
                *self.answers.entry(value.clone()).or_default() += 1;
                self.last = value;
                self.slowest = self.slowest.max(time);
            }
            Err(why) => {
                self.failed += 1;
                self.failure.get_or_insert(why);
            }
        }
    }
}

pub struct Traffic {
    counts: Arc<Mutex<Counts>>,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Traffic {
    pub fn begin(image: PathBuf) -> Traffic {
        let (counts, is_over) = (Arc::<Mutex<Counts>>::default(), Arc::<AtomicBool>::default());
        let (told, ended) = (counts.clone(), is_over.clone());
        let thread = std::thread::spawn(move || {
            let mut client = None;
            while !ended.load(Ordering::SeqCst) {
                let begun = Instant::now();
                let outcome = asked(&mut client, &image);
                told.lock().unwrap_or_else(PoisonError::into_inner).take(outcome, begun.elapsed());
                std::thread::sleep(PAUSE);
            }
        });
        Traffic { counts, is_over, thread: Some(thread) }
    }

    pub fn so_far(&self) -> Counts {
        self.state().clone()
    }

    fn state(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until something is so.
    pub fn wait(&self, actor: &Actor, what: &str, is_so: impl Fn(&Counts) -> bool) -> Result<Counts, Stop> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let counts = self.so_far();
            if is_so(&counts) {
                return Ok(counts);
            }
            actor.check_signals()?;
            if Instant::now() > deadline {
                return Err(Stop::Wrong(format!("{what}; {}", counts.to_json())));
            }
            std::thread::sleep(GLANCE);
        }
    }

    /// The last request is answered when this returns.
    pub fn end(&mut self) -> Counts {
        self.is_over.store(true, Ordering::SeqCst);
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has told so itself.
            let _ = thread.join();
        }
        self.so_far()
    }
}

impl Drop for Traffic {
    fn drop(&mut self) {
        self.end();
    }
}

fn asked(client: &mut Option<Client>, image: &std::path::Path) -> Result<String, String> {
    let words = |error: keeper::KeeperError| error.to_string();
    if client.is_none() {
        *client = Some(Client::connect(image, "telos demo").map_err(words)?);
    }
    let Some(line) = client else { return Err("there is no connection".into()) };
    let request = Request { author: Some("customer".into()), ..Request::evaluate(REQUEST) };
    match line.send(&request).map_err(words)?.outcome {
        Outcome::Value(shown) => Ok(shown.text),
        Outcome::Failure(failure) => Err(failure.message),
    }
}
