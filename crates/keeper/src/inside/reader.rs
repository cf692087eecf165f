//! Takes what the keeper sends, decodes it, and gives it to whom it is for. Never waits for the machine.

use super::answers::{POSTED, Sender};
use super::desk::Desk;
use super::outside::Outside;
use crate::protocol::{Answer, DreamName, FRAME_BYTES_MAX, FailureKind, Frame, Inbox, Kind, Reason, Request};
use std::io::{self, ErrorKind};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::Instant;

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

    /// Waits for what the keeper sends next, and takes it. `Some` when it is over: whether the keeper said so.
    pub fn read(&mut self) -> Option<bool> {
        let filled = self.inbox.fill_when_there(&self.pair, None);
        self.take_in(filled)
    }

    /// The same until there is something to do, or it is time for a turn.
    pub fn hear(&mut self, next_turn: Option<Instant>) -> Option<bool> {
        while self.desk.is_empty() {
            let left = next_turn.map(|due| due.saturating_duration_since(Instant::now()));
            let filled = self.inbox.fill_when_there(&self.pair, left);
            if filled.as_ref().is_err_and(|error| error.kind() == ErrorKind::WouldBlock) {
                return None;
            }
            if let Some(is_told) = self.take_in(filled) {
                return Some(is_told);
            }
        }
        None
    }

    fn take_in(&mut self, filled: io::Result<usize>) -> Option<bool> {
        let is_told = match filled {
            Ok(1..) => self.heed()?,
            // It has gone.
            _ => false,
        };
        self.outside.close();
        self.desk.stop(!is_told);
        Some(is_told)
    }

    /// Takes what has come. `Some` when it is over: whether the keeper said so, or says what it never would.
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
        end
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
