//! Tests the removal of allocations from a pool.

use std::collections::BTreeMap;

use ippool_api::IpAllocation;

use super::*;

fn pool(allocations: &[(&str, &str)]) -> IPPool {
    let allocation = |podref: &str| IpAllocation { id: "c".into(), podref: podref.into(), ifname: "net1".into() };
    let entries = allocations.iter().map(|(key, podref)| ((*key).to_owned(), allocation(podref)));
    let spec = IPPoolSpec { range: "10.0.0.0/24".into(), allocations: entries.collect::<BTreeMap<_, _>>() };
    let mut pool = IPPool::new("pool", spec);
    pool.metadata.namespace = Some("web".into());
    pool
}

#[test]
fn ippool_i17_allocations_are_in_the_order_of_their_addresses() {
    let pool = pool(&[("10", "a/b"), ("9", "a/b"), ("100", "a/b"), ("x", "a/b"), ("1", "a/b")]);
    let range = Range::parse(&pool.spec.range).unwrap();
    let keys: Vec<_> = survey::holdings(&pool, Some(&range)).iter().map(|holding| holding.key).collect();
    assert_eq!(keys, ["1", "9", "10", "100", "x"]);
}

#[test]
fn ippool_i10_each_removal_tests_what_it_removes() {
    let mut pool = pool(&[("5", "a/b"), ("a~b/c", "a/b")]);
    pool.spec.allocations.get_mut("a~b/c").unwrap().ifname.clear();
    let operations = removal(&survey::holdings(&pool, None));
    let lines: Vec<_> = operations
        .as_array()
        .unwrap()
        .iter()
        .map(|one| {
            let text = |field: &str| one[field].as_str().unwrap_or_default().to_owned();
            format!("{} {} {}", text("op"), text("path"), text("value"))
        })
        .collect();
    assert_eq!(
        lines,
        [
            "test /spec/allocations/5/id c",
            "test /spec/allocations/5/podref a/b",
            "test /spec/allocations/5/ifname net1",
            "remove /spec/allocations/5 ",
            "test /spec/allocations/a~0b~1c/id c",
            "test /spec/allocations/a~0b~1c/podref a/b",
            "remove /spec/allocations/a~0b~1c ",
        ]
    );
}
