//! The thread that takes what the keeper sends. Decodes requests here, beside the machine, and never waits for it, so
//! that an interruption gets through at any time. In a dream it is made with the first program that takes long.

use super::answers::{POSTED, Sender};
use super::desk::{Desk, Work};
use super::outside::Outside;
use crate::error::KeeperError;
use crate::protocol::{Answer, DreamName, FRAME_BYTES_MAX, FailureKind, Frame, Inbox, Kind, Reason, Request};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long the machine may take to end after the keeper has gone. Nobody waits for an answer then, and another keeper
/// may wait for the files; what was acknowledged is in the log.
const GRACE: Duration = Duration::from_millis(500);

/// What the keeper sends, and who it is for.
pub struct Reader {
    pair: UnixStream,
    desk: Arc<Desk>,
    answers: Sender,
    pub outside: Outside,
    inbox: Inbox,
}

impl Reader {
    pub fn new(pair: UnixStream, desk: Arc<Desk>, answers: Sender) -> Reader {
        let outside = Outside::beside(answers.clone());
        Reader { pair, desk, answers, outside, inbox: Inbox::default() }
    }

    /// Reads on a thread of its own.
    pub fn start(mut self, exit: fn(i32)) -> Result<(), KeeperError> {
        let read = move || {
            let is_told = self.read();
            self.outside.close();
            if !self.desk.is_open() {
                // Nothing was promised yet, and opening may take long: recovery begins anew the next time.
                exit(i32::from(!is_told));
            } else if !is_told {
                self.desk.stop(true);
                // The machine may be inside a primitive that looks up from nothing, or a commit of millions of objects, and
                // nobody is left to kill it.
                std::thread::sleep(GRACE);
                exit(1);
            }
        };
        let started = std::thread::Builder::new().name("reader".into()).spawn(read);
        started.map(|_| ()).map_err(KeeperError::system("start a thread"))
    }

    /// Reads until the keeper says that it is over, or has gone, or says what it never would.
    fn read(&mut self) -> bool {
        loop {
            if let Some(is_told) = self.heed() {
                return is_told;
            }
            if !matches!(self.inbox.fill(&self.pair), Ok(1..)) {
                return false;
            }
        }
    }

    /// Waits until there is something to do, or it is time for a turn.
    fn hear(&mut self, next_turn: Option<Instant>) {
        loop {
            match self.heed() {
                None if self.desk.is_empty() => {}
                None | Some(true) => return,
                Some(false) => break,
            }
            let left = next_turn.map(|due| due.saturating_duration_since(Instant::now()));
            // A duration that does not fit is longer than anybody waits.
            let left = left.and_then(|left| Timespec::try_from(left).ok());
            match poll(&mut [PollFd::new(&self.pair, PollFlags::IN)], left.as_ref()) {
                Ok(0) => return,
                Err(Errno::INTR) => {}
                Ok(_) if matches!(self.inbox.fill(&self.pair), Ok(1..)) => {}
                Ok(_) | Err(_) => break,
            }
        }
        // Whoever attends has gone.
        self.outside.close();
        self.desk.stop(true);
    }

    /// Takes what has come. `Some` when it is over: whether the keeper said so.
    fn heed(&mut self) -> Option<bool> {
        let mut requests = Vec::new();
        let end = loop {
            match self.inbox.next(FRAME_BYTES_MAX) {
                Ok(None) => break None,
                Err(_) => return Some(false),
                Ok(Some(frame)) if frame.kind == Kind::Stop => break Some(true),
                Ok(Some(frame)) if frame.kind == Kind::Returned => match frame.id & POSTED {
                    0 => self.outside.give(frame.id, frame.body),
                    _ => self.desk.returned(frame.id & !POSTED, frame.body),
                },
                Ok(Some(frame)) => take(&frame, &self.desk, &self.answers, &mut requests),
            }
        };
        self.desk.add(&mut requests);
        if end.is_some() {
            self.desk.stop(false);
        }
        end
    }
}

/// A reader that has no thread yet: the machine's own reads as long as it has nothing else to do.
pub struct Ear {
    reader: Mutex<Option<Reader>>,
    exit: fn(i32),
}

impl Ear {
    pub fn new(reader: Reader, exit: fn(i32)) -> Ear {
        Ear { reader: Mutex::new(Some(reader)), exit }
    }

    /// From here on a thread reads. Called by the machine's thread, or while that reads.
    pub fn listen(&self) {
        let Ok(Some(reader)) = self.reader.try_lock().map(|mut reader| reader.take()) else { return };
        let desk = reader.desk.clone();
        if reader.start(self.exit).is_err() {
            // Nobody would hear what it is asked next.
            desk.stop(false);
        }
    }

    /// The next thing to do, as the desk says it.
    pub fn next(&self, desk: &Desk, next_turn: Option<Instant>) -> Work {
        let mut place = self.reader.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(reader) = place.as_mut() {
            reader.hear(next_turn);
        }
        drop(place);
        desk.next(next_turn)
    }
}

fn take(frame: &Frame<'_>, desk: &Desk, answers: &Sender, requests: &mut Vec<(u64, Request)>) {
    match frame.kind {
        Kind::Request | Kind::Allowed => match serde_json::from_slice::<Request>(frame.body) {
            Ok(request) => {
                let is_allowed = frame.kind == Kind::Allowed;
                requests.push((frame.id, Request { is_allowed, ..request }));
            }
            Err(error) => {
                let message = format!("the request cannot be read: {error}");
                answers.push(frame.id, Answer::failed(FailureKind::Refused, message), None);
            }
        },
        Kind::Cancel => {
            // In order: the request may stand right before.
            desk.add(requests);
            let reason = serde_json::from_slice(frame.body).unwrap_or(Reason::Asked);
            desk.cancel(frame.id, reason).into_iter().for_each(|answer| answers.push(frame.id, answer, None));
        }
        Kind::Over => {
            if let Ok(DreamName { dream, .. }) = serde_json::from_slice(frame.body) {
                desk.over(dream);
            }
        }
        Kind::Status => answers.send(Kind::Status, frame.id, &desk.status()),
        _ => {}
    }
}
