//! Validates StorageClasses and PriorityClasses.

use super::{
    field::{Causes, Field},
    name::{self, NameRule},
};

/// The maximum value of a user-defined PriorityClass (upstream: `HighestUserDefinablePriority`).
const MAX_USER_PRIORITY: i64 = 1_000_000_000;
/// The PriorityClasses that the system defines; all others may not have the prefix `system-`.
const SYSTEM_CLASSES: [&str; 2] = ["system-node-critical", "system-cluster-critical"];

/// Validates a StorageClass: provisioner, reclaim policy and volume binding mode.
pub(super) fn validate_storage_class(class: &Field<'_>, causes: &mut Causes) {
    let provisioner = class.child("provisioner");
    if provisioner.is_empty() {
        provisioner.required(causes, "");
    } else if let Some(detail) = name::violation(NameRule::Qualified, &provisioner.text().to_lowercase()) {
        provisioner.invalid(causes, &detail);
    }
    class.child("reclaimPolicy").optional_enum(causes, &["Delete", "Retain"]);
    class.child("volumeBindingMode").required_enum(causes, &["Immediate", "WaitForFirstConsumer"]);
}

/// Validates that an update of a StorageClass changes no immutable field.
pub(super) fn validate_storage_class_update(new: &Field<'_>, old: &Field<'_>, causes: &mut Causes) {
    for field in ["parameters", "provisioner", "reclaimPolicy", "volumeBindingMode"] {
        new.child(field).immutable(causes, &old.child(field));
    }
}

/// Validates a PriorityClass: only the built-in classes may have a name that starts with `system-`, or a value above the maximum.
pub(super) fn validate_priority_class(class: &Field<'_>, causes: &mut Causes) {
    let (name_field, value) = (class.nested(&["metadata", "name"]), class.child("value"));
    if name_field.text().starts_with("system-") {
        if !SYSTEM_CLASSES.contains(&name_field.text()) {
            let detail = "priority class names with 'system-' prefix are reserved for system use only";
            let name = name_field.text();
            name_field.forbidden(causes, &format!("{detail}. error: {name} is not a known system priority class"));
        }
    } else if value.number().is_some_and(|value| value > MAX_USER_PRIORITY) {
        let detail = format!("maximum allowed value of a user defined priority is {MAX_USER_PRIORITY}");
        value.forbidden(causes, &detail);
    }
    class.child("preemptionPolicy").optional_enum(causes, &["Never", "PreemptLowerPriority"]);
}

/// Validates that an update of a PriorityClass changes neither value nor preemption policy.
pub(super) fn validate_priority_class_update(new: &Field<'_>, old: &Field<'_>, causes: &mut Causes) {
    let (value, policy) = (new.child("value"), new.child("preemptionPolicy"));
    if value.value != old.child("value").value {
        value.forbidden(causes, "may not be changed in an update.");
    }
    policy.immutable(causes, &old.child("preemptionPolicy"));
}
