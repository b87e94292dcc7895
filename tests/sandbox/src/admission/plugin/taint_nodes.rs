//! Implements `TaintNodesByCondition`: taints a new Node until it is ready.

use serde_json::{Value, json};

use crate::{
    admission::{Operation, Review},
    object,
};

/// Adds the taint `node.kubernetes.io/not-ready:NoSchedule` to a new Node, unless the Node already has it.
pub(crate) fn mutate(review: &mut Review<'_>) {
    if !review.writes(Operation::Create, "", "nodes") {
        return;
    }
    let taint = json!({"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"});
    let taints = object::map_at(&mut review.object, &["spec"]).entry("taints").or_insert_with(|| json!([]));
    if taints.is_null() {
        *taints = json!([]);
    }
    let is_same = |existing: &Value| existing["key"] == taint["key"] && existing["effect"] == taint["effect"];
    if let Some(taints) = taints.as_array_mut()
        && !taints.iter().any(is_same)
    {
        taints.push(taint);
    }
}
