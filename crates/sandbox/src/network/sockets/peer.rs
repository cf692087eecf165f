//! Whom a call names: an address as it stood in the caller's memory, read without trust in it.

use rustix::io::{Errno, Result};
use rustix::net::AddressFamily;
use std::ffi::OsStr;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// No address is longer; the kernel refuses such too.
pub const ADDRESS_BYTES: usize = 128;

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Peer {
    /// Nobody any more.
    Nobody,
    Inet(SocketAddr),
    /// A socket that is a file.
    Path(PathBuf),
    /// A socket with a name that is no file; each network has its own.
    Abstract(Vec<u8>),
}

impl Peer {
    pub fn read(bytes: &[u8]) -> Result<Peer> {
        let (family, rest) = bytes.split_first_chunk().ok_or(Errno::INVAL)?;
        match AddressFamily::from_raw(u16::from_ne_bytes(*family)) {
            AddressFamily::UNSPEC => Ok(Peer::Nobody),
            AddressFamily::INET => v4(rest),
            AddressFamily::INET6 => v6(rest),
            AddressFamily::UNIX => unix(rest),
            _ => Err(Errno::AFNOSUPPORT),
        }
    }
}

fn v4(bytes: &[u8]) -> Result<Peer> {
    // The kernel wants the zeroes behind the address to be there too.
    let (Some(port), Some(address), 14..) = (part(bytes, 0), part(bytes, 2), bytes.len()) else {
        return Err(Errno::INVAL);
    };
    let address: [u8; 4] = address;
    Ok(inet(Ipv4Addr::from(address).into(), port))
}

fn v6(bytes: &[u8]) -> Result<Peer> {
    let (Some(port), Some(address)) = (part(bytes, 0), part(bytes, 6)) else { return Err(Errno::INVAL) };
    let address: [u8; 16] = address;
    Ok(inet(Ipv6Addr::from(address).into(), port))
}

fn inet(address: IpAddr, port: [u8; 2]) -> Peer {
    Peer::Inet(SocketAddr::new(address, u16::from_be_bytes(port)))
}

fn part<const COUNT: usize>(bytes: &[u8], from: usize) -> Option<[u8; COUNT]> {
    bytes.get(from..)?.first_chunk().copied()
}

fn unix(bytes: &[u8]) -> Result<Peer> {
    match bytes.split_first() {
        None => Err(Errno::INVAL),
        Some((0, name)) => Ok(Peer::Abstract(name.to_vec())),
        Some(_) => {
            let path = bytes.split(|byte| *byte == 0).next().unwrap_or(bytes);
            Ok(Peer::Path(OsStr::from_bytes(path).into()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(family: AddressFamily, rest: &[u8]) -> Vec<u8> {
        [&family.as_raw().to_ne_bytes(), rest].concat()
    }

    #[test]
    fn addresses_are_read_as_the_kernel_reads_them() {
        let v4 = address(AddressFamily::INET, b"\x00\x50\x01\x02\x03\x04\0\0\0\0\0\0\0\0");
        assert_eq!(Peer::read(&v4), Ok(Peer::Inet("1.2.3.4:80".parse().unwrap())));
        let loopback =
            address(AddressFamily::INET6, &[&[0, 80, 0, 0, 0, 0], &Ipv6Addr::LOCALHOST.octets()[..], &[0; 4]].concat());
        assert_eq!(Peer::read(&loopback), Ok(Peer::Inet("[::1]:80".parse().unwrap())));
        assert_eq!(Peer::read(&address(AddressFamily::UNIX, b"/a\0junk")), Ok(Peer::Path("/a".into())));
        assert_eq!(Peer::read(&address(AddressFamily::UNIX, b"\0a\0b")), Ok(Peer::Abstract(b"a\0b".to_vec())));
        assert_eq!(Peer::read(&address(AddressFamily::UNSPEC, &[0; 14])), Ok(Peer::Nobody));
    }

    #[test]
    fn addresses_that_are_cut_short_are_refused() {
        for (family, length) in [(AddressFamily::INET, 13), (AddressFamily::INET6, 21), (AddressFamily::UNIX, 0)] {
            assert_eq!(Peer::read(&address(family, &vec![0; length])), Err(Errno::INVAL), "{family:?}");
        }
        assert_eq!(Peer::read(&[1]), Err(Errno::INVAL));
        assert_eq!(Peer::read(&address(AddressFamily::NETLINK, &[0; 10])), Err(Errno::AFNOSUPPORT));
    }
}
