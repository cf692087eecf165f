//! Sockets: whom a program calls, and which kinds of them it can make. Nothing here needs a network of the host.

use crate::ground::Ground;
use crate::play::Stage;
use crate::saying::{got, number, told};
use crate::table::{Judged, Row, Said};
use sandbox::Wall::{Capabilities, Landlock, MountNamespace, NetworkNamespace, Seccomp};
use sandbox::network::{Destination, Network};
use sandbox::{Order, Stdin};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::UnixStream;
use std::time::Duration;
use system::raw::call;

/// No way leads there.
const UNREACHABLE: &[&str] = &["ENETUNREACH", "EHOSTUNREACH", "EPERM", "EACCES"];
/// Such sockets are not made.
const NO_SUCH: &[&str] = &["EPERM", "EACCES", "EAFNOSUPPORT", "EPROTONOSUPPORT", "ESOCKTNOSUPPORT"];
/// Of a family that is there, and with these errors: libraries go on with what there is.
const NO_SUCH_PROTOCOL: &[&str] = &["EPROTONOSUPPORT"];
const NO_SUCH_KIND: &[&str] = &["ESOCKTNOSUPPORT"];
const L2TP: i32 = 115;
/// Where the proxy listens inside.
const PROXY: &str = "127.0.0.1:3128";

fn socket(family: i32, kind: i32, protocol: i32) -> Said {
    got(call(libc::SYS_socket, &[family as usize, kind as usize, protocol as usize]))
}

fn connect(address: &str) -> Said {
    let address: SocketAddr = address.parse().map_err(std::io::Error::other)?;
    got(TcpStream::connect_timeout(&address, Duration::from_secs(3)))
}

fn send_to(address: &str) -> Said {
    let socket = UdpSocket::bind("0.0.0.0:0")?;
    got(socket.send_to(b"x", address))
}

/// The answer of the proxy to a wish for a connection, in one word: whether it was made.
fn ask_proxy(destination: &str) -> Said {
    let mut proxy = TcpStream::connect(PROXY)?;
    proxy.set_read_timeout(Some(Duration::from_secs(8)))?;
    write!(proxy, "CONNECT {destination} HTTP/1.1\r\nHost: {destination}\r\n\r\n")?;
    let mut answer = [0_u8; 64];
    let length = proxy.read(&mut answer)?;
    let line = String::from_utf8_lossy(&answer[..length]).into_owned();
    Ok(if line.contains(" 200 ") { line } else { "refused".into() })
}

/// Asks by SOCKS5, with an address or a name.
fn ask_socks(host: &str, port: u16) -> Said {
    let mut proxy = TcpStream::connect(PROXY)?;
    proxy.set_read_timeout(Some(Duration::from_secs(8)))?;
    proxy.write_all(&[5, 1, 0])?;
    let mut greeting = [0_u8; 2];
    proxy.read_exact(&mut greeting)?;
    let mut wish = vec![5, 1, 0, 3, host.len() as u8];
    wish.extend(host.as_bytes());
    wish.extend(port.to_be_bytes());
    proxy.write_all(&wish)?;
    let mut answer = [0_u8; 10];
    let length = proxy.read(&mut answer)?;
    Ok(if length > 1 && answer[1] == 0 { "connected".into() } else { "refused".into() })
}

/// Lets a run call what it is going to, so that the check of addresses alone stops it. What no order can name is not
/// named; then the proxy has to know that it is not allowed.
fn allow(ground: &Ground, order: &mut Order, host: &str) {
    let port = ground.listener.local_addr().map(|address| address.port()).unwrap_or(0);
    let wishes = [format!("{host}:{port}"), format!("{host}:80"), "example.org:443".into()];
    order.network = Network::Allowed(wishes.iter().filter_map(|wish| wish.parse::<Destination>().ok()).collect());
}

/// A half's program with a host allowed, if that can be: the proxy refuses.
fn proxied(stage: &Stage, host: &str, half: &str) -> Judged {
    let mut order = stage.order(&crate::play::inside(half).each_ref().map(String::as_str));
    allow(&stage.ground.borrow(), &mut order, host);
    order.environment.push(("HOST_NAME".into(), host_name().into()));
    stage.run(&order, Stdin::Empty).map_err(|error| error.to_string())?.must_say("refused")
}

/// A name that is known to be this machine, on most machines.
fn host_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

pub const HALVES: &[Row] = &[
    Row::own("half.proxy_metadata", "asks the proxy for the address of metadata", || ask_proxy("169.254.169.254:80")),
    Row::own("half.proxy_loopback", "asks the proxy for the host itself", || {
        ask_proxy(&format!("127.0.0.1:{}", number("HOST_PORT")))
    }),
    Row::own("half.proxy_name", "asks the proxy for a name that is the host itself", || {
        ask_proxy(&format!("localhost:{}", number("HOST_PORT")))
    }),
    Row::own("half.proxy_host_name", "asks the proxy for this machine by its name", || {
        ask_proxy(&format!("{}:{}", told("HOST_NAME"), number("HOST_PORT")))
    }),
    Row::own("half.proxy_mapped", "asks the proxy for the host in the clothes of another family", || {
        ask_proxy(&format!("[::ffff:127.0.0.1]:{}", number("HOST_PORT")))
    }),
    Row::own("half.proxy_number", "asks the proxy for the host as one number", || {
        ask_proxy(&format!("2130706433:{}", number("HOST_PORT")))
    }),
    Row::own("half.proxy_zero", "asks the proxy for the address zero", || {
        ask_proxy(&format!("0.0.0.0:{}", number("HOST_PORT")))
    }),
    Row::own("half.socks_loopback", "asks the proxy for the host by SOCKS", || {
        ask_socks("127.0.0.1", number("HOST_PORT") as u16)
    }),
    Row::own("half.socks_name", "asks the proxy for a name that is the host by SOCKS", || {
        ask_socks("localhost", number("HOST_PORT") as u16)
    }),
    Row::own("half.proxy_unlisted", "asks the proxy for what was not allowed", || ask_proxy("198.51.100.7:443")),
    Row::own("half.direct", "goes around the proxy", || {
        let direct = crate::saying::line(connect("198.51.100.7:80"));
        Ok(if UNREACHABLE.contains(&direct.as_str()) { "refused".into() } else { direct })
    }),
];

pub const ROWS: &[Row] = &[
    Row::own("socket.raw", "makes packets by hand", || socket(libc::AF_INET, libc::SOCK_RAW, libc::IPPROTO_TCP))
        .says(NO_SUCH)
        .by(&[Seccomp, Capabilities])
        .tried_outside(),
    Row::own("socket.raw_6", "makes packets by hand, of version 6", || {
        socket(libc::AF_INET6, libc::SOCK_RAW, libc::IPPROTO_ICMPV6)
    })
    .says(NO_SUCH)
    .by(&[Seccomp, Capabilities])
    .tried_outside(),
    Row::own("socket.packet", "listens to the wire", || socket(libc::AF_PACKET, libc::SOCK_RAW, 0))
        .says(NO_SUCH)
        .by(&[Seccomp, Capabilities])
        .tried_outside(),
    Row::own("socket.netlink_route", "speaks to the kernel about routes", || {
        socket(libc::AF_NETLINK, libc::SOCK_RAW, libc::NETLINK_ROUTE)
    })
    .says(NO_SUCH)
    .by(&[Seccomp])
    .tried_outside(),
    Row::own("socket.netlink_filter", "speaks to the kernel about packet filters", || {
        socket(libc::AF_NETLINK, libc::SOCK_RAW, libc::NETLINK_NETFILTER)
    })
    .says(NO_SUCH)
    .by(&[Seccomp])
    .tried_outside(),
    Row::own("socket.virtual_machine", "speaks to whoever runs this machine", || {
        socket(libc::AF_VSOCK, libc::SOCK_STREAM, 0)
    })
    .says(NO_SUCH)
    .by(&[Seccomp]),
    Row::own("socket.crypto", "uses the kernel's cryptography", || socket(libc::AF_ALG, libc::SOCK_SEQPACKET, 0))
        .says(NO_SUCH)
        .by(&[Seccomp]),
    Row::own("socket.bluetooth", "speaks to devices near by", || socket(libc::AF_BLUETOOTH, libc::SOCK_RAW, 1))
        .says(NO_SUCH)
        .by(&[Seccomp]),
    Row::own("socket.high_bits", "asks for a family with bits above those that the kernel looks at", || {
        got(call(libc::SYS_socket, &[libc::AF_NETLINK as usize | 1 << 32, libc::SOCK_RAW as usize, 0]))
    })
    .says(NO_SUCH)
    .by(&[Seccomp])
    .tried_outside(),
    Row::own("socket.pair_of_families", "makes a pair of sockets of a strange family", || {
        let mut pair = [0_i32; 2];
        let netlink = libc::AF_NETLINK as usize;
        got(call(libc::SYS_socketpair, &[netlink, libc::SOCK_RAW as usize, 0, pair.as_mut_ptr() as usize]))
    })
    .says(&["EPERM", "EACCES", "EAFNOSUPPORT", "EPROTONOSUPPORT", "EOPNOTSUPP"])
    .by(&[Seccomp]),
    Row::own("socket.sctp", "uses a protocol that few kernels need", || {
        socket(libc::AF_INET, libc::SOCK_STREAM, libc::IPPROTO_SCTP)
    })
    .says(NO_SUCH_PROTOCOL)
    .or_in_dreams(&["EPERM"])
    .by(&[Seccomp]),
    Row::own("socket.sctp_unnamed", "uses the same protocol without naming it", || {
        socket(libc::AF_INET6, libc::SOCK_SEQPACKET, 0)
    })
    .says(NO_SUCH_KIND)
    .or_in_dreams(&["EPERM"])
    .by(&[Seccomp]),
    Row::own("socket.dccp", "uses a protocol that is gone from newer kernels", || {
        socket(libc::AF_INET, libc::SOCK_DCCP, libc::IPPROTO_DCCP)
    })
    .says(NO_SUCH_KIND)
    .or_in_dreams(&["EPERM"])
    .by(&[Seccomp]),
    Row::own("socket.ping", "sends echoes without raw packets", || {
        socket(libc::AF_INET, libc::SOCK_DGRAM, libc::IPPROTO_ICMP)
    })
    .says(NO_SUCH_PROTOCOL)
    .or_in_dreams(&["EPERM"])
    .by(&[Seccomp])
    .tried_outside(),
    Row::own("socket.ping_6", "sends echoes without raw packets, of version 6", || {
        socket(libc::AF_INET6, libc::SOCK_DGRAM, libc::IPPROTO_ICMPV6)
    })
    .says(NO_SUCH_PROTOCOL)
    .or_in_dreams(&["EPERM"])
    .by(&[Seccomp])
    .tried_outside(),
    Row::own("socket.udp_lite", "sends datagrams that are checked in part", || {
        socket(libc::AF_INET, libc::SOCK_DGRAM, libc::IPPROTO_UDPLITE)
    })
    .says(NO_SUCH_PROTOCOL)
    .or_in_dreams(&["EPERM"])
    .by(&[Seccomp])
    .tried_outside(),
    Row::own("socket.many_paths", "makes one connection over many paths", || {
        socket(libc::AF_INET, libc::SOCK_STREAM, libc::IPPROTO_MPTCP)
    })
    .says(NO_SUCH_PROTOCOL)
    .or_in_dreams(&["EPERM"])
    .by(&[Seccomp])
    .tried_outside(),
    Row::own("socket.tunnel", "makes a tunnel", || socket(libc::AF_INET, libc::SOCK_DGRAM, L2TP))
        .says(NO_SUCH_PROTOCOL)
        .or_in_dreams(&["EPERM"])
        .by(&[Seccomp]),
    Row::own("socket.pair_of_protocol", "makes a pair of sockets of a protocol that few kernels need", || {
        let mut pair = [0_i32; 2];
        let [family, kind, protocol] =
            [libc::AF_INET, libc::SOCK_SEQPACKET, libc::IPPROTO_SCTP].map(|one| one as usize);
        got(call(libc::SYS_socketpair, &[family, kind, protocol, pair.as_mut_ptr() as usize]))
    })
    .says(&["EOPNOTSUPP"])
    .by(&[Seccomp]),
    Row::own("host.abstract_socket", "calls a socket of the host that has no file", || {
        got(UnixStream::connect_addr(&std::os::unix::net::SocketAddr::from_abstract_name(told("HOST_ABSTRACT"))?))
    })
    .says(&["ECONNREFUSED", "EPERM"])
    .by(&[NetworkNamespace, Landlock])
    .tried_outside(),
    Row::own("host.socket", "calls a socket of the host by its path", || got(UnixStream::connect(told("HOST_SOCKET"))))
        .says(&["ENOENT"])
        .or_in_dreams(&["EPERM"])
        .by(&[MountNamespace])
        .tried_outside(),
    Row::own("host.port", "calls a port of the host", || connect(&format!("127.0.0.1:{}", number("HOST_PORT"))))
        .says(&["ECONNREFUSED"])
        .or_in_dreams(&["EPERM"])
        .by(&[NetworkNamespace])
        .tried_outside(),
    Row::own("host.port_by_zero", "calls a port of the host by the address zero", || {
        connect(&format!("0.0.0.0:{}", number("HOST_PORT")))
    })
    .says(&["ECONNREFUSED", "ENETUNREACH"])
    .or_in_dreams(&["EPERM"])
    .by(&[NetworkNamespace])
    .tried_outside(),
    Row::own("host.interfaces", "looks at the network cards: there is one, the loopback", || {
        let cards = std::fs::read_to_string("/proc/net/dev")?;
        let others: Vec<&str> = cards.lines().skip(2).map(str::trim).filter(|line| !line.starts_with("lo:")).collect();
        Ok(if others.is_empty() { "none".into() } else { others.join(" ") })
    })
    .says(&["none", "ENOENT", "EACCES"])
    .by(&[NetworkNamespace]),
    Row::own("outside.metadata", "asks the cloud who it is", || connect("169.254.169.254:80"))
        .says(UNREACHABLE)
        .by(&[NetworkNamespace]),
    Row::own("outside.tcp", "calls somebody far away", || connect("198.51.100.7:443"))
        .says(UNREACHABLE)
        .by(&[NetworkNamespace]),
    Row::own("outside.tcp_6", "calls somebody far away, by version 6", || connect("[2001:db8::7]:443"))
        .says(&["ENETUNREACH", "EHOSTUNREACH", "EPERM", "EACCES", "EAFNOSUPPORT"])
        .by(&[NetworkNamespace]),
    Row::own("outside.udp", "sends a packet far away", || send_to("198.51.100.7:53"))
        .says(UNREACHABLE)
        .by(&[NetworkNamespace]),
    Row::own("outside.broadcast", "calls everybody near by", || send_to("224.0.0.251:5353"))
        .says(UNREACHABLE)
        .by(&[NetworkNamespace]),
    Row::python(
        "outside.name",
        "asks for the address of a name",
        "import socket\ntry:\n  print(socket.getaddrinfo('example.org', 443))\nexcept socket.gaierror: print('done')",
    )
    .by(&[NetworkNamespace]),
    Row::story("proxy.metadata", "asks the proxy for metadata, which somebody allowed", |stage| {
        proxied(stage, "169.254.169.254", "half.proxy_metadata")
    })
    .for_programs(),
    Row::story("proxy.loopback", "asks the proxy for the host itself, which somebody allowed", |stage| {
        proxied(stage, "127.0.0.1", "half.proxy_loopback")
    })
    .for_programs(),
    Row::story("proxy.rebound_name", "asks the proxy for an allowed name whose address is the host itself", |stage| {
        proxied(stage, "localhost", "half.proxy_name")
    })
    .for_programs(),
    Row::story("proxy.host_name", "asks the proxy for an allowed name, which is this machine's own", |stage| {
        proxied(stage, &host_name(), "half.proxy_host_name")
    })
    .for_programs(),
    Row::story("proxy.mapped", "asks the proxy for the host as an address of version 6", |stage| {
        proxied(stage, "[::ffff:127.0.0.1]", "half.proxy_mapped")
    })
    .for_programs(),
    Row::story("proxy.number", "asks the proxy for the host as one number", |stage| {
        proxied(stage, "2130706433", "half.proxy_number")
    })
    .for_programs(),
    Row::story("proxy.zero", "asks the proxy for the address zero", |stage| {
        proxied(stage, "0.0.0.0", "half.proxy_zero")
    })
    .for_programs(),
    Row::story("proxy.socks", "asks the proxy for the host by SOCKS", |stage| {
        proxied(stage, "127.0.0.1", "half.socks_loopback")
    })
    .for_programs(),
    Row::story("proxy.socks_name", "asks the proxy for a name that is the host by SOCKS", |stage| {
        proxied(stage, "localhost", "half.socks_name")
    })
    .for_programs(),
    Row::story("proxy.unlisted", "asks the proxy for what was not allowed", |stage| {
        proxied(stage, "example.org", "half.proxy_unlisted")
    })
    .for_programs(),
    Row::story("proxy.around", "goes around the proxy", |stage| proxied(stage, "example.org", "half.direct"))
        .for_programs()
        .by(&[NetworkNamespace]),
];
