//! Messages that name whom they are for. Inside the run they are sent on its own socket; to the outside none goes.

use super::caller::Caller;
use super::connect::is_own;
use super::peer::Peer;
use super::switchboard::Shared;
use super::unix;
use rustix::io::{Errno, Result};
use rustix::net::{SendFlags, SocketAddrUnix, SocketType, sendto, sockopt};
use std::os::fd::OwnedFd;
use system::notify::Notification;

/// Of one message; a longer one is cut where that is usual, and refused elsewhere.
const MESSAGE_BYTES: u64 = 256 << 10;
/// Connects and says something at once. Programs that ask for it do without where it is not to be had.
const FAST_OPEN: u32 = 0x2000_0000;
/// What a run may say about how a message is sent.
const FLAGS: SendFlags = SendFlags::DONTWAIT.union(SendFlags::EOR).union(SendFlags::MORE).union(SendFlags::OOB);

impl Shared {
    /// How many bytes were sent.
    pub fn send(&self, notification: &Notification, caller: &Caller, socket: &OwnedFd, peer: &Peer) -> Result<usize> {
        let [_, place, length, flags, ..] = notification.arguments;
        let is_stream = sockopt::socket_type(socket)? == SocketType::STREAM;
        if flags as u32 & FAST_OPEN != 0 {
            return Err(Errno::OPNOTSUPP);
        }
        if length > MESSAGE_BYTES && !is_stream {
            return Err(Errno::MSGSIZE);
        }
        let message = caller.bytes(place, length.min(MESSAGE_BYTES) as usize)?;
        self.confirm(notification)?;
        // A signal that says that nobody reads would reach us, not the run.
        let flags = (SendFlags::from_bits_truncate(flags as u32) & FLAGS) | SendFlags::NOSIGNAL;
        match peer {
            // Whoever is connected is heard by the one it is connected to, whatever else it says.
            _ if is_stream => rustix::net::send(socket, &message, flags),
            Peer::Inet(address) if is_own(address.ip()) => sendto(socket, &message, flags, address),
            Peer::Inet(address) => Err(self.refuse_message(caller, *address)),
            Peer::Path(path) => unix::with_address(caller, path, |address| sendto(socket, &message, flags, address)),
            Peer::Abstract(name) => sendto(socket, &message, flags, &SocketAddrUnix::new_abstract_name(name)?),
            Peer::Nobody => Err(Errno::AFNOSUPPORT),
        }
    }
}
