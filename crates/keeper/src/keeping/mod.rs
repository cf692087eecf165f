//! The keeper: one thread around `epoll` that owns the socket, the clients, and the other processes.
//!
//! - `plan`: what to keep and how; `child`: starts the image process and learns how it ended
//! - `connection`: one client; `clients`: all of them: who is let in, what they send, who is too slow
//! - `persons`: who has shown the token of a person
//! - `requests`: which requests there are, whose turn it is, and when their time is up
//! - `image`: what the image process says; `dreams`: what is said to dreams, and by them
//! - `runs`: programs in sandboxes, ordered, waiting and under way; `warden`: the process that watches over them
//! - `calls`: what the image and its dreams ask of the world outside, and the process that answers
//! - `stop`: how it ends, in steps that each have a bound

mod calls;
mod child;
mod clients;
mod connection;
mod dreams;
mod image;
mod persons;
mod plan;
mod requests;
mod runs;
mod stop;
mod warden;

pub use plan::{Notice, Plan};

use crate::bounds::Bounds;
use crate::error::KeeperError;
use crate::protocol::{Inbox, Kind, Outbox, READ_BYTES};
use crate::socket::Seat;
use calls::{Broker, Calls};
use child::Child;
use connection::Connection;
use dreams::Dreams;
use requests::{Requests, Waiting};
use runs::Runs;
use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::io::Errno;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};
use stop::Phase;
use warden::Warden;

/// What an event is about; clients have the numbers after these.
const LISTENER: u64 = 0;
const SIGNALS: u64 = 1;
const PAIR: u64 = 2;
const CHILD: u64 = 3;
const WARDEN_PAIR: u64 = 4;
const WARDEN: u64 = 5;
const BROKER_PAIR: u64 = 6;
const BROKER: u64 = 7;
const FIRST_CLIENT: u64 = 8;
/// Dreams have the numbers from here on, and runs those from there.
const FIRST_DREAM: u64 = 1 << 62;
const FIRST_RUN: u64 = 1 << 63;
/// How often clients are looked at that may have fallen asleep.
const ROUND: Duration = Duration::from_secs(1);
const EVENTS: usize = 256;

/// Takes the socket of a directory, starts the image process and serves until it is told to stop or the image process
/// ends. Tells through `notify` what people want to know.
pub fn keep(plan: Plan, notify: &mut dyn FnMut(Notice<'_>)) -> Result<(), KeeperError> {
    let mut keeper = Keeper::start(plan, notify)?;
    let mut events = Vec::with_capacity(EVENTS);
    loop {
        events.clear();
        keeper.wait(&mut events)?;
        for event in events.drain(..) {
            keeper.take(event.data.u64(), event.flags);
        }
        let now = Instant::now();
        keeper.expire(now);
        // Before handing on: nothing wakes us up for what is read here.
        keeper.resume_paused();
        keeper.hand_on();
        keeper.start_runs();
        keeper.flush();
        if let Some(end) = keeper.advance(now) {
            return end;
        }
    }
}

struct Keeper<'n> {
    plan: Plan,
    notify: &'n mut dyn FnMut(Notice<'_>),
    seat: Seat,
    /// Kept for whoever comes when there is no other descriptor.
    spare: Option<File>,
    poll: OwnedFd,
    signals: UnixStream,
    child: Child,
    inbox: Inbox,
    outbox: Outbox,
    /// Whether the pair is watched for room to write.
    is_pair_full: bool,
    connections: BTreeMap<u64, Connection>,
    next_connection: u64,
    /// Clients that may not send more for now.
    paused: BTreeSet<u64>,
    /// Bytes of frames that were begun, of all clients.
    announced_bytes: usize,
    /// Clients with something to send or to read again since the last flush.
    touched: Vec<u64>,
    requests: Requests,
    /// Lines to dreams that came and were not named yet.
    lines: VecDeque<OwnedFd>,
    dreams: Dreams,
    runs: Runs,
    /// Started with the first run.
    warden: Option<Warden>,
    calls: Calls,
    /// Started with the first call.
    broker: Option<Broker>,
    /// What is read from clients, first.
    scratch: Vec<u8>,
    phase: Phase,
    started: Instant,
    next_round: Instant,
    answered: u64,
    wrong_tokens: u64,
    /// Why the image process says that it failed.
    failure: Option<String>,
    /// How the keeper will end, once that is decided.
    end: Option<Result<(), KeeperError>>,
}

impl<'n> Keeper<'n> {
    fn start(plan: Plan, notify: &'n mut dyn FnMut(Notice<'_>)) -> Result<Keeper<'n>, KeeperError> {
        let seat = Seat::take(&plan.directory)?;
        let poll = epoll::create(epoll::CreateFlags::CLOEXEC).map_err(KeeperError::system("make an epoll"))?;
        let signals = listen_to_signals()?;
        let child = Child::start(&plan)?;
        let sources = [
            (seat.listener.as_fd(), LISTENER),
            (signals.as_fd(), SIGNALS),
            (child.pair.as_fd(), PAIR),
            (child.end.as_fd(), CHILD),
        ];
        for (source, token) in sources {
            epoll::add(&poll, source, EventData::new_u64(token), EventFlags::IN)
                .map_err(KeeperError::system("watch a descriptor"))?;
        }
        let started = Instant::now();
        let requests = Requests::new(&plan.bounds);
        Ok(Keeper {
            plan,
            notify,
            seat,
            spare: clients::spare_descriptor(),
            poll,
            signals,
            child,
            inbox: Inbox::default(),
            outbox: Outbox::default(),
            is_pair_full: false,
            connections: BTreeMap::new(),
            next_connection: FIRST_CLIENT,
            paused: BTreeSet::new(),
            announced_bytes: 0,
            touched: Vec::new(),
            requests,
            lines: VecDeque::new(),
            dreams: Dreams::default(),
            runs: Runs::default(),
            warden: None,
            calls: Calls::default(),
            broker: None,
            scratch: vec![0; READ_BYTES],
            phase: Phase::Starting,
            started,
            next_round: started + ROUND,
            answered: 0,
            wrong_tokens: 0,
            failure: None,
            end: None,
        })
    }

    fn bounds(&self) -> &Bounds {
        &self.plan.bounds
    }

    fn wait(&self, events: &mut Vec<epoll::Event>) -> Result<(), KeeperError> {
        let round = self.connections.values().any(Connection::is_suspect).then_some(self.next_round);
        let due = [self.requests.next_deadline(), self.phase.until(), round].into_iter().flatten().min();
        let left = due.map(|due| due.saturating_duration_since(Instant::now()));
        // A duration that does not fit is longer than anybody waits.
        let left = left.and_then(|left| rustix::event::Timespec::try_from(left).ok());
        match epoll::wait(&self.poll, spare_capacity(events), left.as_ref()) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(KeeperError::system("wait for clients")(error)),
        }
    }

    fn take(&mut self, token: u64, flags: EventFlags) {
        match token {
            LISTENER => self.accept(),
            SIGNALS => self.signalled(),
            PAIR => self.hear_image(),
            CHILD => self.image_ended(),
            WARDEN_PAIR => self.warden_has_room(),
            WARDEN => self.warden_ended(),
            BROKER_PAIR => self.hear_broker(flags),
            BROKER => self.broker_ended(),
            FIRST_RUN.. => self.hear_run(token, flags),
            FIRST_DREAM.. => self.hear_dream(token, flags),
            client => self.hear_client(client, flags),
        }
    }

    /// What has run out of time: requests, and clients that began something and do not go on.
    fn expire(&mut self, now: Instant) {
        while let Some(token) = self.requests.pop_due(now) {
            self.time_is_up(token);
        }
        if now >= self.next_round {
            self.next_round = now + ROUND;
            self.drop_sleepers(now);
        }
    }

    /// Gives the image process as much as it may have ahead, one request of each client in turn.
    fn hand_on(&mut self) {
        if self.phase != Phase::Running {
            return;
        }
        while self.outbox.len() < connection::WRITE_BYTES {
            let Some(Waiting { token, body, is_allowed }) = self.requests.next(&mut self.connections) else { return };
            self.outbox.push(if is_allowed { Kind::Allowed } else { Kind::Request }, token, &body);
        }
    }

    /// Writes what is to be written, once for each that has something.
    fn flush(&mut self) {
        self.flush_pair();
        let mut touched = std::mem::take(&mut self.touched);
        for client in touched.drain(..) {
            self.flush_client(client);
        }
        // The memory serves again; flushing touches nobody.
        self.touched = touched;
    }
}

/// A socket that becomes readable when somebody wants this process to stop.
fn listen_to_signals() -> Result<UnixStream, KeeperError> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let (near, far) = UnixStream::pair().map_err(KeeperError::system("make a pair"))?;
    near.set_nonblocking(true).map_err(KeeperError::system("make a pair"))?;
    for signal in [SIGTERM, SIGINT, SIGHUP] {
        let far = far.try_clone().map_err(KeeperError::system("make a pair"))?;
        signal_hook::low_level::pipe::register(signal, far).map_err(KeeperError::system("catch signals"))?;
    }
    Ok(near)
}
