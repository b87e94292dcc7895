//! Implements `TaintNodesByCondition`: taints a new Node until it is ready.

use serde_json::{Value, json};

use crate::{
    admission::{Operation, Review},
    object,
};

pub(crate) fn mutate(review: &mut Review<'_>) {
    if !review.writes(Operation::Create, "", "nodes") {
        return;
    }
    let taint = json!({"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"});
    let taints = object::map_at(&mut review.object, &["spec"]).entry("taints").or_insert_with(|| json!([]));
    if taints.is_null() {
        *taints = json!([]);
    }
    let same = |own: &Value| own["key"] == taint["key"] && own["effect"] == taint["effect"];
    if let Some(taints) = taints.as_array_mut()
        && !taints.iter().any(same)
    {
        taints.push(taint);
    }
}
