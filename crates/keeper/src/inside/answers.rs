//! The thread that answers: takes all that is done at the time, waits until it is durable, and sends it in one write.
//! Waiting for the last first makes one flush of it: that is the group commit. While the machine has more to do, the thread is
//! not woken for each answer by itself: a flush takes as long as several requests. A dream has nothing to wait for, and no
//! such thread: whoever is done answers.

use super::living::{Posted, Wait};
use crate::error::KeeperError;
use crate::protocol::{Answer, FRAME_BYTES_MAX, Kind, Outbox, Outcome};
use serde::Serialize;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// In the numbers of calls that nobody waits for; those of programs are counted up from 1.
pub const POSTED: u64 = 1 << 63;

/// So many answers at most wait for the machine to come to the end of what it has, before the thread is woken for them.
const TOGETHER: usize = 8;
/// The longest that they wait, whatever the machine does: after each flush the thread sleeps for so long before it sleeps
/// until it is woken, and only meanwhile an answer waits.
const NAP: Duration = Duration::from_millis(1);

struct Done {
    token: u64,
    what: What,
    wait: Option<Wait>,
}

/// What is sent when the wait is over.
enum What {
    Answer(Box<Answer>),
    Call(Vec<u8>),
    /// A call that must not be made.
    Nothing,
}

#[derive(Default)]
struct State {
    done: Vec<Done>,
    is_over: bool,
    /// The thread has nothing to do. Waking it all the same would be a call of the system.
    is_asleep: bool,
    /// It will look by itself, soon.
    is_napping: bool,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    work: Condvar,
}

impl Shared {
    /// What a panic leaves behind here is whole: a vector and flags.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All that is done now. False when nothing will come any more.
    fn take(&self, batch: &mut Vec<Done>) -> bool {
        let mut state = self.lock();
        let mut has_napped = false;
        while state.done.is_empty() {
            if state.is_over {
                return false;
            }
            (state.is_asleep, state.is_napping) = (true, !has_napped);
            state = match has_napped {
                true => self.work.wait(state).unwrap_or_else(PoisonError::into_inner),
                false => self.work.wait_timeout(state, NAP).unwrap_or_else(PoisonError::into_inner).0,
            };
            (state.is_asleep, state.is_napping) = (false, false);
            has_napped = true;
        }
        std::mem::swap(&mut state.done, batch);
        true
    }
}

/// The way out of the image process.
pub struct Answers {
    sender: Sender,
    thread: Option<JoinHandle<()>>,
}

/// The same for other threads.
#[derive(Clone)]
pub struct Sender {
    /// What the thread takes, if there is one.
    shared: Option<Arc<Shared>>,
    pair: Arc<Mutex<UnixStream>>,
}

impl Answers {
    pub fn start(pair: UnixStream) -> Result<Answers, KeeperError> {
        let shared = Arc::<Shared>::default();
        let sender = Sender { shared: Some(shared.clone()), pair: Arc::new(Mutex::new(pair)) };
        let its_own = sender.clone();
        let thread = std::thread::Builder::new().name("answers".into()).spawn(move || its_own.run(&shared));
        Ok(Answers { sender, thread: Some(thread.map_err(KeeperError::system("start a thread"))?) })
    }

    /// Without a thread, where nothing has to be waited for.
    pub fn at_once(pair: UnixStream) -> Answers {
        Answers { sender: Sender { shared: None, pair: Arc::new(Mutex::new(pair)) }, thread: None }
    }

    pub fn sender(&self) -> Sender {
        self.sender.clone()
    }

    pub fn push(&self, token: u64, answer: Answer, wait: Option<Wait>) {
        self.sender.push(token, answer, wait);
    }

    /// The same; `is_last` unless the machine goes on at once with something that will be answered as well.
    pub fn push_with_others(&self, token: u64, answer: Answer, wait: Option<Wait>, is_last: bool) {
        self.sender.put(Done { token, what: What::Answer(Box::new(answer)), wait }, is_last);
    }

    /// Makes a call as soon as what it rests on is durable.
    pub fn post(&self, Posted { number, call, wait }: Posted) {
        self.sender.put(Done { token: number | POSTED, what: What::Call(call), wait }, true);
    }

    /// A frame without a body.
    pub fn tell(&self, kind: Kind) {
        self.sender.send(kind, 0, &());
    }

    /// Sends what is left and ends.
    pub fn finish(self) {
        if let Some(shared) = &self.sender.shared {
            shared.lock().is_over = true;
            shared.work.notify_one();
        }
        // A panic there was reported by its thread; the keeper sees what is missing.
        self.thread.into_iter().for_each(|thread| drop(thread.join()));
    }
}

impl Sender {
    pub fn push(&self, token: u64, answer: Answer, wait: Option<Wait>) {
        self.put(Done { token, what: What::Answer(Box::new(answer)), wait }, true);
    }

    fn put(&self, done: Done, is_last: bool) {
        let Some(shared) = &self.shared else { return self.answer(&mut vec![done], &mut Outbox::default()) };
        let mut state = shared.lock();
        state.done.push(done);
        if !is_last && state.is_napping && state.done.len() < TOGETHER {
            return;
        }
        // Once: it takes all that there is by then.
        let is_asleep = std::mem::take(&mut state.is_asleep);
        drop(state);
        if is_asleep {
            shared.work.notify_one();
        }
    }

    /// Sends something at once, past what waits for the disk.
    pub fn send(&self, kind: Kind, id: u64, message: &impl Serialize) {
        let mut outbox = Outbox::default();
        outbox.push_json(kind, id, message);
        self.write(&mut outbox);
    }

    /// The same with a descriptor.
    pub fn send_with(&self, kind: Kind, id: u64, message: &impl Serialize, descriptor: impl AsFd) {
        let mut outbox = Outbox::default();
        outbox.push_json(kind, id, message);
        let pair = self.pair.lock().unwrap_or_else(PoisonError::into_inner);
        // As below.
        let _ = outbox.drain_with(&*pair, descriptor);
    }

    fn write(&self, outbox: &mut Outbox) {
        let pair = self.pair.lock().unwrap_or_else(PoisonError::into_inner);
        if outbox.drain(&*pair).is_err() {
            // The keeper has gone, and whoever reads ends the process.
            outbox.clear();
        }
    }

    fn run(&self, shared: &Shared) {
        let mut batch = Vec::new();
        let mut outbox = Outbox::default();
        while shared.take(&mut batch) {
            self.answer(&mut batch, &mut outbox);
        }
    }

    /// Waits until all of it is durable, and tells it.
    fn answer(&self, batch: &mut Vec<Done>, outbox: &mut Outbox) {
        for done in batch.iter_mut().rev() {
            if let Some(Err(failure)) = done.wait.take().map(|wait| wait()) {
                match &mut done.what {
                    What::Answer(answer) => {
                        answer.outcome = Outcome::Failure(failure);
                        answer.commit = None;
                    }
                    what => *what = What::Nothing,
                }
            }
        }
        for done in batch.drain(..) {
            match done.what {
                What::Answer(mut answer) => push_answer(outbox, done.token, &mut answer),
                What::Call(call) => outbox.push(Kind::Call, done.token, &call),
                What::Nothing => {}
            }
        }
        self.write(outbox);
    }
}

fn push_answer(outbox: &mut Outbox, token: u64, answer: &mut Answer) {
    let texts = answer.output.len() + if let Outcome::Value(shown) = &answer.outcome { shown.text.len() } else { 0 };
    let before = outbox.len();
    if texts <= FRAME_BYTES_MAX {
        outbox.push_json(Kind::Answer, token, answer);
    }
    if texts > FRAME_BYTES_MAX || outbox.len() - before > FRAME_BYTES_MAX {
        outbox.truncate(before);
        answer.cut();
        outbox.push_json(Kind::Answer, token, answer);
    }
}
