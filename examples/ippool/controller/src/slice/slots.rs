//! Assigns slices to nodes.

use std::collections::HashSet;

use ippool_api::{NodeSliceAllocation, NodeSlicePool};
use k8s_openapi::jiff::Timestamp;

use super::config::Wanted;

/// The changes of a pool, except for its conditions.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Change {
    /// Whether the range or the slice size changed.
    pub(super) spec: bool,
    /// The nodes without a free slice.
    pub(super) without_slice: Vec<String>,
}

impl Change {
    /// Reports a new pool in the conditions, unless there is an error.
    pub(super) fn is_created(&self, pool: &mut NodeSlicePool, now: Timestamp) {
        let generation = pool.metadata.generation.unwrap_or_default();
        if self.without_slice.is_empty()
            && let Some(status) = &mut pool.status
        {
            status.standard.ready("PoolCreated", "the pool was created and divided among the nodes", generation, now);
        }
    }
}

/// Updates a pool. Assignments of existing nodes stay. If the slices have changed or are missing, all slices are assigned
/// again.
pub(super) fn arrange(
    pool: &mut NodeSlicePool,
    wanted: &Wanted,
    slices: &[String],
    nodes: &[String],
    now: Timestamp,
) -> Change {
    let spec = pool.spec.range != wanted.range || pool.spec.slice_size != wanted.slice_size;
    if spec {
        (pool.spec.range, pool.spec.slice_size) = (wanted.range.clone(), wanted.slice_size.clone());
    }
    // A write of the spec increases the generation.
    let generation = pool.metadata.generation.unwrap_or_default() + i64::from(spec);
    let status = pool.status.get_or_insert_default();
    let slots = &mut status.allocations;
    if !slots.iter().map(|slot| &slot.slice_range).eq(slices) {
        let empty = |slice: &String| NodeSliceAllocation { node_name: String::new(), slice_range: slice.clone() };
        *slots = slices.iter().map(empty).collect();
    }
    let without_slice = assign(slots, nodes);
    let assigned = slots.iter().filter(|slot| !slot.node_name.is_empty()).count();
    let number = |count: usize| i32::try_from(count).unwrap_or(i32::MAX);
    (status.total_slices, status.assigned_slices) = (number(slots.len()), number(assigned));
    status.free_slices = number(slots.len() - assigned);
    let standard = &mut status.standard;
    match without_slice.len() {
        0 if spec => standard.ready("PoolUpdated", "the pool was divided again", generation, now),
        0 => standard.ready("Reconciled", "all nodes assigned to slices", generation, now),
        count => standard.stalled("PoolFull", &format!("no free slice for {count} node(s)"), generation, now),
    }
    Change { spec, without_slice }
}

/// Frees the slices of deleted nodes and assigns free slices to nodes without one. Returns the nodes that get none.
fn assign(slots: &mut [NodeSliceAllocation], nodes: &[String]) -> Vec<String> {
    let known: HashSet<&str> = nodes.iter().map(String::as_str).collect();
    let mut assigned = HashSet::new();
    for slot in slots.iter_mut() {
        // A second slice of a node is freed, too.
        if !known.contains(slot.node_name.as_str()) || !assigned.insert(slot.node_name.clone()) {
            slot.node_name.clear();
        }
    }
    let mut free = slots.iter_mut().filter(|slot| slot.node_name.is_empty());
    let mut without = Vec::new();
    for node in nodes.iter().filter(|node| !assigned.contains(*node)) {
        match free.next() {
            Some(slot) => slot.node_name.clone_from(node),
            None => without.push(node.clone()),
        }
    }
    without
}

#[cfg(test)]
mod tests;
