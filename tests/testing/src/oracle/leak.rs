//! Reports objects that still exist after the deletion of the sample objects of a test.

use std::collections::BTreeSet;

use serde_json::Value;

use super::case::Case;
use crate::{
    object::{finalizers, is_external, is_same_object, text},
    report::Finding,
    schedule::Propagation,
    snapshot::Entry,
};

/// The objects that each namespace has from its beginning.
const OF_EACH_NAMESPACE: [(&str, &str); 2] = [("ConfigMap", "kube-root-ca.crt"), ("ServiceAccount", "default")];

/// Returns whether an object is one of `namespaces`, or a default object in one of them, such as the ServiceAccount `default`.
fn is_remainder_of(namespaces: &BTreeSet<&str>, object: &Value) -> bool {
    let (kind, name) = (text(object, "/kind"), text(object, "/metadata/name"));
    if kind == "Namespace" {
        return namespaces.contains(name);
    }
    OF_EACH_NAMESPACE.contains(&(kind, name)) && namespaces.contains(text(object, "/metadata/namespace"))
}

/// Returns a finding about the objects that still exist after the samples were deleted, and that should be gone; `None` if there are none,
/// or if the run ended before the deletion. With the propagation policy `Orphan`, only the samples should be gone.
pub(crate) fn leaked_objects(case: &Case<'_>) -> Option<Finding> {
    let after_delete = case.outcome.after_delete.as_ref()?;
    let samples = &case.target.manifests.samples;
    // A CD system does not delete the namespaces that it creates for applications.
    let namespaces = after_delete.namespaces_of_cd_systems();
    let may_stay = |entry: &Entry| {
        if is_remainder_of(&namespaces, &entry.raw) {
            return true;
        }
        let is_sample = samples.iter().any(|sample| is_same_object(sample, &entry.raw));
        entry.may_stay() || case.schedule.propagation == Propagation::Orphan && !is_sample
    };
    let leaked: Vec<_> = after_delete.objects.iter().filter(|(_, entry)| !may_stay(entry)).collect();
    if leaked.is_empty() {
        return None;
    }
    let has_things = leaked.iter().any(|(_, entry)| is_external(&entry.raw));
    let stuck = samples.iter().filter_map(|sample| after_delete.find(sample)).find_map(|object| {
        let finalizers: Vec<&str> = finalizers(object).collect();
        let (kind, name) = (text(object, "/kind"), text(object, "/metadata/name"));
        let is_stuck = !finalizers.is_empty();
        is_stuck.then(|| format!("{kind} {name} still exists with the finalizers {}", Value::from(finalizers)))
    });
    let (problem, hint) = match stuck {
        Some(stuck) => (
            format!("the deletion does not finish: {stuck}"),
            "check what its teardown waits for; remove the finalizer as soon as the children are gone",
        ),
        None if has_things => (
            format!("{} objects are left after the deletion, with things of an external service", leaked.len()),
            "delete the thing unless it is to be retained, remember its id, and let an observation show it until it is gone",
        ),
        None => (
            format!("{} objects are left after the deletion", leaked.len()),
            "give each child an owner reference, or delete it in the teardown and store the finalizer before the first create",
        ),
    };
    Some(case.finding(problem, hint, leaked.into_iter().map(|(key, _)| format!("+ {key}")).collect()))
}
