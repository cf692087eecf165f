//! Which addresses are public, checked against what the registries say in words: each network as a rule of its own, not as
//! a line of a table.

use proptest::prelude::*;
use sandbox::network::address::special;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, d] = address.octets();
    let is_assigned_to_protocols = a == 192 && b == 0 && c == 0;
    let is_relay = a == 192 && b == 88 && c == 99;
    let is_shared = a == 100 && (64..128).contains(&b);
    let is_benchmark = a == 198 && (b == 18 || b == 19);
    let is_host_of_a_cloud = [a, b, c, d] == [168, 63, 129, 16];
    !(a == 0
        || a >= 224
        || address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_documentation()
        || is_assigned_to_protocols
        || is_relay
        || is_shared
        || is_benchmark
        || is_host_of_a_cloud)
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let segments = address.segments();
    let is_global_unicast = (0x2000..0x4000).contains(&segments[0]);
    let is_assigned_to_protocols = segments[0] == 0x2001 && segments[1] < 0x200;
    let is_documentation = segments[..2] == [0x2001, 0xdb8] || (segments[0] == 0x3fff && segments[1] < 0x1000);
    let is_6to4 = segments[0] == 0x2002;
    let is_6bone = segments[0] == 0x3ffe;
    is_global_unicast && !(is_assigned_to_protocols || is_documentation || is_6to4 || is_6bone)
}

/// Bits that are often those of a special network: where it begins and ends, and one beside it.
fn near_networks_v4() -> impl Strategy<Value = u32> {
    let starts = [0, 10, 100, 127, 168, 169, 172, 192, 198, 203, 224, 240, 255u32];
    let second = prop_oneof![0..=255u32, Just(0), Just(16), Just(63), Just(64), Just(168), Just(254), Just(18)];
    (proptest::sample::select(starts.to_vec()), second, any::<u8>(), any::<u8>())
        .prop_map(|(a, b, c, d)| a << 24 | b << 16 | u32::from(c) << 8 | u32::from(d))
}

fn near_networks_v6() -> impl Strategy<Value = u128> {
    let starts =
        [0, 0x64, 0x2000, 0x2001, 0x2002, 0x2606, 0x3ffe, 0x3fff, 0x4000, 0xfc00, 0xfd00, 0xfe80, 0xfec0, 0xff02];
    let second = prop_oneof![0..=0x1000u128, Just(0xdb8), Just(0xff9b), Just(0x200), Just(0), Just(0xfff)];
    (proptest::sample::select(starts.to_vec()), second, any::<u128>(), 0..=96u32)
        .prop_map(|(a, b, rest, zeros): (u128, u128, u128, u32)| a << 112 | b << 96 | (rest >> 32) >> zeros.min(95))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    #[test]
    fn an_ipv4_address_is_public_exactly_where_the_registry_says_so(
        bits in prop_oneof![any::<u32>(), near_networks_v4()]
    ) {
        let address = Ipv4Addr::from_bits(bits);
        prop_assert_eq!(special(IpAddr::V4(address)).is_none(), is_public_v4(address), "{}", address);
    }

    #[test]
    fn an_ipv6_address_is_public_exactly_where_the_registry_says_so(
        bits in prop_oneof![any::<u128>(), near_networks_v6()]
    ) {
        let address = Ipv6Addr::from_bits(bits);
        prop_assert_eq!(special(IpAddr::V6(address)).is_none(), is_public_v6(address), "{}", address);
    }

    #[test]
    fn no_ipv4_address_is_reached_in_the_clothes_of_ipv6(bits in any::<u32>()) {
        let inner = u128::from(bits);
        let clothes = [
            0xffff_u128 << 32 | inner,
            0xffff_u128 << 48 | inner,
            inner,
            0x0064_ff9b_u128 << 96 | inner,
            0x2002_u128 << 112 | inner << 80,
            0x2001_0000_u128 << 96 | inner,
        ];
        for bits in clothes {
            let address = Ipv6Addr::from_bits(bits);
            prop_assert!(special(IpAddr::V6(address)).is_some(), "{}", address);
        }
    }
}
