//! Tests the arithmetic on addresses (frameworks I14–I16).

use std::net::IpAddr;

use super::*;

fn ip(text: &str) -> Option<IpAddr> {
    Some(text.parse().unwrap())
}

fn at(range: &str, key: &str) -> Option<IpAddr> {
    Range::parse(range).ok()?.at(distance(key)?)
}

#[test]
fn ippool_i14_key_is_the_distance_from_the_network_address() {
    assert_eq!(at("10.0.0.0/24", "5"), ip("10.0.0.5"));
    assert_eq!(at("10.0.0.77/24", "5"), ip("10.0.0.5"), "host bits don't count");
    assert_eq!(at("10.0.0.0/24", "0"), ip("10.0.0.0"), "the network address itself");
    assert_eq!(at("10.0.0.0/8", "65536"), ip("10.1.0.0"));
    assert_eq!(at("fd00::/64", "18446744073709551615"), ip("fd00::ffff:ffff:ffff:ffff"));
    assert_eq!(at("fd00::/16", "18446744073709551616"), ip("fd00:0:0:1::"));
}

#[test]
fn ippool_i14_what_is_no_distance_is_no_address() {
    for key in ["", "-1", "+1", " 1", "one", "0x1", "1.0", "999999999999999999999999999999999999999999"] {
        assert_eq!(at("10.0.0.0/24", key), None, "{key:?}");
    }
    for range in ["", "10.0.0.0", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/+8", "10.0.0/8", "fd00::/129", "pool/24"] {
        assert_eq!(at(range, "1"), None, "{range:?}");
    }
    assert_eq!(at("255.255.255.0/24", "256"), None, "beyond all addresses");
}

#[test]
fn ippool_i15_name_of_a_reservation_is_its_address() {
    for (name, expected) in [
        ("10.0.0.5", "10.0.0.5"),
        ("fd00--1", "fd00::1"),
        ("fd00-0-0-0-0-0-0-1", "fd00::1"),
        ("mynet-10.0.0.5", "10.0.0.5"),
        ("mynet-fd00--1", "fd00::1"),
        ("my-other-net-10.0.0.5", "10.0.0.5"),
    ] {
        assert_eq!(address_in_name(name), ip(expected), "{name}");
    }
    for name in ["", "mynet", "10.0.0", "mynet-10.0.0.999", "my-net"] {
        assert_eq!(address_in_name(name), None, "{name:?}");
    }
}

#[test]
fn ippool_i16_ends_and_size_of_a_range() {
    for (range, first, last, total) in [
        ("10.0.0.0/24", "10.0.0.1", "10.0.0.254", 254),
        ("10.0.0.0/30", "10.0.0.1", "10.0.0.2", 2),
        ("10.0.0.4/31", "10.0.0.4", "10.0.0.5", 2),
        ("10.0.0.4/32", "10.0.0.4", "10.0.0.4", 1),
        ("0.0.0.0/0", "0.0.0.1", "255.255.255.254", i32::MAX),
        ("fd00::/127", "fd00::", "fd00::1", 2),
        ("fd00::/64", "fd00::1", "fd00::ffff:ffff:ffff:fffe", i32::MAX),
        ("::/0", "::1", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:fffe", i32::MAX),
    ] {
        let range = Range::parse(range).unwrap();
        assert_eq!((range.usable(), range.total()), ((ip(first), ip(last)), total), "{range:?}");
    }
}
