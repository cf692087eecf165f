//! The way out of a run's own network: sockets that its first process makes there and hands to the one outside, and what
//! that one does with them. Without a grant there are none, and nothing here happens.
//!
//! What runs inside (`lay`, `listen`) must not ask for memory.

use super::report::{Failure, Step};
use crate::error::SandboxError;
use crate::network::Network;
use crate::network::bounds::Bounds;
use crate::network::call::{Calls, Kept};
use crate::network::exchange::Exchange;
use crate::network::outside::Outside;
use crate::network::proxy::Proxy;
use crate::network::sockets::{Sockets, Switchboard};
use crate::order::Order;
use rustix::io::{Errno, Result as Answer};
use rustix::net::{
    AddressFamily, RecvFlags, SocketFlags, SocketType, bind, listen as listen_on, socket_with, socketpair,
};
use std::ffi::OsString;
use std::io::{IoSlice, IoSliceMut};
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, TcpListener};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use system::notify::{Listener, SOCKET_CALLS};
use system::passing;

/// Where the proxy is, inside.
const PROXY: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 3128);
/// Where sockets are connected to that are redirected: any port will do.
const PLUG: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0);
const WAITING: i32 = 128;
/// What programs look for to find a proxy; most want them in lower case, some in upper.
const VARIABLES: &[(&str, &str)] = &[
    ("http_proxy", "http://127.0.0.1:3128"),
    ("https_proxy", "http://127.0.0.1:3128"),
    ("all_proxy", "socks5h://127.0.0.1:3128"),
    ("no_proxy", "localhost,127.0.0.1,::1"),
];

/// Variables that an order which allows hosts has besides its own, which count more.
pub fn environment(order: &Order) -> Vec<(OsString, OsString)> {
    if order.network == Network::None {
        return Vec::new();
    }
    let both = VARIABLES.iter().flat_map(|(name, value)| [(name.to_string(), value), (name.to_uppercase(), value)]);
    let is_new = |name: &str| !order.environment.iter().any(|(own, _)| own == name);
    both.filter(|(name, _)| is_new(name)).map(|(name, value)| (name.into(), OsString::from(value))).collect()
}

/// What is to be laid from inside to outside, over a socket between both.
pub struct Wires {
    has_proxy: bool,
    has_switchboard: bool,
    pub inner: OwnedFd,
    outer: OwnedFd,
}

impl Wires {
    /// None for an order that leaves a run alone.
    pub fn of(order: &Order) -> Result<Option<Wires>, SandboxError> {
        let has_proxy = order.network != Network::None;
        let has_switchboard = !matches!(order.sockets, Sockets::Alone);
        if !has_proxy && !has_switchboard {
            return Ok(None);
        }
        let (outer, inner) = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)
            .map_err(SandboxError::system("make a socket; the limit of open files may be too low"))?;
        Ok(Some(Wires { has_proxy, has_switchboard, inner, outer }))
    }

    /// Lays nothing after all. The socket stays: its number is already known to be kept.
    pub fn cut(&mut self) {
        (self.has_proxy, self.has_switchboard) = (false, false);
    }

    /// Inside, once there is a loopback.
    pub fn lay(&self) -> Result<(), Failure> {
        let lay = || {
            if self.has_proxy {
                self.hand_over(&listener_at(PROXY)?)?;
            }
            if self.has_switchboard {
                self.hand_over(&listener_at(PLUG)?)?;
            }
            Ok(())
        };
        lay().map_err(|errno| Failure { step: Step::Network, item: 0, errno })
    }

    /// Inside, before the filter that refuses to make another one.
    pub fn listen(&self) -> Result<(), Failure> {
        if !self.has_switchboard {
            return Ok(());
        }
        let listener = system::seccomp::install_with_listener(SOCKET_CALLS);
        let handed = listener.and_then(|listener| self.hand_over(&listener));
        handed.map_err(|errno| Failure { step: Step::Network, item: 1, errno })
    }

    fn hand_over(&self, descriptor: &OwnedFd) -> Answer<()> {
        passing::send(&self.inner, &[IoSlice::new(b"w")], &[descriptor.as_fd()]).map(drop)
    }

    /// Outside, once the program was started: all has been handed over by then.
    fn take(&self) -> Answer<OwnedFd> {
        let received = passing::receive(&self.outer, &mut [IoSliceMut::new(&mut [0])], 1, RecvFlags::DONTWAIT)?;
        received.descriptors.into_iter().next().ok_or(Errno::BADF)
    }
}

fn listener_at(address: SocketAddrV4) -> Answer<OwnedFd> {
    let socket = socket_with(AddressFamily::INET, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    bind(&socket, &SocketAddr::V4(address))?;
    listen_on(&socket, WAITING)?;
    Ok(socket)
}

/// Those who serve a run from outside; they end with it.
pub struct Services {
    calls: Arc<Calls>,
    proxy: Option<Proxy>,
    switchboard: Option<Switchboard>,
}

impl Services {
    pub fn start(order: &Order, wires: &Wires) -> Result<Services, SandboxError> {
        let serve = || -> std::io::Result<Services> {
            let bounds = Bounds::default();
            let allowed = match &order.network {
                Network::None => Vec::new(),
                Network::Allowed(allowed) => allowed.clone(),
            };
            let exchange = Exchange::new(Outside::new(allowed, bounds.connecting), bounds);
            let calls = Arc::clone(&exchange.calls);
            // In the order in which they were handed over.
            let start_proxy = || Proxy::start(TcpListener::from(wires.take()?), exchange.clone());
            let proxy = wires.has_proxy.then(start_proxy).transpose()?;
            let start_switchboard = || {
                let plug = TcpListener::from(wires.take()?);
                Switchboard::start(Listener::from(wires.take()?), plug, order.sockets.clone(), exchange.clone())
            };
            let switchboard = wires.has_switchboard.then(start_switchboard).transpose()?;
            Ok(Services { calls, proxy, switchboard })
        };
        serve().map_err(SandboxError::system(
            "serve the sandbox's network; the limit of threads or open files may be too low",
        ))
    }

    /// Ends all that is open, and tells whom the run called.
    pub fn end(self) -> Kept {
        drop((self.proxy, self.switchboard));
        self.calls.take()
    }
}
