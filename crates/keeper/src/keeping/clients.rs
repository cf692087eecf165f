//! All clients: who is let in, what they send, and who is sent away.

use super::connection::Connection;
use super::requests::{Entry, Stage};
use super::{Keeper, LISTENER};
use crate::protocol::{
    Answer, Envelope, FRAME_BYTES_MAX, FailureKind, Frame, Hello, Kind, Outbox, Reason, Refusal, VERSION, Welcome,
};
use crate::socket;
use rustix::event::epoll::{self, EventData, EventFlags};
use std::fs::File;
use std::io::ErrorKind;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

/// All but requests are short.
const SHORT_BYTES_MAX: usize = 4 << 10;
/// So many are let in before the others are looked at again.
const ACCEPTED_AT_ONCE: usize = 64;
/// How long the image process may take to say what it is doing.
const INQUIRY: Duration = Duration::from_secs(1);
/// What is remembered of what a client says of itself.
const NAME_CHARACTERS_MAX: usize = 100;

/// To be given up when there is no other left.
pub fn spare_descriptor() -> Option<File> {
    File::open("/dev/null").ok()
}

fn stopping() -> String {
    format!("the image is stopping, process {}; what was not answered was not begun", std::process::id())
}

impl Keeper<'_> {
    pub fn accept(&mut self) {
        for _ in 0..ACCEPTED_AT_ONCE {
            match self.seat.listener.accept() {
                Ok((stream, _)) => self.let_in(stream),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                // Out of descriptors, the system does not even say whether anybody waits.
                Err(_) => match self.refuse_without_descriptor() {
                    Ok(()) => {}
                    Err(ErrorKind::WouldBlock) => return,
                    // Whoever waits is let in when another client has gone. Not to wake up for it all the time, nobody
                    // is waited for until then.
                    Err(_) => return self.watch_listener(self.connections.is_empty()),
                },
            }
        }
    }

    /// One descriptor is kept for telling whoever comes that there are no others.
    fn refuse_without_descriptor(&mut self) -> Result<(), ErrorKind> {
        drop(self.spare.take().ok_or(ErrorKind::Other)?);
        let accepted = self.seat.listener.accept();
        if let Ok((stream, _)) = &accepted
            && stream.set_nonblocking(true).is_ok()
        {
            let mut outbox = Outbox::default();
            let message = format!(
                "{} clients are connected, and the system gives this process no more files; try again when one has \
                 gone, or start the image with a higher limit (ulimit -n)",
                self.connections.len()
            );
            outbox.push_json(Kind::Refusal, 0, &Refusal { message });
            // One short write; whoever does not take it has been told enough.
            let _ = outbox.drain(stream);
        }
        let told = accepted.map(drop).map_err(|error| error.kind());
        self.spare = spare_descriptor();
        told
    }

    fn watch_listener(&mut self, is_on: bool) {
        let flags = if is_on { EventFlags::IN } else { EventFlags::empty() };
        // It was added at the start and stays until the end.
        let _ = epoll::modify(&self.poll, &self.seat.listener, EventData::new_u64(LISTENER), flags);
    }

    fn let_in(&mut self, stream: UnixStream) {
        let client = self.next_connection;
        let mut connection = Connection::new(stream, Instant::now());
        if connection.stream.set_nonblocking(true).is_err() {
            return;
        }
        let peer = socket::peer(&connection.stream).ok();
        let is_welcome = peer.as_ref().is_some_and(socket::is_welcome);
        if let Some(peer) = peer {
            (connection.who.user, connection.who.process) = (peer.uid, peer.pid);
        }
        if !is_welcome {
            connection.refuse("only the user that started the image, and root, may talk to it");
        } else if self.phase.is_ending() {
            connection.refuse(stopping());
        } else if self.connections.len() >= self.bounds().clients {
            connection.refuse(format!("{} clients are connected, and no more may be", self.bounds().clients));
        }
        if connection.is_refused {
            // One short write; whoever does not take it has been told enough.
            connection.drain(Instant::now());
            return;
        }
        let data = EventData::new_u64(client);
        if epoll::add(&self.poll, &connection.stream, data, connection.interest).is_ok() {
            self.next_connection += 1;
            self.connections.insert(client, connection);
        }
    }

    pub fn hear_client(&mut self, client: u64, flags: EventFlags) {
        let Some(connection) = self.connections.get_mut(&client) else { return };
        if flags.intersects(EventFlags::HUP | EventFlags::ERR) {
            connection.is_gone = true;
        } else if flags.contains(EventFlags::IN) && connection.interest.contains(EventFlags::IN) {
            connection.fill(&mut self.scratch);
            self.read_frames(client);
        }
        self.touched.push(client);
    }

    /// Whether what a client sends next is left unread for now. One that has not greeted sends nothing that waits.
    fn must_wait(&self, connection: &Connection) -> bool {
        let Some(kind) = connection.inbox.next_kind().filter(|_| connection.is_greeted) else { return false };
        let is_late = matches!(kind, Kind::Request | Kind::Run) && self.phase.is_ending();
        let has_room = match kind {
            Kind::Run => self.runs.has_room(connection, &self.plan.bounds),
            kind => self.requests.has_room(kind, connection, &self.plan.bounds),
        };
        is_late || !has_room
    }

    /// Looks at what a client sent, as far as it may send that much.
    fn read_frames(&mut self, client: u64) {
        let Some(mut connection) = self.connections.remove(&client) else { return };
        loop {
            if connection.is_refused {
                break;
            }
            connection.is_paused = self.must_wait(&connection);
            if connection.is_paused {
                // It is we who let it wait.
                connection.began = None;
                self.paused.insert(client);
                break;
            }
            let is_request =
                connection.is_greeted && matches!(connection.inbox.next_kind(), Some(Kind::Request | Kind::Run));
            let most = if is_request { FRAME_BYTES_MAX } else { SHORT_BYTES_MAX };
            let mut inbox = std::mem::take(&mut connection.inbox);
            let heard = match inbox.next(most) {
                Ok(Some(frame)) => self.heed(client, &mut connection, &frame),
                Ok(None) => {
                    connection.inbox = inbox;
                    self.note_partial(&mut connection, is_request);
                    break;
                }
                Err(error) => Err(error.to_string()),
            };
            connection.inbox = inbox;
            connection.began = None;
            self.announce(&mut connection, 0);
            if let Err(message) = heard {
                connection.refuse(message);
            }
        }
        self.connections.insert(client, connection);
    }

    /// A frame that has begun has a time to end, and the bytes of a request count before they have come.
    fn note_partial(&mut self, connection: &mut Connection, is_request: bool) {
        if !connection.inbox.is_partial() {
            connection.began = if connection.is_greeted { None } else { connection.began };
            return;
        }
        connection.began.get_or_insert_with(Instant::now);
        if is_request {
            self.announce(connection, connection.inbox.announced_bytes());
            if self.announced_bytes + self.requests.waiting_bytes + self.runs.waiting_bytes
                > self.plan.bounds.request_bytes
            {
                connection.refuse("too many bytes of requests are waiting; try again");
            }
        }
    }

    /// Counts the bytes that a client has begun to send, in place of those that it had before.
    fn announce(&mut self, connection: &mut Connection, bytes: usize) {
        self.announced_bytes = self.announced_bytes - connection.announced_bytes + bytes;
        connection.announced_bytes = bytes;
    }

    fn heed(&mut self, client: u64, connection: &mut Connection, frame: &Frame<'_>) -> Result<(), String> {
        match (connection.is_greeted, frame.kind) {
            (false, Kind::Hello) => self.greet(connection, frame),
            (false, _) => Err("a client says hello first".to_string()),
            (true, Kind::Request) => self.receive(client, connection, frame),
            (true, Kind::Run) => self.receive_run(client, connection, frame),
            (true, Kind::Person) => {
                self.recognize(connection, frame);
                Ok(())
            }
            (true, Kind::Cancel) => {
                if let Some(token) = self.runs.find(client, frame.id) {
                    self.stop_run(token, Some(connection));
                } else if let Some(token) = self.requests.find(client, frame.id) {
                    self.stop_request(token, Some(connection), Reason::Asked);
                }
                Ok(())
            }
            (true, Kind::Status) => {
                let deadline = Instant::now().checked_add(INQUIRY);
                let entry = Entry { client, id: frame.id, dream: None, stage: Stage::Inquiry, timeout: None, deadline };
                let token = self.requests.add(entry);
                connection.unanswered += 1;
                connection.inquiries += 1;
                self.outbox.push(Kind::Status, token, &[]);
                Ok(())
            }
            (true, _) => Err(format!("a client does not send {:?}", frame.kind)),
        }
    }

    fn greet(&mut self, connection: &mut Connection, frame: &Frame<'_>) -> Result<(), String> {
        let hello: Hello = serde_json::from_slice(frame.body).map_err(|error| format!("no greeting: {error}"))?;
        if hello.protocol != VERSION {
            let theirs = hello.protocol;
            return Err(format!("this keeper speaks version {VERSION} of the protocol, the client version {theirs}"));
        }
        connection.is_greeted = true;
        connection.who.name = hello.client.chars().take(NAME_CHARACTERS_MAX).collect();
        let welcome = Welcome {
            protocol: VERSION,
            telos: env!("CARGO_PKG_VERSION").to_string(),
            pid: std::process::id(),
            directory: self.plan.directory.to_string_lossy().into_owned(),
        };
        connection.outbox.push_json(Kind::Welcome, frame.id, &welcome);
        Ok(())
    }

    /// Takes a request, to be handed on when its turn comes.
    fn receive(&mut self, client: u64, connection: &mut Connection, frame: &Frame<'_>) -> Result<(), String> {
        let Ok(Envelope { timeout_ms, dream }) = serde_json::from_slice(frame.body) else {
            let refused = Answer::failed(FailureKind::Refused, "the request is not what the protocol says");
            connection.outbox.push_json(Kind::Answer, frame.id, &refused);
            return Ok(());
        };
        let asked = timeout_ms.map(Duration::from_millis);
        let timeout = [asked, self.plan.bounds.timeout].into_iter().flatten().min();
        let deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        let entry = Entry { client, id: frame.id, dream: None, stage: Stage::Waiting, timeout, deadline };
        if let Some(dream) = dream {
            self.receive_for_dream(&dream, entry, connection, frame.body);
            return Ok(());
        }
        let token = self.requests.add(entry);
        connection.unanswered += 1;
        self.requests.wait(token, client, connection, frame.body.to_vec());
        Ok(())
    }

    /// Looks again at clients that had to wait until others were answered.
    pub fn resume_paused(&mut self) {
        if self.paused.is_empty() {
            return;
        }
        for client in std::mem::take(&mut self.paused) {
            let must_wait = self.connections.get(&client).map(|connection| self.must_wait(connection));
            match must_wait {
                Some(false) => {
                    self.read_frames(client);
                    self.touched.push(client);
                }
                Some(true) => {
                    self.paused.insert(client);
                }
                None => {}
            }
        }
    }

    /// Writes what a client takes, watches it for what it may do next, and lets it go when all is done.
    pub fn flush_client(&mut self, client: u64) {
        let now = Instant::now();
        let is_ending = self.phase.is_ending();
        let Some(connection) = self.connections.get_mut(&client) else { return };
        if is_ending && connection.unanswered == 0 {
            connection.refuse(stopping());
        }
        if !connection.is_gone && !connection.outbox.is_empty() {
            connection.drain(now);
        }
        if connection.outbox.len() > self.plan.bounds.answer_bytes_per_client {
            connection.is_gone = true;
        }
        if connection.is_over() {
            return self.let_go(client);
        }
        let wanted = connection.wanted();
        if wanted != connection.interest {
            connection.interest = wanted;
            // It was added when it was let in.
            let _ = epoll::modify(&self.poll, &connection.stream, EventData::new_u64(client), wanted);
        }
        let is_full = wanted.contains(EventFlags::OUT);
        if !is_full && !connection.held_back.is_empty() {
            let held_back = std::mem::take(&mut connection.held_back);
            held_back.into_iter().for_each(|token| self.hear_run_again(token));
        }
        if is_full {
            self.bound_answers();
        }
    }

    /// Sends the slowest away when all of them together are too slow.
    fn bound_answers(&mut self) {
        let total: usize = self.connections.values().map(|connection| connection.outbox.len()).sum();
        let slowest = self.connections.iter().max_by_key(|(_, connection)| connection.outbox.len());
        if let Some((&client, _)) = slowest.filter(|_| total > self.plan.bounds.answer_bytes) {
            self.let_go(client);
        }
    }

    /// Closes a connection, and stops what nobody waits for any more.
    pub fn let_go(&mut self, client: u64) {
        let Some(mut connection) = self.connections.remove(&client) else { return };
        self.announced_bytes -= connection.announced_bytes;
        self.paused.remove(&client);
        for token in self.requests.of_client(client) {
            self.stop_request(token, Some(&mut connection), Reason::Gone);
        }
        self.runs.of_client(client).into_iter().for_each(|token| self.forget_run(token));
        // Closing takes it out of the poll; and there is a descriptor again, if one was missing.
        drop(connection);
        self.watch_listener(true);
    }

    pub fn drop_sleepers(&mut self, now: Instant) {
        let bounds = self.bounds();
        let (greeting, frame, answer) = (bounds.greeting, bounds.frame, bounds.answer);
        let mut sleepers = Vec::new();
        for (client, connection) in &mut self.connections {
            if let Some(why) = connection.is_asleep(now, greeting, frame, answer) {
                connection.refuse(why);
                connection.drain(now);
                sleepers.push(*client);
            }
        }
        sleepers.into_iter().for_each(|client| self.let_go(client));
    }
}
