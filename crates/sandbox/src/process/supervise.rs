//! The one outside while a run goes on: moves streams, watches limits, and is back when all of the run is gone.

use super::cell::{KILLED, Line};
use super::meter::{Meter, sockets_in, sockets_of};
use super::network::Services;
use super::report::{LENGTH, Message, Step};
use super::stream::Kept;
use crate::backend::{Running, Stop};
use crate::changes::layer;
use crate::error::SandboxError;
use crate::limits::Limits;
use crate::outcome::{Limit, Outcome, Usage, Verdict};
use crate::wall::{Lack, Wall};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::RecvFlags;
use rustix::process::{Signal, pidfd_send_signal};
use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use system::clone::{self, End};

/// A run that was started. Dropping it kills all of it.
pub struct Run {
    pub init: Init,
    /// What it says comes from here, until it says no more.
    pub socket: Option<OwnedFd>,
    pub streams: Kept,
    pub limits: Limits,
    pub started: Instant,
    pub lacks: Vec<Lack>,
    /// What its first process noted beside that.
    pub noted: Vec<Step>,
    /// What layered grants are written to, each with its place in the order.
    pub uppers: Vec<(usize, OwnedFd)>,
    pub is_stopped: Arc<AtomicBool>,
    /// Who serve its network; they end after it.
    pub services: Option<Services>,
    /// Says that it is to be stopped.
    pub lifeline: Option<OwnedFd>,
    /// To the first process inside, if what is heard comes from a zygote: then that process does not end by itself.
    pub init_socket: Option<OwnedFd>,
    /// Dropped last: a cgroup can be removed when nobody is in it.
    pub meter: Meter,
}

/// Somebody who works beside the supervisor of a run, on its thread, and so must never wait.
pub trait Companion {
    /// Adds what it wants to be woken up for.
    fn watch<'a>(&'a self, waited: &mut Vec<PollFd<'a>>);

    /// Does what can be done now. False if the run is to be stopped.
    fn act(&mut self) -> bool;
}

/// Nobody.
impl Companion for () {
    fn watch<'a>(&'a self, _: &mut Vec<PollFd<'a>>) {}

    fn act(&mut self) -> bool {
        true
    }
}

/// The first process inside. All of the run dies with it.
pub struct Init {
    pub pid: i32,
    pub pidfd: Arc<OwnedFd>,
    pub is_gone: bool,
    /// Whose child it is, if not ours, and what tells the sockets in that cell.
    pub cell: Option<(Line, Arc<File>)>,
}

impl Init {
    fn kill(&self) {
        // It may have ended by itself.
        let _ = pidfd_send_signal(&*self.pidfd, Signal::KILL);
    }

    fn reap(&mut self) -> Result<End, SandboxError> {
        let end = match &self.cell {
            Some((line, _)) => Ok(Some(line.hear_end())),
            None => clone::wait(self.pid, true),
        };
        self.is_gone = true;
        let end = end.map_err(SandboxError::system("wait for the end of the sandbox"))?;
        end.ok_or(SandboxError::System { action: "wait for the end of the sandbox", source: Errno::CHILD.into() })
    }
}

impl Drop for Init {
    fn drop(&mut self) {
        if !self.is_gone {
            self.kill();
            let _ = self.reap();
        }
    }
}

impl Run {
    /// Moves streams until the first process inside has ended. `Some` if it was ended for a limit.
    fn attend(
        &mut self,
        status: &mut Option<i32>,
        companion: &mut dyn Companion,
    ) -> Result<Option<Limit>, SandboxError> {
        let mut limit = None;
        let mut listens = self.socket.is_some();
        let mut look_at = self.meter.first(&self.limits).map(|delay| self.started + delay);
        loop {
            let now = Instant::now();
            let mut reached = self.left(now).is_some_and(|left| left.is_zero()).then_some(Limit::Time);
            if look_at.is_some_and(|time| time <= now) {
                let (over, again) = self.meter.look(&self.limits, self.sockets());
                reached = reached.or(over);
                look_at = again.map(|delay| now + delay);
            }
            self.end_for(&mut limit, reached);
            let times = [self.left(now), look_at.map(|time| time.saturating_duration_since(now))];
            let timeout = if limit.is_some() { None } else { times.into_iter().flatten().min() };
            if self.sleep(timeout, listens, status.is_some(), companion)? {
                let is_within = self.streams.pump_rest();
                limit = limit.or((!is_within).then_some(Limit::Output));
                return Ok(limit);
            }
            let is_within = self.streams.pump();
            self.end_for(&mut limit, (!is_within).then_some(Limit::Output));
            self.heed_lifeline();
            if !companion.act() {
                self.stop().stop();
            }
            if listens && status.is_none() {
                let heard = self.hear();
                listens = heard == Heard::Nothing;
                *status = heard.status();
                // With a zygote the first process does not end by itself, whether that has told of the end or has gone.
                if !listens && self.init_socket.is_some() {
                    self.init.kill();
                }
            }
        }
    }

    /// Those of the run; without a network of its own it has none, and those there are others'.
    fn sockets(&self) -> u64 {
        let has_network = !self.lacks.iter().any(|lack| lack.wall == Wall::NetworkNamespace);
        match &self.init.cell {
            Some((_, sockets)) => sockets_in(sockets),
            None if has_network => sockets_of(self.init.pid),
            None => 0,
        }
    }

    /// The first limit that is reached is the one that counts.
    fn end_for(&self, limit: &mut Option<Limit>, reached: Option<Limit>) {
        if limit.is_none() && reached.is_some() {
            *limit = reached;
            self.init.kill();
        }
    }

    /// Until something happens; whether that is the end. When the program has ended, the rest goes with it at once, and what they
    /// wrote is there still: nobody has to be woken up for each stream that closes meanwhile.
    fn sleep(
        &self,
        timeout: Option<Duration>,
        listens: bool,
        has_ended: bool,
        companion: &dyn Companion,
    ) -> Result<bool, SandboxError> {
        let timeout =
            timeout.map(|left| Timespec { tv_sec: left.as_secs() as i64, tv_nsec: left.subsec_nanos().into() });
        let mut waited = vec![PollFd::new(&*self.init.pidfd, PollFlags::IN)];
        waited.extend(self.lifeline.iter().map(|lifeline| PollFd::new(lifeline, PollFlags::IN)));
        if !has_ended {
            waited.extend(self.socket.iter().filter(|_| listens).map(|socket| PollFd::new(socket, PollFlags::IN)));
            self.streams.watch(&mut waited);
        }
        companion.watch(&mut waited);
        match poll(&mut waited, timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(SandboxError::system("wait for the sandbox")(errno)),
        }
        Ok(waited.first().is_some_and(|init| !init.revents().is_empty()))
    }

    /// Looks whether somebody wants it stopped.
    fn heed_lifeline(&mut self) {
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        let is_readable = |lifeline: &OwnedFd| {
            let mut waited = [PollFd::new(lifeline, PollFlags::IN)];
            !matches!(poll(&mut waited, Some(&now)), Ok(0) | Err(Errno::INTR))
        };
        if self.lifeline.as_ref().is_some_and(is_readable) {
            self.lifeline = None;
            self.stop().stop();
        }
    }

    fn left(&self, now: Instant) -> Option<Duration> {
        self.limits.time.map(|time| time.saturating_sub(now - self.started))
    }

    fn verdict(&self, limit: Option<Limit>, status: Option<i32>, end: &End, used: Duration) -> Verdict {
        if let Some(limit) = limit {
            return Verdict::Limited(limit);
        }
        if self.meter.ran_out_of_memory() {
            return Verdict::Limited(Limit::Memory);
        }
        // A zygote tells of the kill by which its child was stopped; of a dream the kernel does.
        let is_killed = match status {
            Some(status) => self.init_socket.is_some() && status == KILLED,
            None => self.socket.is_some() || end.status == KILLED,
        };
        if is_killed && self.is_stopped.load(Ordering::Acquire) {
            return Verdict::Stopped;
        }
        let verdict = verdict_of(status.unwrap_or(end.status));
        // One process used up what all may use together, and the kernel was faster than we.
        let is_used_up = self.limits.cpu.is_some_and(|limit| used >= limit);
        match verdict {
            Verdict::Signalled(_) if is_used_up => Verdict::Limited(Limit::Cpu),
            verdict => verdict,
        }
    }

    /// What was said about the end of the program. One look: who looked first whether there is anything to hear, and heard then,
    /// missed that the end was told in between.
    fn hear(&self) -> Heard {
        let Some(socket) = &self.socket else { return Heard::Nothing };
        let mut bytes = [0u8; LENGTH];
        match rustix::net::recv(socket, &mut bytes, RecvFlags::DONTWAIT) {
            Ok((count, _)) => match Message::decode(&bytes[..count.min(LENGTH)]) {
                Some(Message::Ended { status }) => Heard::Ended(status),
                _ if count == 0 => Heard::NoMore,
                _ => Heard::Nothing,
            },
            Err(Errno::AGAIN | Errno::INTR) => Heard::Nothing,
            Err(_) => Heard::NoMore,
        }
    }
}

/// From whoever tells how the program ended: its first process, or a zygote.
#[derive(Clone, Copy, PartialEq)]
enum Heard {
    Nothing,
    Ended(i32),
    /// It has gone.
    NoMore,
}

impl Heard {
    fn status(self) -> Option<i32> {
        if let Heard::Ended(status) = self { Some(status) } else { None }
    }
}

impl Running for Run {
    fn stop_when_readable(&mut self, lifeline: OwnedFd) {
        self.lifeline = Some(lifeline);
    }

    fn stop(&self) -> Stop {
        let (pidfd, is_stopped) = (self.init.pidfd.clone(), self.is_stopped.clone());
        Stop(Arc::new(move || {
            is_stopped.store(true, Ordering::Release);
            let _ = pidfd_send_signal(&*pidfd, Signal::KILL);
        }))
    }

    fn wait(self: Box<Self>) -> Result<Outcome, SandboxError> {
        self.wait_with(&mut ())
    }
}

impl Run {
    /// As `wait`, with somebody beside.
    pub fn wait_with(mut self, companion: &mut dyn Companion) -> Result<Outcome, SandboxError> {
        let mut status = None;
        let limit = self.attend(&mut status, companion)?;
        let end = self.init.reap()?;
        let status = status.or_else(|| self.hear().status());
        let (user, system) = self.meter.times(&end);
        let verdict = self.verdict(limit, status, &end, user + system);
        let usage = Usage {
            time: self.started.elapsed(),
            user,
            system,
            memory_bytes: self.meter.peak_bytes(&end),
            output_bytes: self.streams.output_bytes,
        };
        let has_substitute = self.noted.contains(&Step::Substitute);
        let marks = if has_substitute { layer::Marks::Files } else { layer::Marks::Attributes };
        let mut reader = layer::Reader::new(self.limits.disk_bytes, marks);
        for (grant, upper) in &self.uppers {
            reader.read(*grant, upper);
        }
        let calls = self.services.take().map(Services::end).unwrap_or_default();
        Ok(Outcome { verdict, usage, lacks: std::mem::take(&mut self.lacks), changes: reader.changes, calls })
    }
}

fn verdict_of(status: i32) -> Verdict {
    let status = ExitStatus::from_raw(status);
    match status.code() {
        Some(code) => Verdict::Exited(code),
        None => Verdict::Signalled(status.signal().unwrap_or_default()),
    }
}
