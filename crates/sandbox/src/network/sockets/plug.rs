//! Where the run's sockets end in its own network: each is connected to a listener of ours there, and what comes out at
//! our side is the other end of just that one.

use crate::network::address::unmapped;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, Result};
use rustix::net::{AddressFamily, sockopt};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::sync::{Mutex, PoisonError};

/// A connection within one network is there at once, or something is wrong.
const TIMEOUT: Timespec = Timespec { tv_sec: 5, tv_nsec: 0 };

pub struct Plug {
    listener: Mutex<TcpListener>,
    address: SocketAddr,
    /// Which network that is.
    network: u64,
}

/// The other end of a run's socket, and what its call is answered.
pub struct Joined {
    pub stream: TcpStream,
    pub answer: Result<i64>,
}

impl Plug {
    pub fn new(listener: TcpListener) -> std::io::Result<Plug> {
        listener.set_nonblocking(true)?;
        let (address, network) = (listener.local_addr()?, system::notify::network_of(&listener)?);
        Ok(Plug { listener: Mutex::new(listener), address, network })
    }

    /// Whether a socket is of the run's own network. One that is not was handed to the run by somebody else, and in our
    /// hands could do what the run cannot.
    pub fn is_of_same_network(&self, socket: &OwnedFd) -> bool {
        system::notify::network_of(socket) == Ok(self.network)
    }

    /// Whether somebody means the plug itself, which is for us alone.
    pub fn is_at(&self, address: SocketAddr) -> bool {
        address.port() == self.address.port()
    }

    /// Connects a socket of the run, and takes the other end. One at a time, so that ends are not mixed up.
    pub fn join(&self, socket: &OwnedFd) -> Result<Joined> {
        let listener = self.listener.lock().unwrap_or_else(PoisonError::into_inner);
        let answer = rustix::net::connect(socket, &self.address_for(socket)?);
        let answer = match answer {
            // It does not wait, and need not for long.
            Ok(()) | Err(Errno::INPROGRESS) => answer.map(|()| 0),
            Err(errno) => return Err(errno),
        };
        let local = SocketAddr::try_from(rustix::net::getsockname(socket)?)?;
        loop {
            let mut waited = [PollFd::new(&*listener, PollFlags::IN)];
            if poll(&mut waited, Some(&TIMEOUT))? == 0 {
                return Err(Errno::TIMEDOUT);
            }
            // Anybody else who found the way here is sent away.
            match listener.accept() {
                Ok((stream, peer)) if is_same(peer, local) => return Ok(Joined { stream, answer }),
                Ok(_) => {}
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(Errno::from_io_error(&error).unwrap_or(Errno::IO)),
            }
        }
    }

    /// As a socket of its family can be told.
    fn address_for(&self, socket: &OwnedFd) -> Result<SocketAddr> {
        let domain = sockopt::socket_domain(socket)?;
        Ok(match self.address.ip() {
            IpAddr::V4(address) if domain == AddressFamily::INET6 => {
                SocketAddr::new(address.to_ipv6_mapped().into(), self.address.port())
            }
            _ => self.address,
        })
    }
}

fn is_same(one: SocketAddr, other: SocketAddr) -> bool {
    one.port() == other.port() && unmapped(one.ip()) == unmapped(other.ip())
}
