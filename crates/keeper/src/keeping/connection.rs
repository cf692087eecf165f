//! One client: what it sent and was not looked at, what it is to be sent, and since when it lets us wait.

use super::requests::Waiting;
use crate::protocol::{Inbox, Kind, Outbox, Refusal, RunClient};
use rustix::event::epoll::EventFlags;
use std::collections::VecDeque;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

/// As much is put together for one write, if there is so much.
pub const WRITE_BYTES: usize = 1 << 20;

/// Descriptors that a client may send ahead of the orders that they belong to.
const DESCRIPTORS_MAX: usize = 64;

pub struct Connection {
    pub stream: UnixStream,
    /// Who it is.
    pub who: RunClient,
    pub inbox: Inbox,
    pub outbox: Outbox,
    /// Requests that the image process did not get yet.
    pub waiting: VecDeque<Waiting>,
    /// Requests and inquiries that are not answered, waiting or not,
    pub unanswered: usize,
    /// and how many of them are inquiries.
    pub inquiries: usize,
    /// Runs that have not ended; they count as unanswered too.
    pub runs: usize,
    /// Runs whose output waits until the client has taken what it has.
    pub held_back: Vec<u64>,
    /// It has not taken all output of a run. Somebody may be reading it page by page.
    pub is_patient: bool,
    /// Descriptors that came and belong to no order yet.
    pub descriptors: VecDeque<OwnedFd>,
    pub is_greeted: bool,
    /// It has shown the token of a person: what it sends from then on is allowed.
    pub is_person: bool,
    /// It will send nothing more, and may still read.
    pub is_silent: bool,
    /// It is to be closed as soon as it has read what it is to be sent.
    pub is_refused: bool,
    /// It has sent as much as it may for now; what it sends more is left in its socket.
    pub is_paused: bool,
    /// The descriptor has failed or the other side is gone.
    pub is_gone: bool,
    /// Since when it has been connected, or the frame that it began.
    pub began: Option<Instant>,
    /// Since when it has taken nothing of what waits for it.
    pub stalled: Option<Instant>,
    /// What the poll watches for.
    pub interest: EventFlags,
    /// Bytes of the frame that has begun, as counted in the sum of all.
    pub announced_bytes: usize,
}

impl Connection {
    pub fn new(stream: UnixStream, now: Instant) -> Connection {
        Connection {
            stream,
            who: RunClient::default(),
            inbox: Inbox::default(),
            outbox: Outbox::default(),
            waiting: VecDeque::new(),
            unanswered: 0,
            inquiries: 0,
            runs: 0,
            held_back: Vec::new(),
            is_patient: false,
            descriptors: VecDeque::new(),
            is_greeted: false,
            is_person: false,
            is_silent: false,
            is_refused: false,
            is_gone: false,
            began: Some(now),
            stalled: None,
            interest: EventFlags::IN,
            is_paused: false,
            announced_bytes: 0,
        }
    }

    /// Says why, and is closed when that was read.
    pub fn refuse(&mut self, message: impl Into<String>) {
        if !self.is_refused {
            self.outbox.push_json(Kind::Refusal, 0, &Refusal { message: message.into() });
            self.is_refused = true;
        }
    }

    /// Whether it lets us wait for something, and for how long that may go on must be watched.
    pub fn is_suspect(&self) -> bool {
        self.began.is_some() || self.stalled.is_some()
    }

    /// Why it has let us wait too long, if it has.
    pub fn is_asleep(
        &self,
        now: Instant,
        greeting: Duration,
        frame: Duration,
        answer: Duration,
    ) -> Option<&'static str> {
        let since = |began: Option<Instant>| began.map(|began| now.saturating_duration_since(began));
        let (began, stalled) = (since(self.began), since(self.stalled));
        if !self.is_patient && stalled.is_some_and(|time| time >= answer) {
            return Some("it does not read its answers");
        }
        match self.is_greeted {
            false if began.is_some_and(|time| time >= greeting) => Some("no greeting came"),
            true if began.is_some_and(|time| time >= frame) => Some("a frame was begun and not finished"),
            _ => None,
        }
    }

    /// Writes what the client takes.
    pub fn drain(&mut self, now: Instant) {
        let before = self.outbox.len();
        match self.outbox.drain(&self.stream) {
            Ok(_) if self.outbox.is_empty() => {
                self.stalled = None;
                self.is_patient = false;
            }
            Ok(_) if self.outbox.len() < before || self.stalled.is_none() => self.stalled = Some(now),
            Ok(_) => {}
            Err(_) => self.is_gone = true,
        }
    }

    /// Reads what there is. Nothing more comes from one that has closed its side.
    pub fn fill(&mut self, scratch: &mut [u8]) {
        match self.inbox.fill_with(&self.stream, scratch, &mut self.descriptors) {
            Ok(_) if self.descriptors.len() > DESCRIPTORS_MAX => self.refuse("too many descriptors without an order"),
            Ok(0) => self.is_silent = true,
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
            Err(_) => self.is_gone = true,
        }
    }

    /// What is worth waking up for. That the other side has gone is told in any case.
    pub fn wanted(&self) -> EventFlags {
        let mut wanted = EventFlags::empty();
        wanted.set(EventFlags::IN, !self.is_silent && !self.is_refused && !self.is_paused);
        wanted.set(EventFlags::OUT, !self.outbox.is_empty());
        wanted
    }

    /// Whether nothing is left to do for it.
    pub fn is_over(&self) -> bool {
        // What a paused one sent before it fell silent was not looked at yet.
        let is_done = self.is_silent && !self.is_paused && self.unanswered == 0;
        self.is_gone || self.outbox.is_empty() && (self.is_refused || is_done)
    }
}
