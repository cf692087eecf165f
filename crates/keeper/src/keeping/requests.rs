//! Which requests there are, whose turn it is, and when their time is up. Fair: each client that waits gets one request
//! handed on before any gets a second.

use super::connection::Connection;
use crate::bounds::Bounds;
use crate::protocol::Kind;
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::time::{Duration, Instant};

/// A request that the image process did not get yet.
pub struct Waiting {
    pub token: u64,
    pub body: Vec<u8>,
    /// Its client had shown the token of a person.
    pub is_allowed: bool,
}

/// Where a request is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stage {
    Waiting,
    /// The image process has it.
    Ahead,
    /// The image process has it and was told to stop it.
    Stopped,
    /// The same, and nobody waits for the answer any more.
    Abandoned,
    /// A question about the status, which the image process answers from the side.
    Inquiry,
}

pub struct Entry {
    pub client: u64,
    /// What the client calls it.
    pub id: u64,
    /// The dream that has it, if it is not for the live image.
    pub dream: Option<u64>,
    pub stage: Stage,
    pub timeout: Option<Duration>,
    pub deadline: Option<Instant>,
}

/// All requests that are not answered, by the number that the image process knows them by.
pub struct Requests {
    pub entries: HashMap<u64, Entry>,
    /// Clients with requests that wait, the next one first; each stands here once.
    ring: VecDeque<u64>,
    deadlines: BTreeSet<(Instant, u64)>,
    next_token: u64,
    ahead: usize,
    ahead_max: usize,
    inquiries: usize,
    /// Bytes of requests that wait.
    pub waiting_bytes: usize,
    pub waiting: usize,
}

impl Requests {
    pub fn new(bounds: &Bounds) -> Requests {
        Requests {
            entries: HashMap::new(),
            ring: VecDeque::new(),
            deadlines: BTreeSet::new(),
            next_token: 1,
            ahead: 0,
            ahead_max: bounds.requests_ahead.max(1),
            inquiries: 0,
            waiting_bytes: 0,
            waiting: 0,
        }
    }

    /// Whether a client may send one more frame of a kind. Only what has to be answered later is bounded: who has as
    /// many requests as fit can still stop one, ask for the status, or greet.
    pub fn has_room(&self, kind: Kind, connection: &Connection, bounds: &Bounds) -> bool {
        match kind {
            Kind::Request => {
                connection.unanswered - connection.inquiries - connection.runs < bounds.requests_per_client
                    && self.entries.len() - self.inquiries < bounds.requests
                    && self.waiting_bytes < bounds.request_bytes
            }
            Kind::Status => connection.inquiries < bounds.inquiries_per_client,
            _ => true,
        }
    }

    pub fn add(&mut self, entry: Entry) -> u64 {
        let token = self.next_token;
        self.next_token += 1;
        self.inquiries += usize::from(entry.stage == Stage::Inquiry);
        self.ahead += usize::from(entry.dream.is_none() && entry.stage == Stage::Ahead);
        self.deadlines.extend(entry.deadline.map(|at| (at, token)));
        self.entries.insert(token, entry);
        token
    }

    /// Puts a request behind the others of its client.
    pub fn wait(&mut self, token: u64, client: u64, connection: &mut Connection, body: Vec<u8>) {
        self.waiting += 1;
        self.waiting_bytes += body.len();
        if connection.waiting.is_empty() {
            self.ring.push_back(client);
        }
        connection.waiting.push_back(Waiting { token, body, is_allowed: connection.is_person });
    }

    /// The next request to hand on, if the image process may have one more.
    pub fn next(&mut self, connections: &mut BTreeMap<u64, Connection>) -> Option<Waiting> {
        while self.ahead < self.ahead_max {
            let client = self.ring.pop_front()?;
            let Some(connection) = connections.get_mut(&client) else { continue };
            let Some(waiting) = connection.waiting.pop_front() else { continue };
            if !connection.waiting.is_empty() {
                self.ring.push_back(client);
            }
            self.waiting -= 1;
            self.waiting_bytes -= waiting.body.len();
            if let Some(entry) = self.entries.get_mut(&waiting.token) {
                entry.stage = Stage::Ahead;
                self.ahead += 1;
                return Some(waiting);
            }
        }
        None
    }

    /// Takes one out of its client's line.
    pub fn withdraw(&mut self, token: u64, client: u64, connection: &mut Connection) {
        if let Some(at) = connection.waiting.iter().position(|waiting| waiting.token == token)
            && let Some(waiting) = connection.waiting.remove(at)
        {
            self.waiting -= 1;
            self.waiting_bytes -= waiting.body.len();
        }
        if connection.waiting.is_empty() {
            self.ring.retain(|other| *other != client);
        }
    }

    /// Forgets a request that is answered.
    pub fn remove(&mut self, token: u64) -> Option<Entry> {
        let entry = self.entries.remove(&token)?;
        self.inquiries -= usize::from(entry.stage == Stage::Inquiry);
        entry.deadline.map(|at| self.deadlines.remove(&(at, token)));
        if entry.dream.is_none() && matches!(entry.stage, Stage::Ahead | Stage::Stopped | Stage::Abandoned) {
            self.ahead -= 1;
        }
        Some(entry)
    }

    /// How many the image process has.
    pub fn ahead(&self) -> usize {
        self.ahead
    }

    /// How many dreams have.
    pub fn in_dreams(&self) -> usize {
        let is_in_dream =
            |entry: &&Entry| entry.dream.is_some() && matches!(entry.stage, Stage::Ahead | Stage::Stopped);
        self.entries.values().filter(is_in_dream).count()
    }

    pub fn of_dream(&self, dream: u64) -> Vec<u64> {
        self.entries.iter().filter(|(_, entry)| entry.dream == Some(dream)).map(|(token, _)| *token).collect()
    }

    pub fn of_client(&self, client: u64) -> Vec<u64> {
        self.entries.iter().filter(|(_, entry)| entry.client == client).map(|(token, _)| *token).collect()
    }

    /// The one that a client calls so.
    pub fn find(&self, client: u64, id: u64) -> Option<u64> {
        let found = self.entries.iter().find(|(_, entry)| entry.client == client && entry.id == id);
        found.map(|(token, _)| *token)
    }

    // ---- time

    pub fn set_deadline(&mut self, token: u64, at: Option<Instant>) {
        if let Some(entry) = self.entries.get_mut(&token) {
            entry.deadline.map(|before| self.deadlines.remove(&(before, token)));
            entry.deadline = at;
            self.deadlines.extend(at.map(|at| (at, token)));
        }
    }

    pub fn next_deadline(&self) -> Option<Instant> {
        self.deadlines.first().map(|(at, _)| *at)
    }

    /// One whose time is up; it has no deadline any more.
    pub fn pop_due(&mut self, now: Instant) -> Option<u64> {
        let (_, token) = self.deadlines.first().copied().filter(|(at, _)| *at <= now)?;
        self.set_deadline(token, None);
        Some(token)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixStream;

    fn connections(count: u64) -> BTreeMap<u64, Connection> {
        (0..count).map(|client| (client, Connection::new(UnixStream::pair().unwrap().0, Instant::now()))).collect()
    }

    fn put(requests: &mut Requests, connections: &mut BTreeMap<u64, Connection>, client: u64) -> u64 {
        let token =
            requests.add(Entry { client, id: 0, dream: None, stage: Stage::Waiting, timeout: None, deadline: None });
        requests.wait(token, client, connections.get_mut(&client).unwrap(), vec![0; 10]);
        token
    }

    #[test]
    fn each_client_has_its_turn() {
        let mut connections = connections(3);
        let mut requests = Requests::new(&Bounds { requests_ahead: 5, ..Bounds::default() });
        for client in [0, 0, 0, 0, 1, 2, 2] {
            put(&mut requests, &mut connections, client);
        }
        let mut order = Vec::new();
        while let Some(Waiting { token, .. }) = requests.next(&mut connections) {
            order.push(requests.entries[&token].client);
        }
        assert_eq!(order, [0, 1, 2, 0, 2], "and then the image process has as many as it may");
        assert_eq!((requests.ahead(), requests.waiting, requests.waiting_bytes), (5, 2, 20));
        let token = requests.of_client(1)[0];
        requests.remove(token);
        let Waiting { token, .. } = requests.next(&mut connections).unwrap();
        assert_eq!(requests.entries[&token].client, 0);
    }

    #[test]
    fn what_is_full_of_one_kind_has_room_for_the_others() {
        let mut connections = connections(2);
        let bounds = Bounds { requests_per_client: 2, inquiries_per_client: 1, requests: 3, ..Bounds::default() };
        let mut requests = Requests::new(&bounds);
        let has_room = |requests: &Requests, connections: &BTreeMap<u64, Connection>, client| {
            [Kind::Request, Kind::Status, Kind::Cancel, Kind::Hello]
                .map(|kind| requests.has_room(kind, &connections[&client], &bounds))
        };
        put(&mut requests, &mut connections, 0);
        let inquiry = Entry { client: 0, id: 1, dream: None, stage: Stage::Inquiry, timeout: None, deadline: None };
        let inquiry = requests.add(inquiry);
        connections.get_mut(&0).unwrap().unanswered = 2;
        connections.get_mut(&0).unwrap().inquiries = 1;
        assert_eq!(has_room(&requests, &connections, 0), [true, false, true, true], "one inquiry");
        put(&mut requests, &mut connections, 0);
        connections.get_mut(&0).unwrap().unanswered = 3;
        assert_eq!(has_room(&requests, &connections, 0), [false, false, true, true], "and two requests");
        assert_eq!(has_room(&requests, &connections, 1), [true; 4], "which are those of another client");
        put(&mut requests, &mut connections, 0);
        assert_eq!(has_room(&requests, &connections, 1), [false, true, true, true], "three requests of all");
        requests.remove(inquiry);
        assert_eq!(has_room(&requests, &connections, 1), [false, true, true, true], "an inquiry was none of them");
        let full = Bounds { request_bytes: 30, ..Bounds::default() };
        assert!(!requests.has_room(Kind::Request, &connections[&1], &full), "three of ten bytes");
        assert!(requests.has_room(Kind::Status, &connections[&1], &full));
    }

    #[test]
    fn what_is_withdrawn_is_not_handed_on() {
        let mut connections = connections(2);
        let mut requests = Requests::new(&Bounds::default());
        let first = put(&mut requests, &mut connections, 0);
        requests.withdraw(first, 0, connections.get_mut(&0).unwrap());
        requests.remove(first);
        let second = put(&mut requests, &mut connections, 0);
        assert_eq!(requests.next(&mut connections).map(|waiting| waiting.token), Some(second));
        assert!(requests.next(&mut connections).is_none());
        assert_eq!((requests.waiting, requests.waiting_bytes), (0, 0));
    }

    #[test]
    fn time_is_up_in_order_and_only_for_what_is_there() {
        let mut connections = connections(1);
        let mut requests = Requests::new(&Bounds::default());
        let now = Instant::now();
        let tokens: Vec<u64> = (0..3).map(|_| put(&mut requests, &mut connections, 0)).collect();
        for (token, seconds) in tokens.iter().zip([3, 1, 2]) {
            requests.set_deadline(*token, now.checked_add(Duration::from_secs(seconds)));
        }
        requests.remove(tokens[1]);
        assert_eq!(requests.pop_due(now + Duration::from_secs(2)), Some(tokens[2]));
        assert_eq!(requests.pop_due(now + Duration::from_secs(2)), None);
        assert_eq!(requests.next_deadline(), Some(now + Duration::from_secs(3)));
    }
}
