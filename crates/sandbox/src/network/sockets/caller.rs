//! Who makes a call: the process behind it, its socket, its memory, its rights, and where it looks for files.
//!
//! A caller is known by a number, which means another process of this host as soon as the caller is gone. So all that a call
//! needs is taken first, then it is asked whether the call still waits, and only then is anything done: a [`Request`] cannot
//! be had without that question, and has no number to take more by.

use super::peer::{ADDRESS_BYTES, Peer};
use super::unix;
use rustix::io::{Errno, Result};
use rustix::net::{SendFlags, SocketType, sockopt};
use std::fs;
use std::os::fd::OwnedFd;
use system::notify::{self, Notification};

/// Of one message; a longer one is cut where that is usual, and refused elsewhere.
const MESSAGE_BYTES: u64 = 256 << 10;
/// Connects and says something at once. Programs that ask for it do without where it is not to be had.
const FAST_OPEN: u32 = 0x2000_0000;

/// A call, with all that was the caller's.
pub struct Request {
    /// Who it was, to be told and for nothing else.
    pub thread: i32,
    /// With which it looks for files.
    pub rights: Rights,
    /// The socket that the call is about: the same one, not another like it.
    pub socket: OwnedFd,
    pub peer: Peer,
    /// Where the way to a socket that is a file begins.
    pub start: Option<OwnedFd>,
    pub act: Act,
}

pub enum Act {
    Connect,
    Send { message: Vec<u8>, flags: SendFlags },
}

#[derive(Clone, Copy)]
pub struct Rights {
    pub user: u32,
    pub group: u32,
}

impl Request {
    /// Takes all of a call, and asks then whether it still waits. If it does, all of it was the caller's; if not, it may have
    /// been anybody's, and nothing must be done with it.
    pub fn take(notification: &Notification, is_waiting: impl FnOnce() -> bool) -> Result<Request> {
        let request = Caller::of(notification)?.request(notification);
        if is_waiting() { request } else { Err(Errno::SRCH) }
    }
}

/// A thread by its number, which is only worth something while its call waits.
struct Caller {
    thread: i32,
    process: i32,
    rights: Rights,
}

impl Caller {
    fn of(notification: &Notification) -> Result<Caller> {
        let thread = notification.thread;
        let status = fs::read_to_string(format!("/proc/{thread}/status")).map_err(|_| Errno::SRCH)?;
        // The last of four is the one that counts for files.
        let number = |name: &str, place: usize| {
            let line = status.lines().find_map(|line| line.strip_prefix(name))?;
            line.split_whitespace().nth(place)?.parse::<u32>().ok()
        };
        let (process, user, group) = (number("Tgid:", 0), number("Uid:", 3), number("Gid:", 3));
        let (Some(process), Some(user), Some(group)) = (process, user, group) else { return Err(Errno::SRCH) };
        Ok(Caller { thread, process: process as i32, rights: Rights { user, group } })
    }

    fn request(&self, notification: &Notification) -> Result<Request> {
        let [number, place, length, flags, ..] = notification.arguments;
        let socket = self.socket(number)?;
        let (peer, act) = match notification.call {
            notify::CONNECT => (self.peer(place, length)?, Act::Connect),
            notify::SEND => {
                let peer = self.peer(notification.arguments[4], notification.arguments[5])?;
                (peer, self.sending(&socket, place, length, flags as u32)?)
            }
            _ => return Err(Errno::NOSYS),
        };
        let start = match &peer {
            Peer::Path(path) => Some(unix::start(self.thread, path)?),
            _ => None,
        };
        Ok(Request { thread: self.thread, rights: self.rights, socket, peer, start, act })
    }

    fn socket(&self, argument: u64) -> Result<OwnedFd> {
        let number = i32::try_from(argument as u32).map_err(|_| Errno::BADF)?;
        let socket = notify::descriptor_of(self.process, number)?;
        sockopt::socket_domain(&socket)?;
        Ok(socket)
    }

    fn peer(&self, address: u64, length: u64) -> Result<Peer> {
        let length = length as u32 as usize;
        if length > ADDRESS_BYTES {
            return Err(Errno::INVAL);
        }
        Peer::read(&self.bytes(address, length)?)
    }

    fn sending(&self, socket: &OwnedFd, place: u64, length: u64, flags: u32) -> Result<Act> {
        if flags & FAST_OPEN != 0 {
            return Err(Errno::OPNOTSUPP);
        }
        if length > MESSAGE_BYTES && sockopt::socket_type(socket)? != SocketType::STREAM {
            return Err(Errno::MSGSIZE);
        }
        let message = self.bytes(place, length.min(MESSAGE_BYTES) as usize)?;
        Ok(Act::Send { message, flags: SendFlags::from_bits_truncate(flags) })
    }

    /// So many bytes of its memory; the caller of this sees to it that they are not too many.
    fn bytes(&self, address: u64, length: usize) -> Result<Vec<u8>> {
        let mut bytes = vec![0; length];
        notify::read_memory(self.thread, address, &mut bytes)?;
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests;
