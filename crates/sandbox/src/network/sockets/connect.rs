//! Connections: inside the run they are made on its own socket; to the outside they are refused, redirected or replayed.

use super::caller::Request;
use super::peer::Peer;
use super::plug::Joined;
use super::recording::{Turn, play};
use super::switchboard::{Decision, Policy, Shared};
use super::unix;
use crate::network::address::unmapped;
use crate::network::body::Passing;
use crate::network::call::{Call, Fate, Via};
use crate::network::destination::Host;
use crate::network::outside::{Reached, Refusal};
use crate::network::relay::{Direction, Relay};
use crate::network::threads::Place;
use rustix::io::{Errno, Result};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketType, connect_unspec, getpeername, sockopt};
use std::io;
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::os::fd::OwnedFd;

/// A run's socket that has somebody at its other end.
pub struct Connected {
    pub joined: Joined,
    asked: Asked,
    other: Other,
}

/// Whom a call asked for.
struct Asked {
    via: Via,
    host: Host,
    port: u16,
}

/// Who talks to the run.
enum Other {
    Outside(Reached),
    Recorded(Vec<Turn>),
}

impl Shared {
    pub fn connect(&self, request: &Request) -> Result<Decision> {
        let socket = &request.socket;
        let domain = sockopt::socket_domain(socket)?;
        let done = |result: Result<()>| result.map(|()| Decision::Returned(0));
        match &request.peer {
            Peer::Nobody => done(connect_unspec(socket)),
            Peer::Path(path) if domain == AddressFamily::UNIX => {
                done(unix::with_address(request, path, |address| rustix::net::connect(socket, address)))
            }
            Peer::Abstract(name) if domain == AddressFamily::UNIX => {
                done(rustix::net::connect(socket, &SocketAddrUnix::new_abstract_name(name)?))
            }
            Peer::Inet(address) if fits(domain, address.ip()) => self.connect_inet(request.thread, socket, *address),
            _ => Err(Errno::AFNOSUPPORT),
        }
    }

    fn connect_inet(&self, thread: i32, socket: &OwnedFd, address: SocketAddr) -> Result<Decision> {
        let is_stream = sockopt::socket_type(socket)? == SocketType::STREAM;
        if is_own(address.ip()) {
            if is_stream && self.plug.is_at(address) {
                return Err(Errno::CONNREFUSED);
            }
            return rustix::net::connect(socket, &address).map(|()| Decision::Returned(0));
        }
        let asked = self.asked(thread, address);
        if !is_stream {
            return Err(self.refuse(&asked, Errno::NETUNREACH, "only connections can be made to the outside"));
        }
        if getpeername(socket).is_ok_and(|peer| peer.is_some()) {
            return Err(Errno::ISCONN);
        }
        let other = self.find(&asked)?;
        let joined = self.plug.join(socket).map_err(|errno| self.refuse(&asked, errno, io::Error::from(errno)))?;
        Ok(Decision::Connected(Connected { joined, asked, other }))
    }

    fn asked(&self, thread: i32, address: SocketAddr) -> Asked {
        let via = Via::Socket { thread };
        Asked { via, host: Host::Address(unmapped(address.ip())), port: address.port() }
    }

    /// Remembers that a call was refused for that, and says with which error.
    fn refuse(&self, asked: &Asked, errno: Errno, why: impl ToString) -> Errno {
        self.exchange.calls.add(Call::refused(asked.via, &asked.to_string(), why));
        errno
    }

    pub fn refuse_message(&self, thread: i32, address: SocketAddr) -> Errno {
        let asked = self.asked(thread, address);
        self.refuse(&asked, Errno::NETUNREACH, "only connections can be made to the outside")
    }

    fn find(&self, asked: &Asked) -> Result<Other> {
        match &self.policy {
            Policy::Blocked => Err(self.refuse(asked, Errno::ACCESS, "socket calls to the outside are blocked")),
            Policy::Redirected(_) => {
                let reached = self.exchange.outside.reach(&asked.host, asked.port);
                reached.map(Other::Outside).map_err(|refusal| self.refuse(asked, errno_of(&refusal), refusal))
            }
            Policy::Recorded(player) => {
                let turns = player.next(&asked.host, asked.port);
                turns
                    .map(Other::Recorded)
                    .ok_or_else(|| self.refuse(asked, Errno::CONNREFUSED, "nothing more was recorded"))
            }
        }
    }

    /// Talks to the run until one of both has ended.
    pub fn carry(&self, connected: Connected, place: &Place) {
        let Connected { joined, asked, other } = connected;
        // Without a descriptor left for that, it ends with its thread.
        let held = place.hold(&joined.stream).is_ok();
        self.exchange.calls.add(match other {
            Other::Outside(reached) if held => self.carry_outside(&asked, &joined.stream, &reached, place),
            Other::Recorded(turns) if held => self.replay(&asked, &joined.stream, &turns),
            _ => Call::refused(asked.via, &asked.to_string(), "there is no descriptor left for it"),
        });
    }

    fn carry_outside(&self, asked: &Asked, inside: &TcpStream, reached: &Reached, place: &Place) -> Call {
        let mut call = Call::new(asked.via, &asked.to_string(), Fate::Reached { address: reached.address });
        let Policy::Redirected(recorder) = &self.policy else { return call };
        if place.hold(&reached.stream).is_err() {
            return call;
        }
        let kept = recorder.as_ref().map(|recorder| (recorder, recorder.begin(&asked.host, asked.port)));
        let relay = Relay {
            inside,
            outside: &reached.stream,
            passing: Passing::Everything,
            budget: &self.exchange.budget,
            idle: self.exchange.bounds.idle,
            observe: &mut |direction, bytes| {
                if let Some((recorder, conversation)) = kept {
                    recorder.keep(conversation, direction, bytes);
                }
            },
        };
        let (traffic, _) = relay.carry(&[]);
        (call.sent_bytes, call.received_bytes) = (traffic.sent_bytes, traffic.received_bytes);
        call
    }

    fn replay(&self, asked: &Asked, inside: &TcpStream, turns: &[Turn]) -> Call {
        let set = inside.set_read_timeout(Some(self.exchange.bounds.idle));
        let played = set
            .and_then(|()| inside.set_write_timeout(Some(self.exchange.bounds.idle)))
            .and_then(|()| play(turns, inside));
        let fate = match played {
            Ok(()) => Fate::Replayed,
            Err(error) => Fate::Refused { why: format!("the recording was not played to its end: {error}") },
        };
        let mut call = Call::new(asked.via, &asked.to_string(), fate);
        for turn in turns {
            let bytes = match turn.direction {
                Direction::Sent => &mut call.sent_bytes,
                Direction::Received => &mut call.received_bytes,
            };
            *bytes += turn.bytes.len() as u64;
        }
        call
    }
}

impl std::fmt::Display for Asked {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}:{}", self.host, self.port)
    }
}

fn fits(domain: AddressFamily, address: IpAddr) -> bool {
    match address {
        IpAddr::V4(_) => domain == AddressFamily::INET,
        IpAddr::V6(_) => domain == AddressFamily::INET6,
    }
}

/// Whether an address means the run itself.
pub fn is_own(address: IpAddr) -> bool {
    let address = unmapped(address);
    address.is_loopback() || address.is_unspecified()
}

/// What a call is told where the proxy would have said it in words.
fn errno_of(refusal: &Refusal) -> Errno {
    match refusal {
        Refusal::NotAllowed { .. } | Refusal::Special { .. } => Errno::ACCESS,
        Refusal::Unresolved { .. } => Errno::HOSTUNREACH,
        Refusal::Unreachable { source, .. } => match (Errno::from_io_error(source), source.kind()) {
            (Some(errno), _) => errno,
            (None, io::ErrorKind::TimedOut) => Errno::TIMEDOUT,
            (None, _) => Errno::CONNREFUSED,
        },
    }
}
