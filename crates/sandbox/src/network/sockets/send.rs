//! Messages that name whom they are for. Inside the run they are sent on its own socket; to the outside none goes.

use super::caller::Request;
use super::connect::is_own;
use super::peer::Peer;
use super::switchboard::Shared;
use super::unix;
use rustix::fs::{OFlags, fcntl_getfl};
use rustix::io::{Errno, Result};
use rustix::net::{SendFlags, SocketAddrUnix, SocketType, sendto, sockopt};
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

/// What a run may say about how a message is sent.
const FLAGS: SendFlags = SendFlags::DONTWAIT.union(SendFlags::EOR).union(SendFlags::MORE).union(SendFlags::OOB);
/// How long it takes until a message that found no room is sent again: first so long, and at last so long.
const PAUSES: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(50));

impl Shared {
    /// How many bytes were sent.
    pub fn send(&self, id: u64, request: &Request, message: &[u8], flags: SendFlags) -> Result<usize> {
        let socket = &request.socket;
        // A signal that says that nobody reads would reach us, not the run.
        let flags = (flags & FLAGS) | SendFlags::NOSIGNAL;
        let patience = Patience::of(socket, flags)?;
        let to = |address: &SocketAddrUnix| {
            self.deliver(id, &patience, || sendto(socket, message, flags | SendFlags::DONTWAIT, address))
        };
        match &request.peer {
            // Whoever is connected is heard by the one it is connected to, whatever else it says.
            _ if sockopt::socket_type(socket)? == SocketType::STREAM => rustix::net::send(socket, message, flags),
            Peer::Inet(address) if is_own(address.ip()) => sendto(socket, message, flags, address),
            Peer::Inet(address) => Err(self.refuse_message(request.thread, *address)),
            Peer::Path(path) => unix::with_address(request, path, to),
            Peer::Abstract(name) => to(&SocketAddrUnix::new_abstract_name(name)?),
            Peer::Nobody => Err(Errno::AFNOSUPPORT),
        }
    }

    /// Sends until there is room. Whoever waited for that in the kernel could not be woken: not by shutting the socket, which
    /// waits for room in another's queue, and that other may be kept alive by what lies in the queue of this one. No descriptor
    /// says when there is room either, so that it is tried again and again.
    fn deliver(&self, id: u64, patience: &Patience, send: impl Fn() -> Result<usize>) -> Result<usize> {
        let (mut pause, longest) = PAUSES;
        loop {
            match send() {
                Err(Errno::AGAIN) if !patience.is_over() => {}
                answer => return answer,
            }
            if self.threads.pause(pause) || !self.is_waiting(id) {
                return Err(Errno::INTR);
            }
            pause = longest.min(pause * 2);
        }
    }
}

/// How long a caller waits for room, as the kernel would have it wait.
struct Patience {
    until: Option<Instant>,
    waits: bool,
}

impl Patience {
    fn of(socket: &OwnedFd, flags: SendFlags) -> Result<Patience> {
        let waits = !flags.contains(SendFlags::DONTWAIT) && !fcntl_getfl(socket)?.contains(OFlags::NONBLOCK);
        let most = sockopt::socket_timeout(socket, sockopt::Timeout::Send)?;
        // What is too long to be counted is for ever.
        Ok(Patience { until: most.and_then(|most| Instant::now().checked_add(most)), waits })
    }

    fn is_over(&self) -> bool {
        !self.waits || self.until.is_some_and(|until| Instant::now() >= until)
    }
}
