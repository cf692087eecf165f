//! Who makes a call: the process behind it, its socket, its memory and its rights. All of it is only worth anything while
//! the call still waits, which is asked for after everything was read.

use super::peer::{ADDRESS_BYTES, Peer};
use rustix::io::{Errno, Result};
use std::fs;
use std::os::fd::OwnedFd;
use system::notify::{self, Notification};

/// A thread of the run that waits for an answer.
pub struct Caller {
    pub thread: i32,
    process: i32,
    /// With which it looks for files.
    pub user: u32,
    pub group: u32,
}

impl Caller {
    pub fn of(notification: &Notification) -> Result<Caller> {
        let thread = notification.thread;
        let status = fs::read_to_string(format!("/proc/{thread}/status")).map_err(|_| Errno::SRCH)?;
        // The last of four is the one that counts for files.
        let number = |name: &str, place: usize| {
            let line = status.lines().find_map(|line| line.strip_prefix(name))?;
            line.split_whitespace().nth(place)?.parse::<u32>().ok()
        };
        let (process, user, group) = (number("Tgid:", 0), number("Uid:", 3), number("Gid:", 3));
        let (Some(process), Some(user), Some(group)) = (process, user, group) else { return Err(Errno::SRCH) };
        Ok(Caller { thread, process: process as i32, user, group })
    }

    /// The socket that the call is about: the same one, not another like it.
    pub fn socket(&self, argument: u64) -> Result<OwnedFd> {
        let number = i32::try_from(argument as u32).map_err(|_| Errno::BADF)?;
        let socket = notify::descriptor_of(self.process, number)?;
        rustix::net::sockopt::socket_domain(&socket)?;
        Ok(socket)
    }

    pub fn peer(&self, address: u64, length: u64) -> Result<Peer> {
        let length = length as u32 as usize;
        if length > ADDRESS_BYTES {
            return Err(Errno::INVAL);
        }
        Peer::read(&self.bytes(address, length)?)
    }

    /// So many bytes of its memory; the caller of this sees to it that they are not too many.
    pub fn bytes(&self, address: u64, length: usize) -> Result<Vec<u8>> {
        let mut bytes = vec![0; length];
        notify::read_memory(self.thread, address, &mut bytes)?;
        Ok(bytes)
    }
}
