//! Dreams that are going on: the line to each, what is said to it, and what it says. A dream says answers, to requests that it was
//! sent, and calls to the world outside, and nothing else: what comes over its line is as hostile as the dream.

use super::connection::Connection;
use super::requests::{Entry, Stage};
use super::{FIRST_DREAM, Keeper};
use crate::brokering::with_name;
use crate::protocol::{
    Answer, Command, DreamName, FRAME_BYTES_MAX, FailureKind, Inbox, Kind, Nest, Outbox, Refusal, Request,
};
use rustix::event::epoll::{self, EventData, EventFlags};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::os::unix::net::UnixStream;

/// A dream that has not read so much is asked nothing more.
const UNREAD_BYTES_MAX: usize = 1 << 20;
/// So many last words are remembered.
const WORDS_MAX: usize = 64;
/// Nobody says more than this in one sentence.
const WORDS_BYTES_MAX: usize = 1 << 10;
/// A dream asks one thing after the other.
const NESTS_MAX: usize = 4;

pub struct Dream {
    name: String,
    line: UnixStream,
    /// What it may ask of the world outside.
    policies: Vec<u8>,
    /// Why it could not begin, in its own words or those of its attendant.
    words: Option<String>,
    inbox: Inbox,
    outbox: Outbox,
}

#[derive(Default)]
pub struct Dreams {
    entries: HashMap<u64, Dream>,
    names: BTreeMap<String, u64>,
    count: u64,
    /// Why the latest that failed did so, for whoever asks for them all the same.
    words: VecDeque<(String, String)>,
}

impl Dreams {
    fn remember(&mut self, dream: &str, words: &str) {
        if self.words.len() == WORDS_MAX {
            self.words.pop_front();
        }
        self.words.push_back((dream.into(), words.into()));
    }

    /// Why there is no such dream.
    fn missing(&self, name: &str) -> String {
        match self.words.iter().rev().find(|(dream, _)| dream == name) {
            Some((_, words)) => format!("dream {name} is over: {words}"),
            None => format!("no dream {name:?} is going on; `telos dream list` shows which there are"),
        }
    }

    pub fn names(&self) -> Vec<String> {
        self.names.keys().cloned().collect()
    }

    /// What the broker is told of one.
    pub fn introduction(&self, token: u64) -> Option<Vec<u8>> {
        self.entries.get(&token).map(|dream| with_name(&dream.name, &dream.policies))
    }
}

impl Keeper<'_> {
    /// The image process has begun one; the line to it came along.
    pub fn dream_is_born(&mut self, body: &[u8]) {
        let Ok(DreamName { dream: name, policies }) = serde_json::from_slice(body) else { return };
        let Some(line) = self.lines.pop_front() else {
            // There was no descriptor left for it, and the dream ended with it.
            return self.outbox.push_json(Kind::Over, 0, &DreamName { dream: name, policies: None });
        };
        let policies = policies.map(|policies| policies.to_string().into_bytes()).unwrap_or_default();
        let line = UnixStream::from(line);
        let token = FIRST_DREAM + self.dreams.count;
        self.dreams.count += 1;
        let data = EventData::new_u64(token);
        // Without a line there is no dream: it ends with it, and its end is told like any other.
        let is_watched =
            line.set_nonblocking(true).is_ok() && epoll::add(&self.poll, &line, data, EventFlags::IN).is_ok();
        let (inbox, outbox) = (Inbox::default(), Outbox::default());
        self.dreams.names.insert(name.clone(), token);
        self.dreams.entries.insert(token, Dream { name, line, policies, words: None, inbox, outbox });
        if !is_watched {
            self.end_dream(token);
        }
    }

    /// Hands a request on to the dream that it names.
    pub fn receive_for_dream(&mut self, name: &str, entry: Entry, connection: &mut Connection, body: &[u8]) {
        let Some(&dream) = self.dreams.names.get(name) else {
            let message = self.dreams.missing(name);
            connection.outbox.push_json(Kind::Answer, entry.id, &Answer::failed(FailureKind::Refused, message));
            return;
        };
        let unread = self.dreams.entries.get(&dream).map_or(0, |dream| dream.outbox.len());
        if unread > UNREAD_BYTES_MAX {
            let message = format!("dream {name} does not read what it is asked; nothing was done");
            connection.outbox.push_json(Kind::Answer, entry.id, &Answer::failed(FailureKind::Refused, message));
            return;
        }
        let token = self.requests.add(Entry { dream: Some(dream), stage: Stage::Ahead, ..entry });
        connection.unanswered += 1;
        self.tell_dream(dream, |outbox| outbox.push(Kind::Request, token, body));
    }

    pub fn tell_dream(&mut self, token: u64, tell: impl FnOnce(&mut Outbox)) {
        let Some(dream) = self.dreams.entries.get_mut(&token) else { return };
        tell(&mut dream.outbox);
        self.flush_dream(token);
    }

    fn flush_dream(&mut self, token: u64) {
        let Some(dream) = self.dreams.entries.get_mut(&token) else { return };
        // If it has gone, its end is told by itself.
        let is_full = !dream.outbox.drain(&dream.line).unwrap_or(true);
        let flags = if is_full { EventFlags::IN | EventFlags::OUT } else { EventFlags::IN };
        let _ = epoll::modify(&self.poll, &dream.line, EventData::new_u64(token), flags);
    }

    pub fn hear_dream(&mut self, token: u64, flags: EventFlags) {
        if flags.contains(EventFlags::OUT) {
            self.flush_dream(token);
        }
        let Some(dream) = self.dreams.entries.get_mut(&token) else { return };
        if !flags.intersects(EventFlags::IN | EventFlags::HUP | EventFlags::ERR) {
            return;
        }
        let heard = dream.inbox.fill(&dream.line);
        let is_sane = self.heed_dream(token);
        let is_over = match heard {
            Ok(0) => true,
            Ok(_) => false,
            Err(error) => error.kind() != std::io::ErrorKind::WouldBlock,
        };
        if is_over || !is_sane {
            self.end_dream(token);
        }
    }

    /// Passes on its answers and calls. False if it says what no dream says.
    fn heed_dream(&mut self, token: u64) -> bool {
        let Some(dream) = self.dreams.entries.get_mut(&token) else { return true };
        let mut inbox = std::mem::take(&mut dream.inbox);
        let is_sane = loop {
            match inbox.next(FRAME_BYTES_MAX) {
                Ok(Some(frame)) if frame.kind == Kind::Failed && frame.body.len() <= WORDS_BYTES_MAX => {
                    let words = serde_json::from_slice(frame.body).ok().map(|Refusal { message }| message);
                    if let Some(dream) = self.dreams.entries.get_mut(&token) {
                        dream.words = words;
                    }
                }
                Ok(Some(frame)) if frame.kind == Kind::Answer => {
                    let is_its_own =
                        self.requests.entries.get(&frame.id).is_some_and(|entry| entry.dream == Some(token));
                    if !is_its_own {
                        break false;
                    }
                    self.pass_on(frame.id, frame.body);
                }
                Ok(Some(frame)) if frame.kind == Kind::Call => {
                    if !self.receive_call(token, frame.id, frame.body) {
                        break false;
                    }
                }
                Ok(Some(frame)) if frame.kind == Kind::Nest => {
                    if !self.receive_nest(token, frame.id, frame.body) {
                        break false;
                    }
                }
                Ok(Some(frame)) if frame.kind == Kind::Cancel => self.cancel_call(token, frame.id),
                Ok(None) => break true,
                Ok(Some(_)) | Err(_) => break false,
            }
        };
        if let Some(dream) = self.dreams.entries.get_mut(&token) {
            dream.inbox = inbox;
        }
        is_sane
    }

    /// Hands on what a dream asks about dreams inside of it, under its own name. False if no dream asks that, or so often.
    fn receive_nest(&mut self, token: u64, id: u64, body: &[u8]) -> bool {
        let Some(within) = self.dreams.entries.get(&token).map(|dream| dream.name.clone()) else { return true };
        let Ok(nest) = serde_json::from_slice::<Nest>(body) else { return false };
        if self.requests.entries.values().filter(|entry| entry.client == token).count() >= NESTS_MAX {
            return false;
        }
        let (dream, stage, timeout, deadline) = (None, Stage::Ahead, None, None);
        let request = self.requests.add(Entry { client: token, id, dream, stage, timeout, deadline });
        let command = Command::Nested { within, nest };
        self.outbox.push_json(Kind::Request, request, &Request { label: "dream".into(), ..Request::new(command) });
        true
    }

    /// Closes the line, which ends the dream if it has not ended; tells whoever waits for it, and the image process.
    pub fn end_dream(&mut self, token: u64) {
        let Some(dream) = self.dreams.entries.remove(&token) else { return };
        self.dreams.names.remove(&dream.name);
        self.forget_caller(token);
        let message = match dream.words {
            Some(words) => {
                self.dreams.remember(&dream.name, &words);
                format!("dream {} is over: {words}", dream.name)
            }
            None => format!("dream {} is over; `telos dream show {}` says how it ended", dream.name, dream.name),
        };
        for request in self.requests.of_dream(token) {
            let Some(entry) = self.requests.remove(request) else { continue };
            if entry.stage != Stage::Abandoned {
                self.answer(&entry, None, &Answer::failed(FailureKind::Lost, message.clone()));
            }
        }
        self.outbox.push_json(Kind::Over, 0, &DreamName { dream: dream.name, policies: None });
    }

    /// The image process needs one no more.
    pub fn end_unwanted(&mut self, body: &[u8]) {
        let Ok(DreamName { dream, .. }) = serde_json::from_slice(body) else { return };
        self.dreams.names.get(&dream).copied().into_iter().for_each(|token| self.end_dream(token));
    }

    pub fn end_all_dreams(&mut self) {
        let all: Vec<u64> = self.dreams.entries.keys().copied().collect();
        all.into_iter().for_each(|token| self.end_dream(token));
    }
}
