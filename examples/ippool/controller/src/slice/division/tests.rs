//! Tests the division of a range (frameworks N6, D2.7).

use super::*;

#[test]
fn nodeslice_n6_range_is_cut_into_slices_of_one_size() {
    let expected = ["10.0.0.0/26", "10.0.0.64/26", "10.0.0.128/26", "10.0.0.192/26"].map(str::to_owned);
    for size in ["/26", "26"] {
        assert_eq!(slices("10.0.0.0/24", size), Ok(expected.to_vec()));
    }
    assert_eq!(slices("10.0.0.0/24", "24"), Ok(vec!["10.0.0.0/24".to_owned()]));
    assert_eq!(slices("10.0.0.4/31", "32"), Ok(vec!["10.0.0.4/32".to_owned(), "10.0.0.5/32".to_owned()]));
    let v6 = slices("fd00::/62", "64").unwrap();
    assert_eq!(v6, ["fd00::/64", "fd00:0:0:1::/64", "fd00:0:0:2::/64", "fd00:0:0:3::/64"]);
}

#[test]
fn nodeslice_n6_what_does_not_fit_is_an_error() {
    for (range, size) in [
        ("10.0.0.1/24", "/26"),
        ("10.0.0.0/24", "/23"),
        ("10.0.0.0/24", "/33"),
        ("fd00::/64", "/129"),
        ("10.0.0.0", "/26"),
        ("10.0.0.0/24", ""),
        ("10.0.0.0/24", "//26"),
        ("10.0.0.0/24", "-26"),
        ("10.0.0.0/24", "+26"),
    ] {
        assert!(slices(range, size).is_err(), "{range} {size}");
    }
}

#[test]
fn nodeslice_n6_more_slices_than_an_object_can_hold_are_an_error() {
    assert_eq!(slices("10.0.0.0/11", "24").map(|slices| slices.len()), Ok(MOST as usize));
    for (range, size) in [("10.0.0.0/10", "24"), ("0.0.0.0/0", "32"), ("::/0", "64"), ("::/0", "128")] {
        assert!(slices(range, size).unwrap_err().contains("more than 8192"), "{range} {size}");
    }
}
