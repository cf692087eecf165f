//! What the image process runs: anything that does requests one after the other.

use crate::protocol::{Answer, Failure, Request};
use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

/// Waits until what a request did is durable, on another thread than the one that did it.
pub type Wait = Box<dyn FnOnce() -> Result<(), Failure> + Send>;

/// Sees to it that interruptions are heard while a program runs.
pub type Listen = Arc<dyn Fn() + Send + Sync>;

/// An image that lives in this process. All calls but those to its [`Watch`] come from one thread.
pub trait Living {
    /// Runs a request as one transaction, to its end: committed whole or rolled back. Never waits for the disk; the
    /// answer is sent when its wait is over. A panic ends the process, so whoever can go on after one catches it.
    fn begin(&mut self, request: &Request) -> Begun;

    /// Gives the scheduler one turn, if one is due, as a transaction of its own; within limits, for nobody waits for it
    /// and requests wait behind it. Says when the next one will be due: at once for zero, none before the next request.
    /// Called after each request and when it is due, so it is quick when there is nothing to do.
    fn turn(&mut self) -> Option<Duration>;

    /// Dreams that were begun since this was last asked.
    fn born(&mut self) -> Vec<Birth> {
        Vec::new()
    }

    /// A dream that was begun here is over.
    fn over(&mut self, dream: &str) {
        let _ = dream;
    }

    /// Waits for a dream before anything else is done, if that must be: it has been told who was born. Looks up when it `is_called`.
    /// False if it need not wait any longer.
    fn stand_still(&mut self, is_called: &dyn Fn() -> bool) -> bool {
        let _ = is_called;
        false
    }

    /// Nobody wants a request any more that was to be answered later. It is concluded at once: as interrupted, if nothing came of it
    /// yet.
    fn cancel(&mut self, number: u64) {
        let _ = number;
    }

    /// Dreams that were begun here and that nobody needs any more: whoever has their lines ends them.
    fn unwanted(&mut self) -> Vec<String> {
        Vec::new()
    }

    /// Requests that were to be answered later, and can be now. Asked after everything that this thread does.
    fn concluded(&mut self) -> Vec<Conclusion> {
        Vec::new()
    }

    /// Calls to the world outside that nothing here waits for. Asked after everything that this thread does.
    fn posted(&mut self) -> Vec<Posted> {
        Vec::new()
    }

    /// What came back of one, as whoever answers calls wrote it.
    fn returned(&mut self, number: u64, answer: &[u8]) {
        let _ = (number, answer);
    }

    /// What other threads may do while this one runs a program.
    fn watch(&self) -> Arc<dyn Watch>;

    /// Closes the files. All answers have been sent.
    fn close(self) -> Result<(), String>;
}

/// A dream that was begun.
pub struct Birth {
    /// What it is called.
    pub dream: String,
    /// What it may ask of the world outside.
    pub policies: Option<serde_json::Value>,
    /// The line to it, which is for the keeper.
    pub line: OwnedFd,
}

/// How a request ended, as far as the machine is concerned.
pub enum Begun {
    Done {
        answer: Answer,
        /// None if nothing was changed. Answers go out in the order of requests, so one that saw what another did is
        /// never known before that is durable.
        wait: Option<Wait>,
    },
    /// Long work beside the machine, such as a backup: runs on a thread of its own, and other requests go on meanwhile.
    /// Beyond a few at once it is refused; at a stop it is waited for, and left alone if it takes too long.
    Apart(Box<dyn FnOnce() -> Answer + Send>),
    /// Work beside the machine that takes a moment and only reads: done one after the other, on one thread.
    Aside(Box<dyn FnOnce() -> Answer + Send>),
    /// Something has begun that goes on by itself, such as a candidate that is judged; `Living::concluded` answers under this
    /// number. Other requests go on meanwhile.
    Later(u64),
    /// The process ends, and answers first if there is something to say: else the end itself is the answer.
    Last(Option<Answer>),
}

/// The answer to a request that was to be answered later.
pub struct Conclusion {
    pub number: u64,
    pub answer: Answer,
    pub wait: Option<Wait>,
}

/// A call that is made beside all else, when its wait is over; not at all if that fails.
pub struct Posted {
    /// The image's own number for it, below 2⁶³.
    pub number: u64,
    /// As whoever answers calls reads it.
    pub call: Vec<u8>,
    pub wait: Option<Wait>,
}

/// A living image as seen from other threads.
pub trait Watch: Send + Sync {
    /// Makes the program that runs now end soon, as interrupted. Stays in force until `calm`.
    fn interrupt(&self);

    /// Takes back an interruption that came too late: it is not meant for the next program. Called before each program;
    /// the image itself does not take interruptions back.
    fn calm(&self);

    /// Has this called, by the machine's thread, for each program that takes longer than a moment. Who cannot tell calls it
    /// for all, at once.
    fn when_long(&self, listen: Listen) {
        listen();
    }

    /// What the image says of itself to `telos status`, whether it is busy or not.
    fn status(&self) -> BTreeMap<String, serde_json::Value>;
}
