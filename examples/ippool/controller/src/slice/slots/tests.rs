//! Tests the assignment of slices (frameworks N7–N12, D2.7).

use ippool_api::NodeSlicePoolSpec;

use super::*;

fn wanted(range: &str) -> Wanted {
    Wanted { pool: "net".into(), range: range.into(), slice_size: "/26".into() }
}

fn pool() -> NodeSlicePool {
    let spec = NodeSlicePoolSpec { range: "10.0.0.0/24".into(), slice_size: "/26".into() };
    let mut pool = NodeSlicePool::new("net", spec);
    pool.metadata.generation = Some(1);
    pool
}

fn arranged(pool: &mut NodeSlicePool, range: &str, nodes: &[&str]) -> Change {
    let (wanted, nodes) = (wanted(range), nodes.iter().map(|node| (*node).to_owned()).collect::<Vec<_>>());
    let slices = super::super::division::slices(range, "/26").unwrap();
    arrange(pool, &wanted, &slices, &nodes, Timestamp::UNIX_EPOCH)
}

fn nodes_of(pool: &NodeSlicePool) -> Vec<&str> {
    pool.status.iter().flat_map(|status| &status.allocations).map(|slot| slot.node_name.as_str()).collect()
}

/// Whether the pool has the condition `Stalled`, which is removed when it is false.
fn stalls(pool: &NodeSlicePool) -> bool {
    pool.status.iter().flat_map(|status| &status.standard.conditions).any(|condition| condition.type_ == "Stalled")
}

/// The status and the reason of a condition.
fn says<'a>(pool: &'a NodeSlicePool, type_: &str) -> (&'a str, &'a str) {
    let conditions = &pool.status.as_ref().unwrap().standard.conditions;
    let held = conditions.iter().find(|condition| condition.type_ == type_).unwrap();
    (&held.status, &held.reason)
}

const RANGE: &str = "10.0.0.0/24";

#[test]
fn nodeslice_n7_new_pool_is_divided_in_order() {
    let mut pool = pool();
    let change = arranged(&mut pool, RANGE, &["a", "b"]);
    change.is_created(&mut pool, Timestamp::UNIX_EPOCH);
    assert_eq!(nodes_of(&pool), ["a", "b", "", ""]);
    assert_eq!((says(&pool, "Ready"), stalls(&pool)), (("True", "PoolCreated"), false));
}

#[test]
fn nodeslice_n8_another_range_is_divided_anew() {
    let mut pool = pool();
    arranged(&mut pool, RANGE, &["a", "b", "c"]);
    arranged(&mut pool, RANGE, &["b", "c"]);
    let change = arranged(&mut pool, "10.1.0.0/24", &["b", "c"]);
    assert!(change.spec && pool.spec.range == "10.1.0.0/24");
    assert_eq!((nodes_of(&pool), says(&pool, "Ready")), (vec!["b", "c", "", ""], ("True", "PoolUpdated")));
    assert_eq!(pool.status.unwrap().standard.observed_generation, Some(2));
}

#[test]
fn nodeslice_n9_assignments_never_move() {
    let mut pool = pool();
    arranged(&mut pool, RANGE, &["b", "c"]);
    arranged(&mut pool, RANGE, &["a", "b", "c"]);
    assert_eq!(nodes_of(&pool), ["b", "c", "a", ""]);
    arranged(&mut pool, RANGE, &["a", "c"]);
    assert_eq!(nodes_of(&pool), ["", "c", "a", ""]);
    arranged(&mut pool, RANGE, &["a", "c", "d", "e"]);
    assert_eq!(nodes_of(&pool), ["d", "c", "a", "e"]);
}

#[test]
fn nodeslice_n9_nothing_changed_is_the_same_object() {
    let mut pool = pool();
    arranged(&mut pool, RANGE, &["a", "b"]);
    let before = pool.clone();
    let (wanted, nodes) = (wanted(RANGE), ["a".to_owned(), "b".to_owned()]);
    let slices = super::super::division::slices(RANGE, "/26").unwrap();
    arrange(&mut pool, &wanted, &slices, &nodes, Timestamp::from_second(9).unwrap());
    assert_eq!(pool, before, "at a later time");
}

#[test]
fn nodeslice_n10_nodes_without_a_slice_stall_the_pool() {
    let mut pool = pool();
    let change = arranged(&mut pool, RANGE, &["a", "b", "c", "d", "e", "f"]);
    assert_eq!(change.without_slice, ["e", "f"]);
    assert_eq!((says(&pool, "Stalled"), says(&pool, "Ready").0), (("True", "PoolFull"), "False"));
}

#[test]
fn nodeslice_n11_pool_that_is_full_from_the_start_says_so() {
    let mut pool = pool();
    let change = arranged(&mut pool, RANGE, &["a", "b", "c", "d", "e"]);
    change.is_created(&mut pool, Timestamp::UNIX_EPOCH);
    assert_eq!(says(&pool, "Stalled"), ("True", "PoolFull"));
    let change = arranged(&mut pool, "10.1.0.0/24", &["a", "b", "c", "d", "e"]);
    assert!(change.spec);
    assert_eq!(says(&pool, "Stalled"), ("True", "PoolFull"));
}

#[test]
fn nodeslice_n11_pool_recovers_once_there_is_room() {
    let mut pool = pool();
    arranged(&mut pool, RANGE, &["a", "b", "c", "d", "e"]);
    arranged(&mut pool, RANGE, &["a", "b", "d", "e"]);
    assert_eq!(nodes_of(&pool), ["a", "b", "e", "d"]);
    assert_eq!((stalls(&pool), says(&pool, "Ready")), (false, ("True", "Reconciled")));
}

#[test]
fn nodeslice_n11_status_that_is_missing_is_made_again() {
    let mut pool = pool();
    arranged(&mut pool, RANGE, &["a", "b"]);
    pool.status = None;
    assert_eq!(arranged(&mut pool, RANGE, &["a", "b"]), Change::default());
    assert_eq!((nodes_of(&pool), says(&pool, "Ready").0), (vec!["a", "b", "", ""], "True"));
}

#[test]
fn nodeslice_n12_slices_are_counted() {
    let mut pool = pool();
    arranged(&mut pool, RANGE, &["a", "b", "c"]);
    let status = pool.status.unwrap();
    assert_eq!((status.total_slices, status.assigned_slices, status.free_slices), (4, 3, 1));
}
