//! Whom a run may call. Nobody, unless a host and a port were named; and then only through our own proxy.

/// Private, loopback, link-local and metadata addresses are never reached, whatever is allowed here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Network {
    /// Only itself: the loopback of its own network namespace.
    #[default]
    None,
    /// These, through the proxy.
    Allowed(Vec<Destination>),
}

/// A host by name or address, exactly or all below a domain (`*.example.org`), and a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Destination {
    pub host: String,
    pub port: u16,
}
