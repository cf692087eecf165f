//! Which runs there are: those that wait, one line for each client, and those that are under way. Fair like requests: each
//! client that waits has one started before any has a second.

use super::FIRST_RUN;
use super::connection::Connection;
use crate::bounds::Bounds;
use crate::protocol::{Inbox, Outbox, RunClient};
use std::collections::{HashMap, VecDeque};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

pub struct Run {
    pub client: u64,
    /// What the client calls it.
    pub id: u64,
    /// Who ordered it, and whether they write that down themselves.
    pub who: RunClient,
    pub records_itself: bool,
    pub stage: Stage,
}

pub enum Stage {
    Waiting(Ordered),
    UnderWay(Channel),
}

/// An order that nobody but the warden reads, and what the program is to read.
pub struct Ordered {
    pub records_itself: bool,
    pub body: Vec<u8>,
    pub input: Option<OwnedFd>,
}

/// The way to the warden's process that watches over a run.
pub struct Channel {
    pub stream: UnixStream,
    pub inbox: Inbox,
    pub outbox: Outbox,
    /// What it says is left unread, until its client has taken what it was sent.
    pub is_held_back: bool,
    /// It was told to stop.
    pub is_stopped: bool,
}

#[derive(Default)]
pub struct Runs {
    pub entries: HashMap<u64, Run>,
    lines: HashMap<u64, VecDeque<u64>>,
    /// Clients with runs that wait, the next one first; each stands here once.
    ring: VecDeque<u64>,
    count: u64,
    under_way: usize,
    /// Bytes of orders that wait.
    pub waiting_bytes: usize,
    pub ended: u64,
}

impl Runs {
    pub fn has_room(&self, connection: &Connection, bounds: &Bounds) -> bool {
        connection.runs < bounds.runs_per_client
            && self.entries.len() < bounds.runs
            && self.waiting_bytes < bounds.request_bytes
    }

    pub fn add(&mut self, client: u64, id: u64, who: RunClient, ordered: Ordered) {
        let token = FIRST_RUN + self.count;
        self.count += 1;
        self.waiting_bytes += ordered.body.len();
        let records_itself = ordered.records_itself;
        self.entries.insert(token, Run { client, id, who, records_itself, stage: Stage::Waiting(ordered) });
        let line = self.lines.entry(client).or_default();
        if line.is_empty() {
            self.ring.push_back(client);
        }
        line.push_back(token);
    }

    /// The next one to start.
    pub fn next(&mut self, bounds: &Bounds) -> Option<(u64, Ordered)> {
        while self.under_way < bounds.runs_under_way {
            let client = self.ring.pop_front()?;
            let Some(line) = self.lines.get_mut(&client) else { continue };
            let token = line.pop_front();
            match line.is_empty() {
                true => drop(self.lines.remove(&client)),
                false => self.ring.push_back(client),
            }
            // Those that were withdrawn stand in their line still.
            let Some(token) = token.filter(|token| self.entries.contains_key(token)) else { continue };
            if let Some(Run { stage: Stage::Waiting(ordered), .. }) = self.entries.get_mut(&token) {
                let (body, input) = (std::mem::take(&mut ordered.body), ordered.input.take());
                let ordered = Ordered { records_itself: ordered.records_itself, body, input };
                self.waiting_bytes -= ordered.body.len();
                return Some((token, ordered));
            }
        }
        None
    }

    pub fn begin(&mut self, token: u64, stream: UnixStream) -> Option<&mut Channel> {
        let run = self.entries.get_mut(&token)?;
        self.under_way += 1;
        let (inbox, outbox) = (Inbox::default(), Outbox::default());
        run.stage = Stage::UnderWay(Channel { stream, inbox, outbox, is_held_back: false, is_stopped: false });
        self.channel(token)
    }

    pub fn channel(&mut self, token: u64) -> Option<&mut Channel> {
        match &mut self.entries.get_mut(&token)?.stage {
            Stage::UnderWay(channel) => Some(channel),
            Stage::Waiting(_) => None,
        }
    }

    pub fn remove(&mut self, token: u64) -> Option<Run> {
        let run = self.entries.remove(&token)?;
        match &run.stage {
            Stage::Waiting(ordered) => self.waiting_bytes -= ordered.body.len(),
            Stage::UnderWay(_) => self.under_way -= 1,
        }
        self.ended += 1;
        Some(run)
    }

    pub fn under_way(&self) -> usize {
        self.under_way
    }

    pub fn waiting(&self) -> usize {
        self.entries.len() - self.under_way
    }

    pub fn those_waiting(&self) -> Vec<u64> {
        let waiting = self.entries.iter().filter(|(_, run)| matches!(run.stage, Stage::Waiting(_)));
        waiting.map(|(token, _)| *token).collect()
    }

    pub fn all(&self) -> Vec<u64> {
        self.entries.keys().copied().collect()
    }

    pub fn of_client(&self, client: u64) -> Vec<u64> {
        self.entries.iter().filter(|(_, run)| run.client == client).map(|(token, _)| *token).collect()
    }

    /// The one that a client calls so.
    pub fn find(&self, client: u64, id: u64) -> Option<u64> {
        let found = self.entries.iter().find(|(_, run)| run.client == client && run.id == id);
        found.map(|(token, _)| *token)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ordered() -> Ordered {
        Ordered { records_itself: false, body: vec![0; 10], input: None }
    }

    #[test]
    fn each_client_has_its_turn_and_no_more_are_started_than_may() {
        let bounds = Bounds { runs_under_way: 4, ..Bounds::default() };
        let mut runs = Runs::default();
        for (id, client) in [7, 7, 7, 8, 9].into_iter().enumerate() {
            runs.add(client, id as u64, RunClient::default(), ordered());
        }
        let withdrawn = runs.find(9, 4).unwrap();
        runs.remove(withdrawn);
        let mut order = Vec::new();
        while let Some((token, _)) = runs.next(&bounds) {
            order.push(runs.entries[&token].id);
            runs.begin(token, UnixStream::pair().unwrap().0);
        }
        assert_eq!(order, [0, 3, 1, 2]);
        assert_eq!((runs.under_way(), runs.waiting(), runs.waiting_bytes), (4, 0, 0));
        runs.add(8, 9, RunClient::default(), ordered());
        assert!(runs.next(&bounds).is_none(), "as many are under way as may be");
        runs.of_client(7).into_iter().for_each(|token| drop(runs.remove(token)));
        assert!(runs.next(&bounds).is_some());
    }
}
