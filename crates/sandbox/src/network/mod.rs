//! Whom a run may call. Nobody, unless a host and a port were named; and then only through our own proxy.
//!
//! The wall is the run's own network namespace, which has a loopback and no way out. All here only hands out what was
//! granted: nothing that fails or is left out here opens a way.
//!
//! - `destination`: hosts and ports as they are granted and asked for
//! - `address`: which addresses are never reached, and what they are
//! - `outside`: the one way out: a name is resolved once, all its addresses checked, the connection made to one of them
//! - `proxy`: takes a run's connections; `http` and `socks` are what it speaks, `conversation` how it listens
//! - `relay`: carries bytes both ways; `body` says where a request ends
//! - `sockets`: what becomes of socket calls of programs that know no proxy
//! - `exchange`: what those who serve one run share; `call`: what is remembered of each attempt; `bounds`, `threads`: how
//!   much there can be of everything

pub mod address;
mod body;
pub mod bounds;
pub mod call;
mod conversation;
pub mod destination;
pub mod exchange;
mod http;
pub mod outside;
pub mod proxy;
pub mod relay;
pub mod sockets;
mod socks;
mod threads;

pub use destination::{Destination, DestinationError, Host};
pub use threads::threads_left;

/// Private, loopback, link-local and metadata addresses are never reached, whatever is allowed here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Network {
    /// Only itself: the loopback of its own network namespace.
    #[default]
    None,
    /// These, through the proxy.
    Allowed(Vec<Destination>),
}
