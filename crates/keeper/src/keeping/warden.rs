//! What passes between clients and the warden. Each run has a socket of its own, of which the warden gets one end with a
//! message that says nothing else: the order is the first frame in it, all that the run says comes back through it, and
//! closing it ends the run. What a run says goes on to its client unread.

use super::child::{self, Child};
use super::connection::Connection;
use super::plan::{Notice, Plan};
use super::runs::{Ordered, Stage};
use super::{Keeper, WARDEN, WARDEN_PAIR};
use crate::error::KeeperError;
use crate::protocol::{FRAME_BYTES_MAX, Frame, Kind, RunEnd, RunFailure, RunInput};
use crate::warding::hand;
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::io::Errno;
use serde::Deserialize;
use std::collections::VecDeque;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

pub struct Warden {
    pub child: Child,
    /// Ends of sockets that it had no room for; it is watched for room.
    late: VecDeque<Handed>,
}

/// The warden's end of a run's socket, and what the program is to read.
struct Handed {
    socket: OwnedFd,
    input: Option<OwnedFd>,
}

/// All that the keeper wants to know of an order.
#[derive(Deserialize)]
struct Envelope {
    #[serde(default)]
    input: RunInput,
    #[serde(default)]
    records_itself: bool,
}

impl Keeper<'_> {
    pub fn receive_run(&mut self, client: u64, connection: &mut Connection, frame: &Frame<'_>) -> Result<(), String> {
        let line = frame.body.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let envelope: Envelope = match serde_json::from_slice(line) {
            Ok(envelope) => envelope,
            Err(error) => {
                let end =
                    RunEnd::failed(RunFailure::Refused, format!("the order is not what the protocol says: {error}"));
                connection.outbox.push_json(Kind::Ended, frame.id, &end);
                return Ok(());
            }
        };
        let input = match envelope.input {
            RunInput::Descriptor => Some(connection.descriptors.pop_front().ok_or("no descriptor came with an order")?),
            _ => None,
        };
        connection.unanswered += 1;
        connection.runs += 1;
        let ordered = Ordered { records_itself: envelope.records_itself, body: frame.body.to_vec(), input };
        self.runs.add(client, frame.id, connection.who.clone(), ordered);
        Ok(())
    }

    /// Starts runs as long as there may be more.
    pub fn start_runs(&mut self) {
        if self.phase.is_ending() {
            return;
        }
        while self.warden.as_ref().is_none_or(|warden| warden.late.is_empty()) {
            let Some((token, ordered)) = self.runs.next(&self.plan.bounds) else { return };
            if let Err(error) = self.start_run(token, ordered) {
                let end = RunEnd::failed(RunFailure::Refused, format!("{error}; nothing was run"));
                self.end_run(token, None, &end);
            }
        }
    }

    fn start_run(&mut self, token: u64, ordered: Ordered) -> Result<(), KeeperError> {
        let warden = match &mut self.warden {
            Some(warden) => warden,
            place => place.insert(start_warden(&self.poll, &self.plan)?),
        };
        let (stream, theirs) = UnixStream::pair().map_err(KeeperError::system("make a pair"))?;
        stream.set_nonblocking(true).map_err(KeeperError::system("make a pair"))?;
        let Some(who) = self.runs.entries.get(&token).map(|run| run.who.clone()) else { return Ok(()) };
        let Some(channel) = self.runs.begin(token, stream) else { return Ok(()) };
        channel.outbox.push_json(Kind::Hello, token, &who);
        channel.outbox.push(Kind::Run, token, &ordered.body);
        let is_written = channel.outbox.drain(&channel.stream).unwrap_or(true);
        let mut flags = EventFlags::IN;
        flags.set(EventFlags::OUT, !is_written);
        epoll::add(&self.poll, &channel.stream, EventData::new_u64(token), flags)
            .map_err(KeeperError::system("watch a run"))?;
        warden.late.push_back(Handed { socket: theirs.into(), input: ordered.input });
        self.warden_has_room();
        Ok(())
    }

    /// Gives the warden what it takes.
    pub fn warden_has_room(&mut self) {
        let Some(warden) = &mut self.warden else { return };
        let was_full = warden.late.len() > 1;
        while let Some(handed) = warden.late.front() {
            match hand(&warden.child.pair, &handed.socket, handed.input.as_ref()) {
                Err(Errno::AGAIN) => break,
                // If it has gone, that is told by itself.
                Ok(()) | Err(_) => drop(warden.late.pop_front()),
            }
        }
        let is_full = !warden.late.is_empty();
        if is_full || was_full {
            let flags = if is_full { EventFlags::OUT } else { EventFlags::empty() };
            let _ = epoll::modify(&self.poll, &warden.child.pair, EventData::new_u64(WARDEN_PAIR), flags);
        }
    }

    pub fn hear_run(&mut self, token: u64, flags: EventFlags) {
        let Some(channel) = self.runs.channel(token) else { return };
        if flags.contains(EventFlags::OUT) && channel.outbox.drain(&channel.stream).unwrap_or(true) {
            self.watch_run(token);
        }
        let Some(channel) = self.runs.channel(token) else { return };
        if channel.is_held_back || !flags.intersects(EventFlags::IN | EventFlags::HUP | EventFlags::ERR) {
            return;
        }
        let heard = channel.inbox.fill(&channel.stream);
        let is_over = match heard {
            Ok(0) => true,
            Ok(_) => false,
            Err(error) => error.kind() != std::io::ErrorKind::WouldBlock,
        };
        self.heed_run(token);
        if is_over && self.runs.channel(token).is_some() {
            self.lose_run(token);
        }
    }

    /// Whoever watched over it said nothing more, and wrote nothing down.
    fn lose_run(&mut self, token: u64) {
        if let Some(run) = self.runs.entries.get(&token).filter(|run| !run.records_itself) {
            (self.notify)(Notice::RunLost { who: &run.who, why: LOST });
        }
        self.end_run(token, None, &RunEnd::failed(RunFailure::Lost, LOST));
    }

    /// Passes on what a run says; holds it back if its client does not take that.
    fn heed_run(&mut self, token: u64) {
        let Some(run) = self.runs.entries.get_mut(&token) else { return };
        let Stage::UnderWay(channel) = &mut run.stage else { return };
        let Some(connection) = self.connections.get_mut(&run.client) else { return };
        self.touched.push(run.client);
        let has_ended = loop {
            match channel.inbox.next(FRAME_BYTES_MAX) {
                Ok(Some(frame)) => {
                    connection.outbox.push(frame.kind, run.id, frame.body);
                    if frame.kind == Kind::Ended {
                        break true;
                    }
                }
                Ok(None) => break false,
                // It is our own program, and has gone mad.
                Err(_) => return self.lose_run(token),
            }
        };
        connection.is_patient = true;
        if has_ended {
            connection.unanswered -= 1;
            connection.runs -= 1;
            self.runs.remove(token);
        } else if connection.outbox.len() > self.plan.bounds.run_backlog_bytes {
            channel.is_held_back = true;
            connection.held_back.push(token);
            self.watch_run(token);
        }
    }

    /// Its client has taken what it was sent.
    pub fn hear_run_again(&mut self, token: u64) {
        if let Some(channel) = self.runs.channel(token) {
            channel.is_held_back = false;
            self.watch_run(token);
        }
    }

    fn watch_run(&mut self, token: u64) {
        let Some(channel) = self.runs.channel(token) else { return };
        let mut flags = EventFlags::empty();
        flags.set(EventFlags::IN, !channel.is_held_back);
        flags.set(EventFlags::OUT, !channel.outbox.is_empty());
        // It was added when it was started.
        let _ = epoll::modify(&self.poll, &channel.stream, EventData::new_u64(token), flags);
    }

    /// Stops a run wherever it is; it is answered. `connection` is its client's, if it is not among the others.
    pub fn stop_run(&mut self, token: u64, connection: Option<&mut Connection>) {
        match self.runs.channel(token) {
            // The end of the socket is what its supervisor stops it for.
            Some(channel) if !channel.is_stopped => {
                channel.is_stopped = true;
                let _ = channel.stream.shutdown(std::net::Shutdown::Write);
            }
            Some(_) => {}
            None => {
                let end = RunEnd::failed(RunFailure::Withdrawn, "withdrawn before it began; nothing was run");
                self.end_run(token, connection, &end);
            }
        }
    }

    /// Nobody waits for it any more. Closing its socket ends it.
    pub fn forget_run(&mut self, token: u64) {
        self.runs.remove(token);
    }

    /// Answers in the place of the warden.
    fn end_run(&mut self, token: u64, connection: Option<&mut Connection>, end: &RunEnd) {
        let Some(run) = self.runs.remove(token) else { return };
        let Some(connection) = connection.or(self.connections.get_mut(&run.client)) else { return };
        connection.outbox.push_json(Kind::Ended, run.id, end);
        connection.unanswered -= 1;
        connection.runs -= 1;
        self.touched.push(run.client);
    }

    /// All runs that are under way find the other end of their socket closed, and say so by themselves.
    pub fn warden_ended(&mut self) {
        let Some(status) = self.warden.as_mut().and_then(|warden| warden.child.ended()) else { return };
        self.warden = None;
        (self.notify)(Notice::WardenLost { cause: child::cause(status) });
    }

    /// Ends all runs, and the warden: it has seen to the end of all of them when it is gone.
    pub fn part_from_runs(&mut self, why: &str) {
        for token in self.runs.all() {
            self.end_run(token, None, &RunEnd::failed(RunFailure::Lost, format!("{why}; the run was ended")));
        }
        if let Some(warden) = self.warden.take() {
            let _ = epoll::delete(&self.poll, &warden.child.end);
            warden.child.part(PARTING);
        }
    }
}

/// How long the warden may take to end what was under way; nothing survives it in any case.
const PARTING: Duration = Duration::from_secs(2);

const LOST: &str = "the process that watched over it has gone, and so has the run";

fn start_warden(poll: &OwnedFd, plan: &Plan) -> Result<Warden, KeeperError> {
    let child = Child::start_warden(plan)?;
    for (source, token, flags) in
        [(child.pair.as_fd(), WARDEN_PAIR, EventFlags::empty()), (child.end.as_fd(), WARDEN, EventFlags::IN)]
    {
        epoll::add(poll, source, EventData::new_u64(token), flags).map_err(KeeperError::system("watch the warden"))?;
    }
    Ok(Warden { child, late: VecDeque::new() })
}
