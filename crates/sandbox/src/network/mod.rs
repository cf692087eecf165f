//! Whom a run may call. Nobody, unless a host and a port were named; and then only through our own proxy.
//!
//! The wall is the run's own network namespace, which has a loopback and no way out. All here only hands out what was
//! granted: nothing that fails or is left out here opens a way.
//!
//! - `destination`: hosts and ports as they are granted and asked for
//! - `address`: which addresses are never reached, and what they are

pub mod address;
pub mod destination;

pub use destination::{Destination, DestinationError, Host};

/// Private, loopback, link-local and metadata addresses are never reached, whatever is allowed here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Network {
    /// Only itself: the loopback of its own network namespace.
    #[default]
    None,
    /// These, through the proxy.
    Allowed(Vec<Destination>),
}
