//! The warden: the process that runs programs in sandboxes. It hears of each run from the keeper as one message with one
//! end of a socket, and gives it to a process, which reads the order there and talks with the keeper until the run has ended.
//!
//! - `workers`: those processes; `conversation`: what one of them says and hears
//!
//! It ends when the keeper has gone: all runs lose their sockets then, which stops them.

mod conversation;
mod workers;

pub use conversation::{Conversation, Ordered};

use crate::error::KeeperError;
use crate::inside::take_pair;
use crate::protocol::RunEnd;
use rustix::io::Errno;
use rustix::net::RecvFlags;
use std::io::{IoSlice, IoSliceMut};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;
use system::passing;
use workers::Workers;

/// What runs programs.
pub trait Warding: Send + Sync + 'static {
    /// Runs one to its end, in a process of its own.
    fn run(&self, ordered: Ordered<'_>, conversation: &Arc<Conversation>) -> RunEnd;

    /// Whether this process may serve another run. One in which something of the last is left may not, and ends.
    fn is_fit(&self) -> bool {
        true
    }

    /// Gives up what this process keeps ready for runs to come, and what those left who were killed.
    fn clear(&self) {}
}

/// How long runs may take to end when the keeper has gone.
const PARTING: Duration = Duration::from_secs(2);

/// Runs this process as the warden, with the connection to the keeper as its standard input.
/// Processes that have had nothing to run for as long as `keeping` end.
pub fn ward(warding: impl Warding, keeping: Duration) -> Result<(), KeeperError> {
    let pair = take_pair()?;
    crate::inside::catch_signals()?;
    let mut workers = Workers::new(warding, keeping);
    while workers.await_word(&pair).is_ok() {
        match next(&pair) {
            Ok(Some((socket, input))) => workers.give(socket, input),
            Ok(None) => {}
            Err(_) => break,
        }
    }
    workers.finish(PARTING);
    Ok(())
}

/// The next run: its socket, and what it reads if that is a descriptor. An error if the keeper has gone.
fn next(pair: impl AsFd) -> rustix::io::Result<Option<(OwnedFd, Option<OwnedFd>)>> {
    let received = passing::receive(pair, &mut [IoSliceMut::new(&mut [0])], 2, RecvFlags::empty())?;
    if received.bytes == 0 {
        return Err(Errno::PIPE);
    }
    let mut descriptors = received.descriptors.into_iter();
    Ok(descriptors.next().map(|socket| (socket, descriptors.next())))
}

/// Hands a run on, as `next` takes it.
pub(crate) fn hand(pair: impl AsFd, run: &OwnedFd, input: Option<&OwnedFd>) -> rustix::io::Result<()> {
    let both = [run.as_fd(), input.unwrap_or(run).as_fd()];
    let descriptors = if input.is_some() { &both[..] } else { &both[..1] };
    passing::send(pair, &[IoSlice::new(b"r")], descriptors).map(drop)
}

#[cfg(test)]
mod tests;
