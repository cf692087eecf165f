//! The way out: a host is looked for among those that were allowed, its name is resolved once, every address of it is
//! checked, and the connection is made to one of the addresses that were checked. Nothing resolves the name again.
//!
//! The world outside is two traits, so that tests can play it.

use super::address::{Special, special};
use super::destination::{Destination, Host};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

/// No honest name has more.
const ADDRESSES: usize = 64;

pub trait Resolver: Send + Sync {
    fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>>;
}

pub trait Connector: Send + Sync {
    fn connect(&self, address: SocketAddr, timeout: Duration) -> io::Result<TcpStream>;
}

/// Whom a run may reach, and how that is done.
pub struct Outside {
    allowed: Vec<Destination>,
    /// Those among them that may be at an address that is no public host's; none of a sandbox.
    private: Vec<Destination>,
    resolver: Box<dyn Resolver>,
    connector: Box<dyn Connector>,
    connecting: Duration,
}

/// A connection to an address that was checked.
#[derive(Debug)]
pub struct Reached {
    pub stream: TcpStream,
    pub address: SocketAddr,
}

#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    #[error("{host}:{port} was not allowed; --net {host}:{port} allows it")]
    NotAllowed { host: Host, port: u16 },
    #[error("{host} is at {address}, which is {what} and never reached from a sandbox")]
    Special { host: Host, address: IpAddr, what: Special },
    #[error("{host} cannot be resolved: {source}")]
    Unresolved { host: Host, source: io::Error },
    #[error("{host}:{port} does not answer: {source}")]
    Unreachable { host: Host, port: u16, source: io::Error },
}

impl Refusal {
    /// Whether it was our decision, and not the world's.
    pub fn is_ours(&self) -> bool {
        matches!(self, Refusal::NotAllowed { .. } | Refusal::Special { .. })
    }
}

impl Outside {
    /// The real one.
    pub fn new(allowed: Vec<Destination>, connecting: Duration) -> Outside {
        Outside::played(allowed, connecting, Box::new(SystemResolver), Box::new(SystemConnector))
    }

    pub fn played(
        allowed: Vec<Destination>,
        connecting: Duration,
        resolver: Box<dyn Resolver>,
        connector: Box<dyn Connector>,
    ) -> Outside {
        Outside { allowed, private: Vec::new(), resolver, connector, connecting }
    }

    /// Lets `addresses` give what is no public host's for these. Connecting is then for who asked: `reach` refuses it still.
    pub fn with_private(self, private: Vec<Destination>) -> Outside {
        Outside { private, ..self }
    }

    /// Connects, or says why not. Takes no longer than the resolver and `connecting` together.
    pub fn reach(&self, host: &Host, port: u16) -> Result<Reached, Refusal> {
        let addresses = self.addresses(host, port)?;
        let deadline = Instant::now() + self.connecting;
        let mut failure = io::Error::from(io::ErrorKind::TimedOut);
        for (index, address) in addresses.iter().enumerate() {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            // The last may take all the time that is left, the others their share of it.
            let share = left / u32::try_from(addresses.len() - index).unwrap_or(1);
            let address = SocketAddr::new(*address, port);
            match self.connector.connect(address, share) {
                Ok(stream) => return Ok(Reached { stream, address }),
                Err(error) => failure = error,
            }
        }
        Err(Refusal::Unreachable { host: host.clone(), port, source: failure })
    }

    /// All addresses of a host that is allowed, each of them checked.
    pub fn addresses(&self, host: &Host, port: u16) -> Result<Vec<IpAddr>, Refusal> {
        let is_private = self.private.iter().any(|destination| destination.grants(host, port));
        let check = |address: &IpAddr| match special(*address) {
            Some(what) if !is_private => Err(Refusal::Special { host: host.clone(), address: *address, what }),
            _ => Ok(()),
        };
        // First, so that whoever asks for a metadata service is told that no grant would help.
        if let Host::Address(address) = host {
            check(address)?;
        }
        if !self.allowed.iter().any(|destination| destination.grants(host, port)) {
            return Err(Refusal::NotAllowed { host: host.clone(), port });
        }
        let addresses = match host {
            Host::Address(address) => vec![*address],
            Host::Name(name) => self.resolve(host, name)?,
        };
        // All of them: a name that is at one address of ours is not to be trusted with the others.
        addresses.iter().try_for_each(check)?;
        Ok(addresses)
    }

    fn resolve(&self, host: &Host, name: &str) -> Result<Vec<IpAddr>, Refusal> {
        let unresolved = |source| Refusal::Unresolved { host: host.clone(), source };
        let addresses = self.resolver.resolve(name).map_err(unresolved)?;
        match addresses.len() {
            0 => Err(unresolved(io::Error::new(io::ErrorKind::NotFound, "it has no address"))),
            1..=ADDRESSES => Ok(addresses),
            _ => Err(unresolved(io::Error::new(io::ErrorKind::InvalidData, "it has too many addresses"))),
        }
    }
}

/// Asks the C library, which keeps to what this machine is set up with and gives up by itself.
struct SystemResolver;

impl Resolver for SystemResolver {
    fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        // Means this machine, whatever anybody says.
        if name == "localhost" || name.ends_with(".localhost") {
            return Ok(vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()]);
        }
        // With a dot at its end a name is whole: no domain of this machine is put behind it.
        let mut addresses: Vec<IpAddr> = Vec::new();
        for address in (format!("{name}."), 0).to_socket_addrs()? {
            if !addresses.contains(&address.ip()) {
                addresses.push(address.ip());
            }
        }
        Ok(addresses)
    }
}

struct SystemConnector;

impl Connector for SystemConnector {
    fn connect(&self, address: SocketAddr, timeout: Duration) -> io::Result<TcpStream> {
        // Whoever calls has checked it; a mistake there must not be enough.
        if let Some(what) = special(address.ip()) {
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, format!("{address} is {what}")));
        }
        TcpStream::connect_timeout(&address, timeout)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Arc, Mutex};

    /// Answers differently each time, as one who rebinds a name does.
    struct Rebinding {
        answers: Vec<Vec<IpAddr>>,
        asked: Arc<AtomicUsize>,
    }

    impl Resolver for Rebinding {
        fn resolve(&self, _: &str) -> io::Result<Vec<IpAddr>> {
            let turn = self.asked.fetch_add(1, Ordering::SeqCst);
            Ok(self.answers[turn.min(self.answers.len() - 1)].clone())
        }
    }

    /// Connects to itself whatever the address is, and remembers which it was; fails for some.
    struct StandIn {
        listener: TcpListener,
        deaf: Vec<IpAddr>,
        connected: Arc<Mutex<Vec<SocketAddr>>>,
    }

    impl Connector for StandIn {
        fn connect(&self, address: SocketAddr, timeout: Duration) -> io::Result<TcpStream> {
            self.connected.lock().unwrap().push(address);
            if self.deaf.contains(&address.ip()) {
                return Err(io::ErrorKind::ConnectionRefused.into());
            }
            TcpStream::connect_timeout(&self.listener.local_addr()?, timeout)
        }
    }

    struct World {
        outside: Outside,
        asked: Arc<AtomicUsize>,
        connected: Arc<Mutex<Vec<SocketAddr>>>,
    }

    fn world(allowed: &[&str], answers: &[&[&str]], deaf: &[&str]) -> World {
        let (asked, connected) = (Arc::default(), Arc::default());
        let addresses = |texts: &[&str]| texts.iter().map(|text| text.parse().unwrap()).collect::<Vec<IpAddr>>();
        let answers = answers.iter().map(|texts| addresses(texts)).collect();
        let resolver = Rebinding { answers, asked: Arc::clone(&asked) };
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let connector = StandIn { listener, deaf: addresses(deaf), connected: Arc::clone(&connected) };
        let allowed = allowed.iter().map(|text| text.parse().unwrap()).collect();
        let seconds = Duration::from_secs(10);
        World { outside: Outside::played(allowed, seconds, Box::new(resolver), Box::new(connector)), asked, connected }
    }

    fn host(text: &str) -> Host {
        text.parse().unwrap()
    }

    #[test]
    fn a_name_is_resolved_once_and_the_connection_made_to_what_was_checked() {
        let world = world(&["a.example:443"], &[&["1.2.3.4"], &["127.0.0.1"]], &[]);
        let reached = world.outside.reach(&host("a.example"), 443).unwrap();
        assert_eq!(reached.address, "1.2.3.4:443".parse().unwrap());
        assert_eq!(world.asked.load(Ordering::SeqCst), 1);
        assert_eq!(*world.connected.lock().unwrap(), ["1.2.3.4:443".parse().unwrap()]);
    }

    #[test]
    fn a_name_that_is_rebound_to_this_machine_is_refused() {
        let world = world(&["a.example:443"], &[&["1.2.3.4"], &["127.0.0.1"]], &[]);
        world.outside.reach(&host("a.example"), 443).unwrap();
        let refusal = world.outside.reach(&host("a.example"), 443).unwrap_err();
        assert!(matches!(refusal, Refusal::Special { what: Special::Loopback, .. }), "{refusal}");
        assert_eq!(world.connected.lock().unwrap().len(), 1);
    }

    #[test]
    fn one_private_address_among_public_ones_spoils_a_name() {
        for bad in ["10.0.0.1", "169.254.169.254", "::ffff:1.2.3.4", "fd00:ec2::254", "64:ff9b::102:304", "0.0.0.0"] {
            let world = world(&["a.example:80"], &[&["1.2.3.4", bad]], &[]);
            let refusal = world.outside.reach(&host("a.example"), 80).unwrap_err();
            assert!(matches!(refusal, Refusal::Special { .. }), "{bad}: {refusal}");
            assert!(world.connected.lock().unwrap().is_empty(), "{bad}");
        }
    }

    #[test]
    fn what_was_not_allowed_is_not_even_resolved() {
        let world = world(&["a.example:443"], &[&["1.2.3.4"]], &[]);
        for (asked, port) in [("a.example", 80), ("b.example", 443), ("1.2.3.4", 443)] {
            let refusal = world.outside.reach(&host(asked), port).unwrap_err();
            assert!(matches!(refusal, Refusal::NotAllowed { .. }), "{asked}:{port}: {refusal}");
        }
        assert_eq!(world.asked.load(Ordering::SeqCst), 0);
    }

    #[test]
    fn a_metadata_address_is_named_as_such() {
        let world = world(&[], &[&[]], &[]);
        let refusal = world.outside.reach(&host("169.254.169.254"), 80).unwrap_err();
        assert!(refusal.to_string().contains("metadata"), "{refusal}");
    }

    #[test]
    fn a_private_address_is_given_for_exactly_whom_it_was_said() {
        let mut world = world(&["a.example:1", "a.example:2", "b.example:1"], &[&["10.0.0.1"]], &[]);
        world.outside = world.outside.with_private(vec!["a.example:1".parse().unwrap()]);
        assert_eq!(world.outside.addresses(&host("a.example"), 1).unwrap(), ["10.0.0.1".parse::<IpAddr>().unwrap()]);
        for (other, port) in [("a.example", 2), ("b.example", 1)] {
            let refusal = world.outside.addresses(&host(other), port).unwrap_err();
            assert!(matches!(refusal, Refusal::Special { .. }), "{other}:{port}: {refusal}");
        }
    }

    #[test]
    fn the_next_address_is_tried_where_one_does_not_answer() {
        let world = world(&["a.example:1"], &[&["1.1.1.1", "1.2.3.4"]], &["1.1.1.1"]);
        assert_eq!(
            world.outside.reach(&host("a.example"), 1).unwrap().address.ip(),
            "1.2.3.4".parse::<IpAddr>().unwrap()
        );
    }

    #[test]
    fn a_name_with_no_address_or_a_flood_of_them_is_refused() {
        let flood = vec!["1.2.3.4"; ADDRESSES + 1];
        for answer in [&[][..], &flood[..]] {
            let world = world(&["a.example:1"], &[answer], &[]);
            let refusal = world.outside.reach(&host("a.example"), 1).unwrap_err();
            assert!(matches!(refusal, Refusal::Unresolved { .. }), "{refusal}");
        }
    }

    #[test]
    fn the_real_connector_refuses_this_machine_by_itself() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let refused = SystemConnector.connect(listener.local_addr().unwrap(), Duration::from_secs(1)).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::PermissionDenied);
    }
}
