//! The one outside: starts the first process inside, moves streams, watches limits, and is back when all of the run is gone.

use super::change;
use super::ids::Ids;
use super::inside::{self, Handed};
use super::plan::Plan;
use super::report::{self, Failure, LENGTH, Message, Step};
use super::source::{MOST_LAYERS, Origin};
use super::stream::{self, Kept};
use crate::backend::{Running, Stop, Streams};
use crate::error::SandboxError;
use crate::limits::Limits;
use crate::order::Order;
use crate::outcome::{Limit, Outcome, Usage, Verdict};
use crate::wall::Lack;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendFlags, SocketFlags, SocketType, recvmsg,
    socketpair,
};
use rustix::process::{Signal, pidfd_send_signal};
use std::io::{self, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use system::clone::{self, Child, End, namespace};

/// All but those that the process inside makes itself, once it is where they are to begin.
const NAMESPACES: u64 =
    namespace::USER | namespace::MOUNT | namespace::PID | namespace::NETWORK | namespace::IPC | namespace::UTS;

/// A run that was started. Dropping it kills all of it.
pub struct Run {
    init: Init,
    socket: OwnedFd,
    streams: Kept,
    limits: Limits,
    started: Instant,
    lacks: Vec<Lack>,
    /// What layered grants are written to, each with its place in the order.
    uppers: Vec<(usize, OwnedFd)>,
    is_stopped: Arc<AtomicBool>,
    /// Says that it is to be stopped.
    lifeline: Option<OwnedFd>,
}

/// The first process inside. All of the run dies with it.
struct Init {
    pid: i32,
    pidfd: Arc<OwnedFd>,
    is_gone: bool,
}

impl Init {
    fn kill(&self) {
        // It may have ended by itself.
        let _ = pidfd_send_signal(&*self.pidfd, Signal::KILL);
    }

    fn reap(&mut self) -> Result<End, SandboxError> {
        let end = clone::wait(self.pid, true).map_err(SandboxError::system("wait for the end of the sandbox"))?;
        self.is_gone = true;
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
    pub fn start(order: &Order, streams: Streams) -> Result<Run, SandboxError> {
        let started = Instant::now();
        let ids = Ids::of_run();
        let plan = Plan::new(order, ids)?;
        let (given, kept) = stream::make(streams, order.limits.output_bytes)?;
        let (socket, inner) = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)
            .map_err(SandboxError::system("make a socket; the limit of open files may be too low"))?;
        let left_open = left_open(&plan, &inner);
        let handed = Handed { plan: &plan, socket: inner.as_fd(), kept: &left_open, streams: given.all() };
        let Child { pid, pidfd } = clone::clone(NAMESPACES, || inside::live(&handed)).map_err(refused)?;
        let init = Init { pid, pidfd: Arc::new(pidfd), is_gone: false };
        drop((given, inner));
        ids.map(pid)?;
        // If it is gone, its last message says why.
        let _ = rustix::net::send(&socket, b"g", SendFlags::NOSIGNAL);
        let (failed, uppers) = await_start(&socket, order)?;
        let layered = plan.grants.iter().filter(|(_, granted)| granted.layer.is_some()).map(|(index, _)| *index);
        Ok(Run {
            init,
            socket,
            streams: kept,
            limits: order.limits.clone(),
            started,
            lacks: report::steps(failed).filter_map(|step| lack(step, None)).collect(),
            uppers: layered.zip(uppers).collect(),
            is_stopped: Arc::new(AtomicBool::new(false)),
            lifeline: None,
        })
    }

    /// Moves streams until the first process inside has ended. `Some` if it was ended for a limit.
    fn attend(&mut self, status: &mut Option<i32>) -> Result<Option<Limit>, SandboxError> {
        let mut limit = None;
        loop {
            let left = self.left();
            if limit.is_none() && left == Some(Duration::ZERO) {
                limit = Some(Limit::Time);
                self.init.kill();
            }
            let timeout = if limit.is_some() { None } else { left };
            if self.sleep(timeout, status.is_none())? {
                self.streams.pump();
                return Ok(limit);
            }
            if !self.streams.pump() && limit.is_none() {
                limit = Some(Limit::Output);
                self.init.kill();
            }
            self.heed_lifeline();
            if status.is_none() {
                *status = self.hear();
            }
        }
    }

    /// Until something happens; whether that is the end.
    fn sleep(&self, timeout: Option<Duration>, listens: bool) -> Result<bool, SandboxError> {
        let timeout =
            timeout.map(|left| Timespec { tv_sec: left.as_secs() as i64, tv_nsec: left.subsec_nanos().into() });
        let mut waited = vec![PollFd::new(&*self.init.pidfd, PollFlags::IN)];
        if listens {
            waited.push(PollFd::new(&self.socket, PollFlags::IN));
        }
        waited.extend(self.lifeline.iter().map(|lifeline| PollFd::new(lifeline, PollFlags::IN)));
        self.streams.watch(&mut waited);
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

    fn left(&self) -> Option<Duration> {
        self.limits.time.map(|time| time.saturating_sub(self.started.elapsed()))
    }

    /// How the program ended, if the process inside has said so.
    fn hear(&self) -> Option<i32> {
        let mut bytes = [0u8; LENGTH];
        let (count, _) = rustix::net::recv(&self.socket, &mut bytes, RecvFlags::DONTWAIT).ok()?;
        match Message::decode(bytes.get(..count)?) {
            Some(Message::Ended { status }) => Some(status),
            _ => None,
        }
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

    fn wait(mut self: Box<Self>) -> Result<Outcome, SandboxError> {
        let mut status = None;
        let limit = self.attend(&mut status)?;
        let end = self.init.reap()?;
        let status = status.or_else(|| self.hear());
        let is_stopped = self.is_stopped.load(Ordering::Acquire);
        let verdict = match (limit, status) {
            (Some(limit), _) => Verdict::Limited(limit),
            (None, Some(status)) => verdict_of(status),
            (None, None) if is_stopped => Verdict::Stopped,
            (None, None) => verdict_of(end.status),
        };
        let usage = Usage {
            time: self.started.elapsed(),
            user: end.user,
            system: end.system,
            memory_bytes: end.memory_bytes,
            output_bytes: self.streams.output_bytes,
        };
        let mut reader = change::Reader::new(self.limits.disk_bytes);
        for (grant, upper) in &self.uppers {
            reader.read(*grant, upper);
        }
        Ok(Outcome { verdict, usage, lacks: std::mem::take(&mut self.lacks), changes: reader.changes })
    }
}

fn verdict_of(status: i32) -> Verdict {
    let status = ExitStatus::from_raw(status);
    match status.code() {
        Some(code) => Verdict::Exited(code),
        None => Verdict::Signalled(status.signal().unwrap_or_default()),
    }
}

/// What the process inside does not close, in rising order.
fn left_open(plan: &Plan<'_>, socket: &OwnedFd) -> Vec<RawFd> {
    let mounts = plan.grants.iter().filter_map(|(_, granted)| match &granted.from {
        Origin::Mount(mount) => Some(mount.as_raw_fd()),
        Origin::Path(_) => None,
    });
    let mut kept: Vec<RawFd> = mounts.chain([socket.as_raw_fd()]).collect();
    kept.sort_unstable();
    kept
}

/// Waits until the program runs; which steps failed that may, and the layers that it writes to.
fn await_start(socket: &OwnedFd, order: &Order) -> Result<(u32, Vec<OwnedFd>), SandboxError> {
    let mut bytes = [0u8; LENGTH];
    let mut room = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_LAYERS))];
    let mut control = RecvAncillaryBuffer::new(&mut room);
    let received = recvmsg(socket, &mut [IoSliceMut::new(&mut bytes)], &mut control, RecvFlags::CMSG_CLOEXEC)
        .map_err(SandboxError::system("hear from the sandbox"))?;
    let uppers = control
        .drain()
        .flat_map(|message| match message {
            RecvAncillaryMessage::ScmRights(descriptors) => descriptors.collect(),
            _ => Vec::new(),
        })
        .collect();
    let count = received.bytes;
    match Message::decode(bytes.get(..count).unwrap_or_default()) {
        Some(Message::Started { failed }) => Ok((failed, uppers)),
        Some(Message::Failed(failure)) => Err(error_of(failure, order)),
        _ => Err(SandboxError::System {
            action: "start the sandbox: its first process ended before it said why; try again",
            source: Errno::CHILD.into(),
        }),
    }
}

fn error_of(failure: Failure, order: &Order) -> SandboxError {
    let program = || order.program.first().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    match (failure.step, failure.errno) {
        (Step::Execute, Errno::NOENT | Errno::NOTDIR) => SandboxError::NoProgram { program: program() },
        (Step::Grant | Step::Layer, errno) if step_is_of_grant(failure, errno) => SandboxError::Grant {
            path: order.view.grants.get(usize::from(failure.item)).map(|grant| grant.host.clone()).unwrap_or_default(),
            why: grant_trouble(errno),
        },
        (Step::File, errno) => SandboxError::Grant {
            path: order.view.files.get(usize::from(failure.item)).map(|file| file.inside.clone()).unwrap_or_default(),
            why: grant_trouble(errno),
        },
        (Step::Directory, errno) => SandboxError::Grant {
            path: order.directory.clone(),
            why: format!("it cannot start there: {}", std::io::Error::from(errno)),
        },
        (step, errno) => match lack(step, Some(errno)) {
            Some(lack) => SandboxError::TooWeak(vec![lack]),
            None => SandboxError::System { action: step.action(), source: errno.into() },
        },
    }
}

/// Where the kernel knows no overlay that a user may mount it is a wall that is missing; all else is about the grant.
fn step_is_of_grant(failure: Failure, errno: Errno) -> bool {
    failure.step == Step::Grant || !matches!(errno, Errno::NODEV | Errno::PERM | Errno::OPNOTSUPP)
}

fn grant_trouble(errno: Errno) -> String {
    match errno {
        Errno::ROFS => "its place inside lies in a directory that is read-only there".into(),
        Errno::EXIST => "there is something else at its place inside".into(),
        Errno::NOENT | Errno::NOTDIR => "its place inside cannot be made: something else is there on the way".into(),
        Errno::NOSPC => "it does not fit into what may be written; give more disk".into(),
        Errno::INVAL => "another file system is mounted below it; grant that one by itself".into(),
        errno => io::Error::from(errno).to_string(),
    }
}

fn lack(step: Step, errno: Option<Errno>) -> Option<Lack> {
    let why = errno.map_or_else(|| "it failed".into(), |errno| std::io::Error::from(errno).to_string());
    Some(Lack { wall: step.wall()?, why: format!("cannot {}: {why}", step.action()), remedy: String::new() })
}

/// Why there is no first process.
fn refused(errno: Errno) -> SandboxError {
    SandboxError::system("make namespaces for the sandbox")(errno)
}
