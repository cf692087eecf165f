//! Hosts and ports, as they are granted and as a run asks for them. Only what was read strictly becomes one: text that
//! two readers could take for two hosts is none.

use super::address::{Special, special};
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

const NAME_BYTES: usize = 253;
const LABEL_BYTES: usize = 63;

/// A host by name or address, exactly or all below a domain (`*.example.org`), and a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Destination {
    pattern: Pattern,
    port: u16,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Pattern {
    Exactly(Host),
    /// Every name that ends with a dot and this.
    Below(String),
}

/// One host: a name in lower case without a dot at its end, or an address.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Host {
    Name(String),
    Address(IpAddr),
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DestinationError {
    #[error("{0:?} names no port; write HOST:PORT, such as example.org:443")]
    NoPort(String),
    #[error("{0:?} is no port; give a number from 1 to 65535")]
    BadPort(String),
    #[error("{0:?} is no host; write a name, an IPv4 address, or an IPv6 address in brackets")]
    BadHost(String),
    #[error("{0:?} is no name that everybody reads alike; write it in ASCII, names in other scripts as xn--…")]
    NotAscii(String),
    #[error("{0:?} could be read as a number; write an IPv4 address as four decimal numbers")]
    Numeric(String),
    #[error("{0:?} is an IPv6 address without brackets; write [{0}]:PORT")]
    Unbracketed(String),
    #[error("{0:?} is too wide; a star stands for all below a domain of two labels or more, such as *.example.org")]
    TooWide(String),
    #[error("{0} is {1} and never reached from a sandbox")]
    Special(Host, Special),
    #[error("{0:?} means this machine, which is never reached from a sandbox")]
    Local(String),
}

impl Destination {
    /// Whether this grants what was asked for. An address is only granted as an address.
    pub fn grants(&self, host: &Host, port: u16) -> bool {
        let is_host = match (&self.pattern, host) {
            (Pattern::Exactly(granted), asked) => granted == asked,
            (Pattern::Below(domain), Host::Name(name)) => {
                name.strip_suffix(domain.as_str()).is_some_and(|rest| rest.len() > 1 && rest.ends_with('.'))
            }
            (Pattern::Below(_), Host::Address(_)) => false,
        };
        is_host && self.port == port
    }

    /// Reads one that may also be of this machine or its own networks. Only for who decides about those by itself.
    pub fn of_anywhere(text: &str) -> Result<Destination, DestinationError> {
        Destination::read(text, Ok)
    }

    /// The address, if it is one and no name.
    pub fn address(&self) -> Option<IpAddr> {
        match self.pattern {
            Pattern::Exactly(Host::Address(address)) => Some(address),
            Pattern::Exactly(Host::Name(_)) | Pattern::Below(_) => None,
        }
    }

    fn read(text: &str, checked: fn(Host) -> Result<Host, DestinationError>) -> Result<Destination, DestinationError> {
        let (host, port) = split_port(text)?;
        let Some(domain) = host.strip_prefix("*.") else {
            return Ok(Destination { pattern: Pattern::Exactly(checked(host.parse()?)?), port });
        };
        match checked(domain.parse()?)? {
            Host::Name(name) if name.contains('.') => Ok(Destination { pattern: Pattern::Below(name), port }),
            _ => Err(DestinationError::TooWide(text.into())),
        }
    }
}

impl FromStr for Destination {
    type Err = DestinationError;

    fn from_str(text: &str) -> Result<Destination, DestinationError> {
        Destination::read(text, reachable)
    }
}

/// A grant that nothing could ever use is a mistake, and told at once.
fn reachable(host: Host) -> Result<Host, DestinationError> {
    match &host {
        Host::Address(address) => match special(*address) {
            Some(what) => Err(DestinationError::Special(host, what)),
            None => Ok(host),
        },
        Host::Name(name) if name == "localhost" || name.ends_with(".localhost") => {
            Err(DestinationError::Local(name.clone()))
        }
        Host::Name(_) => Ok(host),
    }
}

/// Reads `HOST:PORT`, as a run asks for it.
pub fn asked(text: &str) -> Result<(Host, u16), DestinationError> {
    let (host, port) = split_port(text)?;
    Ok((host.parse()?, port))
}

fn split_port(text: &str) -> Result<(&str, u16), DestinationError> {
    let (host, port) = text.rsplit_once(':').ok_or_else(|| DestinationError::NoPort(text.into()))?;
    if text.parse::<Ipv6Addr>().is_ok() {
        return Err(DestinationError::Unbracketed(text.into()));
    }
    if host.starts_with('[') && !host.ends_with(']') {
        return Err(DestinationError::NoPort(text.into()));
    }
    Ok((host, port_number(port)?))
}

/// Digits only: the library would also take a plus sign.
fn port_number(text: &str) -> Result<u16, DestinationError> {
    let bad = || DestinationError::BadPort(text.into());
    if !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(bad());
    }
    text.parse().ok().filter(|port| *port != 0).ok_or_else(bad)
}

impl FromStr for Host {
    type Err = DestinationError;

    /// An IPv6 address stands in brackets, as in a URI.
    fn from_str(text: &str) -> Result<Host, DestinationError> {
        if let Some(inner) = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            let address = inner.parse::<Ipv6Addr>().map_err(|_| DestinationError::BadHost(text.into()))?;
            return Ok(Host::Address(address.into()));
        }
        if let Ok(address) = text.parse::<Ipv4Addr>() {
            return Ok(Host::Address(address.into()));
        }
        if text.parse::<Ipv6Addr>().is_ok() {
            return Err(DestinationError::Unbracketed(text.into()));
        }
        name(text).map(Host::Name)
    }
}

fn name(text: &str) -> Result<String, DestinationError> {
    let trimmed = text.strip_suffix('.').unwrap_or(text);
    if !trimmed.is_ascii() {
        return Err(DestinationError::NotAscii(text.into()));
    }
    if trimmed.len() > NAME_BYTES || !trimmed.split('.').all(is_label) {
        return Err(DestinationError::BadHost(shortened(text)));
    }
    // The C library reads 127.1, 0x7f000001 and 2130706433 as addresses.
    let last = trimmed.rsplit('.').next().unwrap_or(trimmed);
    let is_hex = last.strip_prefix("0x").or(last.strip_prefix("0X")).is_some();
    if is_hex || last.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(DestinationError::Numeric(text.into()));
    }
    Ok(trimmed.to_ascii_lowercase())
}

fn is_label(label: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    (1..=LABEL_BYTES).contains(&label.len())
        && label.bytes().all(is_letter)
        && !label.starts_with('-')
        && !label.ends_with('-')
}

/// Names come from programs that may be hostile; an error does not carry all that they sent.
fn shortened(text: &str) -> String {
    text.chars().take(NAME_BYTES).collect()
}

impl fmt::Display for Host {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Host::Name(name) => formatter.write_str(name),
            Host::Address(IpAddr::V4(address)) => write!(formatter, "{address}"),
            Host::Address(IpAddr::V6(address)) => write!(formatter, "[{address}]"),
        }
    }
}

impl fmt::Display for Destination {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.pattern {
            Pattern::Exactly(host) => write!(formatter, "{host}:{}", self.port),
            Pattern::Below(domain) => write!(formatter, "*.{domain}:{}", self.port),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn destination(text: &str) -> Destination {
        text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    fn grants(granted: &str, asked_for: &str) -> bool {
        let (host, port) = asked(asked_for).unwrap();
        destination(granted).grants(&host, port)
    }

    #[test]
    fn a_grant_is_for_its_host_and_port_only() {
        assert!(grants("example.org:443", "example.org:443"));
        assert!(grants("Example.ORG.:443", "eXample.org:443"));
        assert!(!grants("example.org:443", "example.org:80"));
        assert!(!grants("example.org:443", "www.example.org:443"));
        assert!(!grants("example.org:443", "example.org.evil.net:443"));
        assert!(grants("8.8.8.8:53", "8.8.8.8:53"));
        assert!(grants("[2606:4700::1111]:443", "[2606:4700:0::1111]:443"));
    }

    #[test]
    fn a_star_stands_for_all_below_and_not_for_the_domain_itself() {
        assert!(grants("*.example.org:443", "a.example.org:443"));
        assert!(grants("*.example.org:443", "a.b.example.org:443"));
        assert!(!grants("*.example.org:443", "example.org:443"));
        assert!(!grants("*.example.org:443", "evilexample.org:443"));
        assert!(!grants("*.example.org:443", "8.8.8.8:443"));
    }

    #[test]
    fn nonsense_is_refused_with_its_reason() {
        use DestinationError as E;
        let refused = |text: &str| text.parse::<Destination>().expect_err(text);
        assert!(matches!(refused("example.org"), E::NoPort(_)));
        assert!(matches!(refused("[2606::1]"), E::NoPort(_)));
        assert!(matches!(refused("2606:4700::1111"), E::Unbracketed(_)));
        for port in ["0", "65536", "+80", "http", "", "8 0"] {
            assert!(matches!(refused(&format!("example.org:{port}")), E::BadPort(_)), "{port}");
        }
        for host in ["", "a b", "-a.org", "a..org", "http://a.org", "u@a.org", "a.org/x", "[::1%eth0]", "[1.2.3.4]"] {
            assert!(matches!(refused(&format!("{host}:80")), E::BadHost(_)), "{host}");
        }
        for host in ["127.1", "2130706433", "0x7f.0x1", "0177.0.0.1", "1.2.3.4.5", "example.0X1"] {
            assert!(matches!(refused(&format!("{host}:80")), E::Numeric(_)), "{host}");
        }
        assert!(matches!(refused("bücher.example:80"), E::NotAscii(_)));
        assert!(matches!(refused("*.com:80"), E::TooWide(_)));
        assert!(matches!(refused("*.1.2.3.4:80"), E::TooWide(_)));
        assert!(matches!(refused("*:80"), E::BadHost(_)));
        assert!(matches!(refused("*.*.org:80"), E::BadHost(_)));
        assert!(matches!(refused("localhost:80"), E::Local(_)));
        assert!(matches!(refused("a.localhost:80"), E::Local(_)));
        assert!(matches!(refused("10.0.0.1:80"), E::Special(_, Special::Private)));
        assert!(matches!(refused("169.254.169.254:80"), E::Special(_, Special::Metadata)));
        assert!(matches!(refused(&format!("{}.org:80", "a".repeat(64))), E::BadHost(_)));
    }

    #[test]
    fn a_destination_is_written_as_it_is_read() {
        for text in ["example.org:443", "*.example.org:80", "8.8.8.8:53", "[2606:4700::1111]:443"] {
            assert_eq!(destination(text).to_string(), text);
        }
    }
}
