//! Processes, one for each run that is under way. Those that have nothing to do wait for the next; the keeper bounds how many
//! runs there are, and so how many processes. They are copies of the warden, which is small and has one thread: what each
//! makes for its runs is copied from little, and a fault in one ends one run.

use super::{Warding, conversation, hand, next};
use crate::error::KeeperError;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, socketpair};
use rustix::process::{Signal, set_parent_process_death_signal};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};
use system::clone::{self, Child};

/// So many wait for work; more end when they have none.
const IDLE_MAX: usize = 64;
/// What to do is said before the system's own words.
const NO_WORKER: &str = "start a process for a run; wait for others to end, or raise the limit of processes, open files or \
                         memory where `telos up` was started";

struct Worker {
    child: Child,
    /// Work goes there, and a byte comes back when it is done.
    socket: OwnedFd,
    /// Since when it has had nothing to do; `None` while it is at work.
    idle_since: Option<Instant>,
}

pub struct Workers<W> {
    warding: W,
    /// How long one waits for work.
    keeping: Duration,
    workers: Vec<Worker>,
    /// Told to end, or gone.
    leaving: Vec<Child>,
}

impl<W: Warding> Workers<W> {
    pub fn new(warding: W, keeping: Duration) -> Workers<W> {
        Workers { warding, keeping, workers: Vec::new(), leaving: Vec::new() }
    }

    /// Waits until the keeper has something to say, and hears meanwhile who is done.
    pub fn await_word(&mut self, pair: impl AsFd) -> rustix::io::Result<()> {
        loop {
            let mut waited = vec![PollFd::new(&pair, PollFlags::IN)];
            waited.extend(self.workers.iter().map(|worker| PollFd::new(&worker.socket, PollFlags::IN)));
            waited.extend(self.leaving.iter().map(|child| PollFd::new(&child.pidfd, PollFlags::IN)));
            let left =
                time_left(self.workers.iter().filter_map(|worker| worker.idle_since), self.keeping, Instant::now());
            let left = left.and_then(|left| Timespec::try_from(left).ok());
            match poll(&mut waited, left.as_ref()) {
                Ok(_) => {}
                Err(Errno::INTR) => continue,
                Err(errno) => return Err(errno),
            }
            let mut is_ready = waited.iter().map(|place| !place.revents().is_empty()).collect::<Vec<_>>().into_iter();
            let has_word = is_ready.next() == Some(true);
            self.heed(is_ready);
            self.let_go(Instant::now());
            if has_word {
                return Ok(());
            }
        }
    }

    /// Who has waited too long ends, and what it had prepared with it.
    fn let_go(&mut self, now: Instant) {
        let keeping = self.keeping;
        let is_late = |worker: &mut Worker| worker.idle_since.is_some_and(|since| now >= since + keeping);
        self.leaving.extend(self.workers.extract_if(.., is_late).map(Worker::dismiss));
    }

    /// Who is done waits again, if not too many do; who has gone is let go.
    fn heed(&mut self, is_ready: impl Iterator<Item = bool>) {
        let mut idle = self.workers.iter().filter(|worker| worker.idle_since.is_some()).count();
        let mut is_ready = is_ready;
        let mut gone = Vec::new();
        for mut worker in std::mem::take(&mut self.workers) {
            if is_ready.next() != Some(true) {
                self.workers.push(worker);
                continue;
            }
            let is_done = matches!(recv(&worker.socket, &mut [0u8; 1], RecvFlags::DONTWAIT), Ok((1, _)));
            if is_done && idle < IDLE_MAX {
                idle += 1;
                worker.idle_since = Some(Instant::now());
                self.workers.push(worker);
            } else {
                gone.push(worker.dismiss());
            }
        }
        self.leaving
            .retain(|child| is_ready.next() != Some(true) || !matches!(clone::wait(child.pid, false), Ok(Some(_))));
        self.leaving.extend(gone);
    }

    /// Gives a run to who is idle, or to a new one. Where none can be had the run is refused.
    pub fn give(&mut self, socket: OwnedFd, input: Option<OwnedFd>) {
        let idle = self.workers.iter().rposition(|worker| worker.idle_since.is_some());
        let worker = match idle {
            Some(position) => Ok(self.workers.swap_remove(position)),
            None => self.start(),
        };
        let mut worker = match worker {
            Ok(worker) => worker,
            Err(error) => return conversation::refuse(socket, &error),
        };
        match hand(&worker.socket, &socket, input.as_ref()) {
            Ok(()) => {
                worker.idle_since = None;
                self.workers.push(worker);
            }
            Err(errno) => {
                self.leaving.push(worker.dismiss());
                conversation::refuse(socket, &KeeperError::system("hand a run to a process; try again")(errno));
            }
        }
    }

    fn start(&self) -> Result<Worker, KeeperError> {
        let (socket, theirs) = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)
            .map_err(KeeperError::system(NO_WORKER))?;
        // The warden has one thread, so that a copy of it may ask for memory.
        let child = clone::clone(0, || {
            let is_alone = system::descriptor::close_all_but(&[theirs.as_raw_fd()]).is_ok()
                && set_parent_process_death_signal(Some(Signal::KILL)).is_ok();
            if is_alone { live(&self.warding, &theirs) } else { 1 }
        });
        let child = child.map_err(KeeperError::system(NO_WORKER))?;
        Ok(Worker { child, socket, idle_since: Some(Instant::now()) })
    }

    /// Waits until all have ended, or for as long as that may take; then they are killed, and their runs with them.
    pub fn finish(&mut self, time: Duration) {
        let until = Instant::now() + time;
        self.leaving.extend(self.workers.drain(..).map(Worker::dismiss));
        for child in self.leaving.drain(..) {
            let left = until.saturating_duration_since(Instant::now());
            let left = Timespec::try_from(left).ok();
            let _ = poll(&mut [PollFd::new(&child.pidfd, PollFlags::IN)], left.as_ref());
            let _ = rustix::process::pidfd_send_signal(&child.pidfd, Signal::KILL);
            let _ = clone::wait(child.pid, true);
        }
        self.warding.clear();
    }
}

/// Until the first of those who wait has waited long enough.
fn time_left(idle: impl Iterator<Item = Instant>, keeping: Duration, now: Instant) -> Option<Duration> {
    idle.min().map(|since| (since + keeping).saturating_duration_since(now))
}

impl Worker {
    /// It ends when it has done what it is at.
    fn dismiss(self) -> Child {
        let _ = rustix::net::shutdown(&self.socket, rustix::net::Shutdown::Both);
        self.child
    }
}

/// The life of a worker. One that ends without a word that it is done gets no more work.
pub(super) fn live(warding: &impl Warding, socket: &OwnedFd) -> i32 {
    while let Ok(given) = next(socket) {
        if let Some((run, input)) = given {
            conversation::hold(warding, UnixStream::from(run), input);
        }
        if !warding.is_fit() || rustix::net::send(socket, b"d", SendFlags::NOSIGNAL).is_err() {
            break;
        }
    }
    warding.clear();
    0
}
