//! What waits for the machine and what it is doing, shared by the machine's thread and whoever reads. Owns the rule that
//! an interruption reaches the program it is meant for, or none.

use super::is_interrupted;
use super::living::Watch;
use crate::protocol::{Answer, Failure, FailureKind, Outcome, Reason, Request};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

#[derive(Default)]
pub struct Desk {
    state: Mutex<State>,
    work: Condvar,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<(u64, Request)>,
    /// Requests that have begun and are answered later,
    later: BTreeSet<u64>,
    /// and those of them that were told to stop.
    cancelled: VecDeque<(u64, Reason)>,
    /// Dreams that are over.
    over: VecDeque<String>,
    /// What came back of calls that nobody waits for.
    returned: VecDeque<(u64, Vec<u8>)>,
    current: Current,
    is_stopping: bool,
    /// The machine has nothing to do before something is read,
    is_awaited: bool,
    /// and sleeps until then. Waking nobody would be a call of the system all the same.
    is_asleep: bool,
    watch: Option<Arc<dyn Watch>>,
}

#[derive(Default)]
enum Current {
    #[default]
    Idle,
    Turn(Instant),
    Request {
        token: u64,
        since: Instant,
        label: String,
        author: Option<String>,
        stopped: Option<Reason>,
    },
}

/// What the machine does next.
pub enum Work {
    Request(u64, Box<Request>),
    /// A request that was to be answered later was told to stop.
    Cancel(u64, Reason),
    /// What is kept for a dream can go.
    Over(String),
    /// A call that was posted has been answered.
    Returned(u64, Vec<u8>),
    Turn,
    Stop,
}

impl Desk {
    /// A thread that panicked holding this is the machine's, and then the process ends.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn set_watch(&self, watch: Arc<dyn Watch>) {
        self.lock().watch = Some(watch);
    }

    // ---- the reader's side

    pub fn add(&self, requests: &mut Vec<(u64, Request)>) {
        if !requests.is_empty() {
            let mut state = self.lock();
            state.waiting.extend(requests.drain(..));
            self.wake(state);
        }
    }

    pub fn over(&self, dream: String) {
        let mut state = self.lock();
        state.over.push_back(dream);
        self.wake(state);
    }

    fn wake(&self, state: MutexGuard<'_, State>) {
        let is_asleep = state.is_asleep;
        drop(state);
        if is_asleep {
            self.work.notify_one();
        }
    }

    pub fn returned(&self, number: u64, answer: &[u8]) {
        let mut state = self.lock();
        state.returned.push_back((number, answer.to_vec()));
        self.wake(state);
    }

    /// Stops a request, whether it has begun or not. Nothing happens if it is done already. One that has not begun never
    /// will, and this is its answer: the machine may be busy for long.
    pub fn cancel(&self, token: u64, reason: Reason) -> Option<Answer> {
        let mut state = self.lock();
        if let Some(at) = state.waiting.iter().position(|(other, _)| *other == token) {
            state.waiting.remove(at);
            return Some(Answer::not_begun(reason));
        }
        let watch = state.watch.clone();
        if let Current::Request { token: current, stopped, .. } = &mut state.current
            && *current == token
        {
            stopped.get_or_insert(reason);
            // Under the lock: the machine cannot go on to another program meanwhile.
            watch.iter().for_each(|watch| watch.interrupt());
        } else if state.later.contains(&token) {
            state.cancelled.push_back((token, reason));
            self.wake(state);
        }
        None
    }

    /// Ends the machine after what is under way; a turn, which nobody waits for, at once.
    pub fn stop(&self, is_urgent: bool) {
        let mut state = self.lock();
        state.is_stopping = true;
        if is_urgent || matches!(state.current, Current::Turn(_)) {
            state.watch.iter().for_each(|watch| watch.interrupt());
        }
        if is_urgent {
            state.waiting.clear();
        }
        self.wake(state);
    }

    /// Whether the machine would wait.
    pub fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    /// Whether it does, and somebody has to read for it.
    pub fn awaits_reader(&self) -> bool {
        let state = self.lock();
        state.is_awaited && state.is_empty()
    }

    pub fn is_open(&self) -> bool {
        self.lock().watch.is_some()
    }

    pub fn status(&self) -> BTreeMap<String, Value> {
        let (watch, doing, waiting) = {
            let state = self.lock();
            let doing = match &state.current {
                Current::Idle => json!("nothing"),
                Current::Turn(since) => json!({ "turn_ms": milliseconds(*since) }),
                Current::Request { label, author, since, .. } => {
                    json!({ "request": label, "author": author, "since_ms": milliseconds(*since) })
                }
            };
            (state.watch.clone(), doing, state.waiting.len())
        };
        let mut status = watch.map(|watch| watch.status()).unwrap_or_default();
        status.insert("doing".into(), doing);
        status.insert("waiting".into(), json!(waiting));
        status
    }

    // ---- the machine's side

    /// Whether there is nothing to do before something is read. Said before the machine tries to be who reads: if another one
    /// does, that one learns of it after it has read.
    pub fn await_reader(&self) -> bool {
        let mut state = self.lock();
        state.is_awaited = state.is_empty();
        state.is_awaited
    }

    /// Waits for the next thing to do, at most until the next turn is due.
    pub fn next(&self, next_turn: Option<Instant>) -> Work {
        let mut state = self.lock();
        loop {
            (state.is_awaited, state.is_asleep) = (false, false);
            // Before what they would be the end of.
            if let Some((token, reason)) = state.cancelled.pop_front() {
                return Work::Cancel(token, reason);
            }
            if let Some(dream) = state.over.pop_front() {
                return Work::Over(dream);
            }
            if let Some((number, answer)) = state.returned.pop_front() {
                return Work::Returned(number, answer);
            }
            if let Some((token, request)) = state.waiting.pop_front() {
                let (label, author) = (request.label.clone(), request.author.clone());
                state.enter(Current::Request { token, since: Instant::now(), label, author, stopped: None });
                return Work::Request(token, Box::new(request));
            }
            if state.is_stopping {
                return Work::Stop;
            }
            let left = next_turn.map(|due| due.saturating_duration_since(Instant::now()));
            if left == Some(Duration::ZERO) {
                return Work::Turn;
            }
            (state.is_awaited, state.is_asleep) = (true, true);
            state = match left {
                Some(left) => self.work.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0,
                None => self.work.wait(state).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }

    /// The request that was begun has ended; says why it was told to.
    pub fn finish(&self) -> Option<Reason> {
        match std::mem::take(&mut self.lock().current) {
            Current::Request { stopped, .. } => stopped,
            _ => None,
        }
    }

    /// The request that was begun goes on by itself, and may be told to stop until it is answered.
    pub fn put_off(&self, token: u64) {
        let mut state = self.lock();
        state.later.insert(token);
        if let Current::Request { stopped: Some(reason), .. } = std::mem::take(&mut state.current) {
            state.cancelled.push_back((token, reason));
        }
    }

    /// One that was put off is answered.
    pub fn answered(&self, token: u64) {
        let mut state = self.lock();
        state.later.remove(&token);
        state.cancelled.retain(|(cancelled, _)| *cancelled != token);
    }

    /// Whether one that was put off was told to stop.
    pub fn has_cancelled(&self) -> bool {
        !self.lock().cancelled.is_empty()
    }

    /// Lets the scheduler take a turn, unless the process is ending.
    pub fn turn(&self, turn: impl FnOnce() -> Option<Duration>) -> Option<Instant> {
        {
            let mut state = self.lock();
            if state.is_stopping {
                return None;
            }
            state.enter(Current::Turn(Instant::now()));
        }
        let next = turn();
        self.lock().current = Current::Idle;
        next.and_then(|next| Instant::now().checked_add(next))
    }
}

impl State {
    fn is_empty(&self) -> bool {
        self.waiting.is_empty()
            && self.cancelled.is_empty()
            && self.over.is_empty()
            && self.returned.is_empty()
            && !self.is_stopping
    }

    fn enter(&mut self, current: Current) {
        self.watch.iter().for_each(|watch| watch.calm());
        self.current = current;
    }
}

fn milliseconds(since: Instant) -> u64 {
    since.elapsed().as_millis() as u64
}

/// Says why a program was interrupted, in words for whoever sent it.
pub fn explain(answer: &mut Answer, reason: Reason) {
    let is_interrupted = is_interrupted(answer);
    let Outcome::Failure(Failure { kind, message, hint, .. }) = &mut answer.outcome else { return };
    if !is_interrupted {
        return;
    }
    match reason {
        Reason::Timeout { milliseconds } => {
            *kind = FailureKind::Timeout;
            let seconds = Duration::from_millis(milliseconds).as_secs_f64();
            // What came of it is still so.
            let rest = message.strip_prefix("interrupted;").map_or(String::new(), |rest| format!(";{rest}"));
            *message = format!("timed out after {seconds} s{rest}");
            *hint = Some("--timeout TIME allows more".to_string());
        }
        Reason::Stopping => *message = format!("{message}: the image is stopping"),
        Reason::Asked | Reason::Gone => {}
    }
}
