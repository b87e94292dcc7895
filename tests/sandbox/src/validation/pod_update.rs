//! Validates updates of Pods, which may change few fields.

use serde_json::{Map, Value};

use super::{
    container,
    field::{Causes, Field},
};

/// The fields of a container that may change.
const MUTABLE_CONTAINER_FIELDS: [&str; 1] = ["image"];
/// The fields of the spec that have rules of their own and are not compared.
const SEPARATELY_VALIDATED: [&str; 4] =
    ["activeDeadlineSeconds", "tolerations", "schedulingGates", "ephemeralContainers"];

/// Validates an update of the spec of a Pod (upstream: `ValidatePodUpdate`).
pub(super) fn validate_pod_update(new: &Field<'_>, old: &Field<'_>, causes: &mut Causes) {
    for containers in ["containers", "initContainers"] {
        let (new_list, old_list) = (new.child(containers), old.child(containers));
        if new_list.items().count() != old_list.items().count() {
            new_list.forbidden(causes, "pod updates may not add or remove containers");
            return;
        }
        for image in new_list.items().map(|container| container.child("image")) {
            container::validate_image(&image, causes);
        }
    }
    if !validate_deadline_update(&new.child("activeDeadlineSeconds"), &old.child("activeDeadlineSeconds"), causes) {
        return;
    }
    validate_tolerations_update(&new.child("tolerations"), &old.child("tolerations"), causes);
    validate_scheduling_gates_update(&new.child("schedulingGates"), &old.child("schedulingGates"), causes);
    let gated = !old.child("schedulingGates").is_empty();
    if immutable_fields(new, gated) != immutable_fields(old, gated) {
        let mutable = "`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";
        new.forbidden(causes, &format!("pod updates may not change fields other than {mutable}"));
    }
}

/// Validates that `activeDeadlineSeconds` does not increase and is not removed. Returns whether the caller continues with the other checks:
/// as upstream, not after an invalid number.
fn validate_deadline_update(new: &Field<'_>, old: &Field<'_>, causes: &mut Causes) -> bool {
    match (new.number(), old.number()) {
        (Some(new_seconds), _) if !(0..=i64::from(i32::MAX)).contains(&new_seconds) => {
            new.invalid(causes, "must be between 0 and 2147483647, inclusive");
            false
        }
        (Some(new_seconds), Some(old_seconds)) if old_seconds < new_seconds => {
            new.invalid(causes, "must be less than or equal to previous value");
            false
        }
        (None, Some(_)) => {
            new.invalid(causes, "must not update from a positive integer to nil value");
            true
        }
        _ => true,
    }
}

/// Validates that no toleration is removed. Only `tolerationSeconds` of a toleration may change.
fn validate_tolerations_update(new: &Field<'_>, old: &Field<'_>, causes: &mut Causes) {
    let without_seconds = |item: &Value| {
        let mut item = item.clone();
        if let Value::Object(item) = &mut item {
            item.remove("tolerationSeconds");
        }
        item
    };
    let new_tolerations: Vec<Value> = new.items().map(|item| without_seconds(item.value)).collect();
    if !old.items().all(|item| new_tolerations.contains(&without_seconds(item.value))) {
        new.forbidden(causes, "existing toleration can not be modified except its tolerationSeconds");
    }
}

/// Validates that no scheduling gate is added.
fn validate_scheduling_gates_update(new: &Field<'_>, old: &Field<'_>, causes: &mut Causes) {
    let old_gates: Vec<&Value> = old.items().map(|item| item.value).collect();
    for item in new.items().filter(|item| !old_gates.contains(&item.value)) {
        let detail = format!("only deletion is allowed, but found new scheduling gate '{}'", item.child("name").text());
        new.forbidden(causes, &detail);
    }
}

/// Returns the fields of the spec that may not change. A Pod with scheduling gates may change its node selector.
fn immutable_fields(spec: &Field<'_>, gated: bool) -> Map<String, Value> {
    let mut fields = spec.map().cloned().unwrap_or_default();
    SEPARATELY_VALIDATED.iter().for_each(|key| drop(fields.remove(*key)));
    if gated {
        fields.remove("nodeSelector");
    }
    for list in ["containers", "initContainers"] {
        let containers = fields.get_mut(list).and_then(Value::as_array_mut);
        for container in containers.into_iter().flatten().filter_map(Value::as_object_mut) {
            MUTABLE_CONTAINER_FIELDS.iter().for_each(|key| drop(container.remove(*key)));
        }
    }
    fields
}
