//! A copy of this process that is sealed as any run is, and then goes on with code of ours in place of a program: the dreamer.
//! Whoever makes it is its *attendant*: a process of one thread, itself a copy of the image process (`system::clone::fork`).
//!
//! What the code inside must know of itself:
//! - It is the first process of its namespace. All in it ends with it; it ends with the attendant, or when that stops it.
//!   Signals from inside do not reach it unless it handles them; what breaks a limit or a rule of memory ends it.
//! - Orphans become its children: it has to `reap` now and then, and does all its waiting by that.
//! - It may ask for memory, make threads, and fork (`system::clone::fork`): that is what dreams inside dreams are made by.
//! - Its monotonic clock begins anew: an `Instant` from before is later than all that it will see.
//! - It has its streams and what it was handed. Other descriptors in the memory that it has are closed, and must neither be
//!   used nor dropped.

use super::ids::Ids;
use super::meter;
use super::plan::Base;
use super::seal;
use super::start::{self, GoingOn, Purpose};
use super::supervise::{Companion, Run};
use super::void::{self, Void};
use crate::backend::{Running, Stop, Streams};
use crate::error::SandboxError;
use crate::network::Network;
use crate::network::sockets::Sockets;
use crate::order::Order;
use crate::outcome::Outcome;
use rustix::io::Errno;
use rustix::process::WaitOptions;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::fs::MetadataExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use system::clone::PANICKED;

/// Makes what all dreams need, so that copies of this process have it. Nothing is wrong if nobody calls it.
pub fn get_ready() {
    super::cgroup::Layout::of_host().sweep_once();
    Base::of_dreams();
    seal::last_capability();
    Ids::of_run();
    Void::get_ready();
}

/// In an attendant, before it closes what it inherited: leaves the host's network, and lets live go first from here on, for itself and
/// for its dreamer. Nothing is wrong if nobody calls it: the dreamer gets a network of its own then.
pub fn seclude() {
    void::enter();
    let_live_go_first();
}

/// How much less of the processor a dream gets than live, as `nice` has it: about a tenth of live's share, if both want all.
const NICE: i32 = 10;
/// Longer than what others get at once: so live does not wait until a dream's piece is over when it wakes up.
const PIECE: Duration = Duration::from_millis(20);

/// Has the scheduler prefer live to the calling process and its copies. Most kernels give each session a share, and look at this
/// within it: so a dream stays in live's session, and leaves only the terminal.
fn let_live_go_first() {
    if system::scheduling::stand_back(NICE, PIECE).is_err() {
        let _ = rustix::process::setpriority_process(None, NICE);
    }
    // A new process has a turn to come, as if it had been waiting: who of live's waits on this processor is to have it.
    std::thread::yield_now();
    HAS_NO_TERMINAL.store(system::terminal::leave().is_ok(), Ordering::Relaxed);
}

/// This process has left its terminal, and so have its copies.
static HAS_NO_TERMINAL: AtomicBool = AtomicBool::new(false);

/// In a dreamer: becomes nobody that a terminal or a group of processes of the host controls.
pub fn detach() -> rustix::io::Result<()> {
    match HAS_NO_TERMINAL.load(Ordering::Relaxed) {
        true => rustix::process::setpgid(None, None),
        false => rustix::process::setsid().map(drop),
    }
}

/// Makes a sealed copy of this process, which has one thread, and has it run `body`, whose answer is its exit code. It has
/// `handed_on` by the same numbers, and no other descriptors. The order has no program and no network.
///
/// Nothing of `body` has run when this fails.
pub fn sealed(
    order: &Order,
    streams: Streams,
    handed_on: &[BorrowedFd<'_>],
    body: impl FnOnce() -> i32,
) -> Result<Box<Dreamer>, SandboxError> {
    sealed_meanwhile(order, streams, handed_on, body, || {})
}

/// The same, and does something here while the copy seals itself; that is not done if there is no copy.
pub fn sealed_meanwhile(
    order: &Order,
    streams: Streams,
    handed_on: &[BorrowedFd<'_>],
    body: impl FnOnce() -> i32,
    meanwhile: impl FnOnce(),
) -> Result<Box<Dreamer>, SandboxError> {
    check(order)?;
    let handed_on = numbers(handed_on)?;
    let mut body = Some(body);
    let mut go_on = || body.take().map_or(PANICKED, |body| body());
    let mut meanwhile = Some(meanwhile);
    let mut meanwhile = || meanwhile.take().into_iter().for_each(|meanwhile| meanwhile());
    let going_on = GoingOn { handed_on: &handed_on, body: &mut go_on, meanwhile: &mut meanwhile };
    let mut run = start::begin_with(order, streams, Purpose::Dream, going_on)?;
    run.meter.do_not_count(meter::own_bytes);
    // It has said all that it will.
    run.socket = None;
    Ok(Box::new(Dreamer(run)))
}

/// A sealed copy of this process, to whoever made it.
pub struct Dreamer(Run);

impl Dreamer {
    /// As `wait`, and lets somebody work beside, on the same thread.
    pub fn wait_with(self, companion: &mut dyn Companion) -> Result<Outcome, SandboxError> {
        self.0.wait_with(companion)
    }
}

impl Running for Dreamer {
    fn stop(&self) -> Stop {
        self.0.stop()
    }

    fn stop_when_readable(&mut self, lifeline: OwnedFd) {
        self.0.stop_when_readable(lifeline);
    }

    fn wait(self: Box<Self>) -> Result<Outcome, SandboxError> {
        self.wait_with(&mut ())
    }
}

/// Inside: takes leave of the children that have ended, orphans among them, and tells each with its status of `wait`.
pub fn reap(mut tell: impl FnMut(i32, i32)) {
    while let Ok(Some((pid, status))) = rustix::process::wait(WaitOptions::NOHANG) {
        tell(pid.as_raw_nonzero().get(), status.as_raw());
    }
}

fn check(order: &Order) -> Result<(), SandboxError> {
    let refuse = |action, errno: Errno| Err(SandboxError::system(action)(errno));
    if !order.program.is_empty() {
        return refuse("seal a copy of this process for a program; start that as a run", Errno::INVAL);
    }
    if order.network != Network::None || !matches!(order.sockets, Sockets::Alone) {
        return refuse(
            "give a sealed copy of this process a network; hand it a socket to who calls for it",
            Errno::INVAL,
        );
    }
    // Each thread is a link to the directory of threads, beside those that any directory has.
    const OF_ONE_THREAD: u64 = 3;
    let threads = std::fs::metadata("/proc/self/task").map_err(SandboxError::system("count own threads"))?;
    match threads.nlink() {
        OF_ONE_THREAD => Ok(()),
        _ => refuse("seal a copy of a process with several threads; fork it first", Errno::BUSY),
    }
}

/// In rising order. Standard ones are replaced, so that they cannot be handed on.
fn numbers(descriptors: &[BorrowedFd<'_>]) -> Result<Vec<RawFd>, SandboxError> {
    const FIRST: RawFd = 3;
    let mut numbers: Vec<RawFd> = descriptors.iter().map(AsRawFd::as_raw_fd).collect();
    numbers.sort_unstable();
    if numbers.first().is_some_and(|number| *number < FIRST) {
        return Err(SandboxError::system("hand on a standard descriptor; give it another number")(Errno::INVAL));
    }
    Ok(numbers)
}
