//! Validates updates of Pods, which may change few fields.

use serde_json::{Map, Value};

use super::{
    at::{At, Causes},
    container,
};

/// The fields of a container that may change.
const CONTAINER: [&str; 1] = ["image"];
/// The fields of the spec that are looked at one by one.
const LOOKED_AT: [&str; 4] = ["activeDeadlineSeconds", "tolerations", "schedulingGates", "ephemeralContainers"];

pub(super) fn update(new: &At<'_>, old: &At<'_>, causes: &mut Causes) {
    for containers in ["containers", "initContainers"] {
        let (is, was) = (new.child(containers), old.child(containers));
        if is.items().count() != was.items().count() {
            is.forbidden(causes, "pod updates may not add or remove containers");
            return;
        }
        for image in is.items().map(|container| container.child("image")) {
            container::image(&image, causes);
        }
    }
    if !deadline(&new.child("activeDeadlineSeconds"), &old.child("activeDeadlineSeconds"), causes) {
        return;
    }
    only_more(&new.child("tolerations"), &old.child("tolerations"), causes);
    only_fewer(&new.child("schedulingGates"), &old.child("schedulingGates"), causes);
    let gated = !old.child("schedulingGates").is_empty();
    if fixed(new, gated) != fixed(old, gated) {
        let free = "`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";
        new.forbidden(causes, &format!("pod updates may not change fields other than {free}"));
    }
}

/// A deadline comes nearer only. Tells whether the rest is worth looking at.
fn deadline(new: &At<'_>, old: &At<'_>, causes: &mut Causes) -> bool {
    match (new.number(), old.number()) {
        (Some(is), _) if !(0..=i64::from(i32::MAX)).contains(&is) => {
            new.invalid(causes, "must be between 0 and 2147483647, inclusive");
            false
        }
        (Some(is), Some(was)) if was < is => {
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

fn only_more(new: &At<'_>, old: &At<'_>, causes: &mut Causes) {
    // How long a toleration lasts may change.
    let known = |item: &Value| {
        let mut item = item.clone();
        if let Value::Object(item) = &mut item {
            item.remove("tolerationSeconds");
        }
        item
    };
    let is: Vec<Value> = new.items().map(|item| known(item.value)).collect();
    if !old.items().all(|item| is.contains(&known(item.value))) {
        new.forbidden(causes, "existing toleration can not be modified except its tolerationSeconds");
    }
}

fn only_fewer(new: &At<'_>, old: &At<'_>, causes: &mut Causes) {
    let was: Vec<&Value> = old.items().map(|item| item.value).collect();
    for item in new.items().filter(|item| !was.contains(&item.value)) {
        let why = format!("only deletion is allowed, but found new scheduling gate '{}'", item.child("name").text());
        new.forbidden(causes, &why);
    }
}

/// The spec without what may change.
fn fixed(spec: &At<'_>, gated: bool) -> Map<String, Value> {
    let mut fixed = spec.map().cloned().unwrap_or_default();
    LOOKED_AT.iter().for_each(|field| drop(fixed.remove(*field)));
    if gated {
        fixed.remove("nodeSelector");
    }
    for containers in ["containers", "initContainers"] {
        let listed = fixed.get_mut(containers).and_then(Value::as_array_mut);
        for container in listed.into_iter().flatten().filter_map(Value::as_object_mut) {
            CONTAINER.iter().for_each(|field| drop(container.remove(*field)));
        }
    }
    fixed
}
