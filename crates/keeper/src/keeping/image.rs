//! What is said to the image process and what it says: answers go on to their clients as they are, unread.

use super::requests::{Entry, Stage};
use super::stop::Phase;
use super::{FIRST_DREAM, Keeper, Notice, PAIR};
use crate::brokering::LIVE;
use crate::keeping::connection::Connection;
use crate::protocol::{Answer, FRAME_BYTES_MAX, FailureKind, Kind, READ_BYTES, Reason, Refusal, Status};
use crate::socket::socket_path;
use rustix::event::epoll::{self, EventData, EventFlags};
use std::collections::BTreeMap;
use std::time::Instant;

/// So many pieces are read before the clients are looked at again.
const PIECES_AT_ONCE: usize = 16;

impl Keeper<'_> {
    /// Takes what the image process sent.
    pub fn hear_image(&mut self) {
        for _ in 0..PIECES_AT_ONCE {
            let heard = self.inbox.fill_with(&self.child.pair, &mut self.scratch, &mut self.lines);
            self.heed_image();
            match heard {
                // Less than a piece: there was no more, and asking would cost as much as reading.
                Ok(bytes @ 1..) if bytes < READ_BYTES => return,
                Ok(1..) => {}
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => return,
                Ok(0) | Err(_) => return self.pair_closed(),
            }
        }
    }

    fn heed_image(&mut self) {
        let mut inbox = std::mem::take(&mut self.inbox);
        loop {
            match inbox.next(FRAME_BYTES_MAX) {
                Ok(Some(frame)) => match frame.kind {
                    Kind::Answer => self.pass_on(frame.id, frame.body),
                    Kind::Status => {
                        let image = serde_json::from_slice(frame.body).unwrap_or_default();
                        self.answer_inquiry(frame.id, image);
                    }
                    Kind::Call => self.receive_live_call(frame.id, frame.body),
                    Kind::Cancel => self.cancel_call(LIVE, frame.id),
                    Kind::Born => self.dream_is_born(frame.body),
                    Kind::Over => self.end_unwanted(frame.body),
                    Kind::Ready => self.image_is_ready(),
                    Kind::Failed => {
                        self.failure = serde_json::from_slice(frame.body).ok().map(|Refusal { message }| message)
                    }
                    // It says nothing else. If it did, there is nobody to complain to.
                    _ => {}
                },
                Ok(None) => break,
                Err(error) => {
                    self.failure = Some(format!("the image process sent {error}"));
                    self.child.kill();
                    break;
                }
            }
        }
        self.inbox = inbox;
    }

    fn image_is_ready(&mut self) {
        if self.phase == Phase::Starting {
            self.phase = Phase::Running;
            let directory = self.plan.directory.clone();
            let (keeper_pid, image_pid) = (std::process::id(), self.child.pid());
            (self.notify)(Notice::Ready {
                directory: &directory,
                socket: &socket_path(&directory),
                keeper_pid,
                image_pid,
            });
        }
    }

    pub fn pass_on(&mut self, token: u64, body: &[u8]) {
        let Some(entry) = self.requests.remove(token) else { return };
        if entry.client >= FIRST_DREAM {
            return self.tell_dream(entry.client, |outbox| outbox.push(Kind::Returned, entry.id, body));
        }
        if entry.stage != Stage::Abandoned
            && let Some(connection) = self.connections.get_mut(&entry.client)
        {
            connection.outbox.push(Kind::Answer, entry.id, body);
            connection.unanswered -= 1;
            self.touched.push(entry.client);
        }
        self.answered += 1;
    }

    /// Answers in the place of the image process.
    pub fn answer(&mut self, entry: &Entry, connection: Option<&mut Connection>, answer: &Answer) {
        let Some(connection) = connection.or(self.connections.get_mut(&entry.client)) else { return };
        connection.outbox.push_json(Kind::Answer, entry.id, answer);
        connection.unanswered -= 1;
        self.answered += 1;
        self.touched.push(entry.client);
    }

    /// Stops a request wherever it is, and sees to it that it is answered if somebody reads that. `connection` is its
    /// client's, if it is not among the others at the moment.
    pub fn stop_request(&mut self, token: u64, connection: Option<&mut Connection>, reason: Reason) {
        let Some(entry) = self.requests.entries.get_mut(&token) else { return };
        let (client, dream) = (entry.client, entry.dream);
        match entry.stage {
            Stage::Waiting => self.refuse_waiting(token, connection, reason),
            Stage::Inquiry if reason == Reason::Gone => {
                self.requests.remove(token);
            }
            Stage::Ahead => {
                entry.stage = if reason == Reason::Gone { Stage::Abandoned } else { Stage::Stopped };
                let grace = Instant::now().checked_add(self.plan.bounds.grace);
                let deadline = if reason == Reason::Gone { None } else { grace };
                self.requests.set_deadline(token, deadline);
                match dream {
                    None => self.outbox.push_json(Kind::Cancel, token, &reason),
                    Some(dream) => self.tell_dream(dream, |outbox| outbox.push_json(Kind::Cancel, token, &reason)),
                }
                self.touched.push(client);
            }
            Stage::Stopped if reason == Reason::Gone => entry.stage = Stage::Abandoned,
            Stage::Stopped | Stage::Abandoned | Stage::Inquiry => {}
        }
    }

    fn refuse_waiting(&mut self, token: u64, connection: Option<&mut Connection>, reason: Reason) {
        let Some(client) = self.requests.entries.get(&token).map(|entry| entry.client) else { return };
        let mut connections = std::mem::take(&mut self.connections);
        if let Some(connection) = connection.or(connections.get_mut(&client)) {
            self.requests.withdraw(token, client, connection);
            if let Some(entry) = self.requests.remove(token) {
                let answer = Answer::not_begun(reason);
                self.answer(&entry, Some(connection), &answer);
            }
        }
        self.connections = connections;
    }

    pub fn time_is_up(&mut self, token: u64) {
        let Some(entry) = self.requests.entries.get_mut(&token) else { return };
        let timeout = entry.timeout.unwrap_or_default();
        match entry.stage {
            Stage::Waiting | Stage::Ahead => {
                let milliseconds = timeout.as_millis() as u64;
                self.stop_request(token, None, Reason::Timeout { milliseconds });
            }
            Stage::Stopped => {
                entry.stage = Stage::Abandoned;
                let entry = Entry {
                    client: entry.client,
                    id: entry.id,
                    dream: entry.dream,
                    stage: Stage::Abandoned,
                    timeout: None,
                    deadline: None,
                };
                let seconds = (timeout + self.plan.bounds.grace).as_secs_f64();
                let message = "told to stop, and the image process did not: it may be waiting for the system. \
                               Whether it will be committed is not known";
                self.answer(&entry, None, &Answer::failed(FailureKind::Timeout, message));
                (self.notify)(Notice::Deaf { seconds });
            }
            Stage::Inquiry => self.answer_inquiry(token, BTreeMap::new()),
            Stage::Abandoned => {}
        }
    }

    fn answer_inquiry(&mut self, token: u64, image: BTreeMap<String, serde_json::Value>) {
        let Some(entry) = self.requests.remove(token) else { return };
        let status = Status {
            state: self.phase.word().to_string(),
            telos: env!("CARGO_PKG_VERSION").to_string(),
            directory: self.plan.directory.to_string_lossy().into_owned(),
            keeper_pid: std::process::id(),
            image_pid: self.child.pid(),
            up_ms: self.started.elapsed().as_millis() as u64,
            clients: self.connections.len(),
            requests_waiting: self.requests.waiting,
            requests_ahead: self.requests.ahead(),
            requests_answered: self.answered,
            dreams: self.dreams.names(),
            runs_waiting: self.runs.waiting(),
            runs_under_way: self.runs.under_way(),
            runs_ended: self.runs.ended,
            warden_pid: self.warden.as_ref().map(|warden| warden.child.pid()),
            broker_pid: self.broker.as_ref().map(|broker| broker.child.pid()),
            wrong_tokens: self.wrong_tokens,
            image,
        };
        if let Some(connection) = self.connections.get_mut(&entry.client) {
            connection.outbox.push_json(Kind::Status, entry.id, &status);
            connection.unanswered -= 1;
            connection.inquiries -= 1;
            self.touched.push(entry.client);
        }
    }

    /// Writes to the image process what it takes.
    pub fn flush_pair(&mut self) {
        // If it has gone, its end is told by itself.
        let is_full = match self.outbox.is_empty() {
            true => false,
            false => !self.outbox.drain(&self.child.pair).unwrap_or(true),
        };
        if is_full != self.is_pair_full {
            self.is_pair_full = is_full;
            let flags = if is_full { EventFlags::IN | EventFlags::OUT } else { EventFlags::IN };
            let _ = epoll::modify(&self.poll, &self.child.pair, EventData::new_u64(PAIR), flags);
        }
    }
}
