//! Validates StorageClasses and PriorityClasses.

use super::{
    at::{At, Causes},
    name::{self, NameRule},
};

/// Beyond it there are only the classes of the system.
const HIGHEST: i64 = 1_000_000_000;
const SYSTEM: [&str; 2] = ["system-node-critical", "system-cluster-critical"];

pub(super) fn storage(class: &At<'_>, causes: &mut Causes) {
    let provisioner = class.child("provisioner");
    if provisioner.is_empty() {
        provisioner.required(causes, "");
    } else if let Some(why) = name::fault(NameRule::Qualified, &provisioner.text().to_lowercase()) {
        provisioner.invalid(causes, &why);
    }
    class.child("reclaimPolicy").if_one_of(causes, &["Delete", "Retain"]);
    class.child("volumeBindingMode").one_of(causes, &["Immediate", "WaitForFirstConsumer"]);
}

pub(super) fn storage_update(new: &At<'_>, old: &At<'_>, causes: &mut Causes) {
    for kept in ["parameters", "provisioner", "reclaimPolicy", "volumeBindingMode"] {
        new.child(kept).immutable(causes, &old.child(kept));
    }
}

pub(super) fn priority(class: &At<'_>, causes: &mut Causes) {
    let (named, value) = (class.at(&["metadata", "name"]), class.child("value"));
    if named.text().starts_with("system-") {
        if !SYSTEM.contains(&named.text()) {
            let why = "priority class names with 'system-' prefix are reserved for system use only";
            let name = named.text();
            named.forbidden(causes, &format!("{why}. error: {name} is not a known system priority class"));
        }
    } else if value.number().is_some_and(|value| value > HIGHEST) {
        let why = format!("maximum allowed value of a user defined priority is {HIGHEST}");
        value.forbidden(causes, &why);
    }
    class.child("preemptionPolicy").if_one_of(causes, &["Never", "PreemptLowerPriority"]);
}

pub(super) fn priority_update(new: &At<'_>, old: &At<'_>, causes: &mut Causes) {
    let (value, policy) = (new.child("value"), new.child("preemptionPolicy"));
    if value.value != old.child("value").value {
        value.forbidden(causes, "may not be changed in an update.");
    }
    policy.immutable(causes, &old.child("preemptionPolicy"));
}
