//! Which addresses are never reached: everything that is not a public host. Of IPv6, only what is handed out as global
//! unicast can be public; of IPv4, what no line of the table names.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// What an address is that is no public host.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Special {
    Unspecified,
    Loopback,
    Private,
    LinkLocal,
    /// Where clouds hand out credentials to whoever asks.
    Metadata,
    /// Behind a provider's translation, 100.64/10.
    Shared,
    Multicast,
    Benchmark,
    Documentation,
    /// Means an IPv4 address in the clothes of IPv6, and would be checked as what it is not.
    Embedded,
    Reserved,
}

impl fmt::Display for Special {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Special::Unspecified => "unspecified",
            Special::Loopback => "loopback",
            Special::Private => "private",
            Special::LinkLocal => "link-local",
            Special::Metadata => "a metadata service",
            Special::Shared => "shared by a provider",
            Special::Multicast => "multicast",
            Special::Benchmark => "for benchmarks",
            Special::Documentation => "for documentation",
            Special::Embedded => "an IPv4 address inside IPv6",
            Special::Reserved => "reserved",
        })
    }
}

/// The first line that fits counts: single addresses stand before the networks around them.
const SPECIAL_V4: &[(Ipv4Addr, u32, Special)] = &[
    (Ipv4Addr::new(169, 254, 169, 254), 32, Special::Metadata), // nearly every cloud
    (Ipv4Addr::new(169, 254, 170, 0), 24, Special::Metadata),   // credentials of containers
    (Ipv4Addr::new(100, 100, 100, 200), 32, Special::Metadata), // Alibaba
    (Ipv4Addr::new(192, 0, 0, 192), 32, Special::Metadata),     // Oracle, older
    (Ipv4Addr::new(168, 63, 129, 16), 32, Special::Metadata),   // Azure's host; looks public and is not
    (Ipv4Addr::new(0, 0, 0, 0), 8, Special::Unspecified),
    (Ipv4Addr::new(10, 0, 0, 0), 8, Special::Private),
    (Ipv4Addr::new(100, 64, 0, 0), 10, Special::Shared),
    (Ipv4Addr::new(127, 0, 0, 0), 8, Special::Loopback),
    (Ipv4Addr::new(169, 254, 0, 0), 16, Special::LinkLocal),
    (Ipv4Addr::new(172, 16, 0, 0), 12, Special::Private),
    (Ipv4Addr::new(192, 0, 0, 0), 24, Special::Reserved), // protocol assignments
    (Ipv4Addr::new(192, 0, 2, 0), 24, Special::Documentation),
    (Ipv4Addr::new(192, 88, 99, 0), 24, Special::Reserved), // relays of 6to4, given up
    (Ipv4Addr::new(192, 168, 0, 0), 16, Special::Private),
    (Ipv4Addr::new(198, 18, 0, 0), 15, Special::Benchmark),
    (Ipv4Addr::new(198, 51, 100, 0), 24, Special::Documentation),
    (Ipv4Addr::new(203, 0, 113, 0), 24, Special::Documentation),
    (Ipv4Addr::new(224, 0, 0, 0), 4, Special::Multicast),
    (Ipv4Addr::new(240, 0, 0, 0), 4, Special::Reserved), // broadcast too
];

/// As above; what is outside of 2000::/3 is reserved at the least.
const SPECIAL_V6: &[(Ipv6Addr, u32, Special)] = &[
    (Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254), 128, Special::Metadata), // Amazon
    (Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254), 128, Special::Metadata),  // Google
    (Ipv6Addr::UNSPECIFIED, 128, Special::Unspecified),
    (Ipv6Addr::LOCALHOST, 128, Special::Loopback),
    (Ipv6Addr::new(0, 0, 0, 0, 0, 0xffff, 0, 0), 96, Special::Embedded), // v4-mapped
    (Ipv6Addr::new(0, 0, 0, 0, 0xffff, 0, 0, 0), 96, Special::Embedded), // v4-translated
    (Ipv6Addr::UNSPECIFIED, 96, Special::Embedded),                      // v4-compatible
    (Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, 0, 0), 96, Special::Embedded), // NAT64
    (Ipv6Addr::new(0x64, 0xff9b, 1, 0, 0, 0, 0, 0), 48, Special::Embedded), // NAT64 of a site
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 32, Special::Embedded), // Teredo
    (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16, Special::Embedded), // 6to4
    (Ipv6Addr::new(0x2001, 2, 0, 0, 0, 0, 0, 0), 48, Special::Benchmark),
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23, Special::Reserved), // protocol assignments
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32, Special::Documentation),
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20, Special::Documentation),
    (Ipv6Addr::new(0x3ffe, 0, 0, 0, 0, 0, 0, 0), 16, Special::Reserved), // the 6bone, given back
    (Ipv6Addr::new(0xfc00, 0, 0, 0, 0, 0, 0, 0), 7, Special::Private),
    (Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 0), 10, Special::LinkLocal),
    (Ipv6Addr::new(0xfec0, 0, 0, 0, 0, 0, 0, 0), 10, Special::Private), // site-local, given up
    (Ipv6Addr::new(0xff00, 0, 0, 0, 0, 0, 0, 0), 8, Special::Multicast),
];

/// What of IPv6 is handed out to hosts.
const GLOBAL_UNICAST: (Ipv6Addr, u32) = (Ipv6Addr::new(0x2000, 0, 0, 0, 0, 0, 0, 0), 3);

/// What an address is, if it is no public host.
pub fn special(address: IpAddr) -> Option<Special> {
    match address {
        IpAddr::V4(address) => special_v4(address),
        IpAddr::V6(address) => special_v6(address),
    }
}

fn special_v4(address: Ipv4Addr) -> Option<Special> {
    let fits = |network: Ipv4Addr, length: u32| (address.to_bits() ^ network.to_bits()) >> (32 - length) == 0;
    SPECIAL_V4.iter().find(|(network, length, _)| fits(*network, *length)).map(|(_, _, special)| *special)
}

fn special_v6(address: Ipv6Addr) -> Option<Special> {
    let fits = |network: Ipv6Addr, length: u32| (address.to_bits() ^ network.to_bits()) >> (128 - length) == 0;
    let named = SPECIAL_V6.iter().find(|(network, length, _)| fits(*network, *length)).map(|(_, _, special)| *special);
    let (network, length) = GLOBAL_UNICAST;
    named.or((!fits(network, length)).then_some(Special::Reserved))
}

/// The IPv4 address that a socket of IPv6 means by `::ffff:a.b.c.d`, and every other address as it is.
pub fn unmapped(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V6(v6) => v6.to_ipv4_mapped().map_or(address, IpAddr::V4),
        IpAddr::V4(_) => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn special_of(text: &str) -> Option<Special> {
        special(text.parse().unwrap())
    }

    #[test]
    fn metadata_services_are_known_by_name() {
        for text in ["169.254.169.254", "169.254.170.2", "168.63.129.16", "100.100.100.200", "fd00:ec2::254"] {
            assert_eq!(special_of(text), Some(Special::Metadata), "{text}");
        }
    }

    #[test]
    fn an_address_inside_another_is_refused_whatever_it_holds() {
        for text in
            ["::ffff:8.8.8.8", "::ffff:127.0.0.1", "::8.8.8.8", "64:ff9b::808:808", "2002:808:808::1", "2001:0:1::1"]
        {
            assert_eq!(special_of(text), Some(Special::Embedded), "{text}");
        }
    }

    #[test]
    fn edges_of_networks_are_where_they_should_be() {
        for (inside, outside) in [
            ("10.255.255.255", "11.0.0.0"),
            ("172.16.0.0", "172.15.255.255"),
            ("172.31.255.255", "172.32.0.0"),
            ("100.64.0.0", "100.63.255.255"),
            ("100.127.255.255", "100.128.0.0"),
            ("198.19.255.255", "198.20.0.0"),
            ("192.168.255.255", "192.169.0.0"),
            ("224.0.0.0", "223.255.255.255"),
            ("169.254.0.0", "169.253.255.255"),
            ("0.255.255.255", "1.0.0.0"),
            ("2001:1ff:ffff::", "2001:200::"),
            ("2001:db8:ffff::", "2001:db9::"),
            ("3fff:fff::1", "3fff:1000::1"),
            ("4000::", "3fff:ffff::"),
        ] {
            assert!(special_of(inside).is_some(), "{inside} is special");
            assert_eq!(special_of(outside), None, "{outside} is public");
        }
    }

    #[test]
    fn broadcast_and_unspecified_are_no_hosts() {
        assert_eq!(special_of("255.255.255.255"), Some(Special::Reserved));
        assert_eq!(special_of("0.0.0.0"), Some(Special::Unspecified));
        assert_eq!(special_of("::"), Some(Special::Unspecified));
        assert_eq!(special_of("::1"), Some(Special::Loopback));
    }
}
