//! Defines the deletion rules of the kinds: grace periods, default propagation, warnings.

use serde_json::Value;

use crate::{call::Propagation, kind::Kind, object, request::ResourceRequest};

/// Returns whether deletions of the kind have a grace period; only Pods have one.
pub(super) fn is_graceful(kind: &Kind) -> bool {
    kind.is("", "pods")
}

/// Returns the grace period for the deletion of a Pod, in seconds: the requested period, else `terminationGracePeriodSeconds`; 0 for a Pod
/// that is not bound to a node or has finished.
pub(super) fn grace_period(pod: &Value, requested: Option<i64>) -> i64 {
    // A Pod that is unbound or finished has no running containers to stop.
    let is_unbound = object::text(pod, &["spec", "nodeName"]).is_empty();
    let is_finished = matches!(object::text(pod, &["status", "phase"]), "Succeeded" | "Failed");
    let default_period = object::number(pod, &["spec", "terminationGracePeriodSeconds"]).unwrap_or(30);
    if is_unbound || is_finished { 0 } else { requested.unwrap_or(default_period) }
}

/// Returns the default propagation policy of a kind: `Orphan` for kinds that are older than garbage collection, and `None` for all others,
/// whose dependents are deleted in the background.
pub(super) fn default_propagation(kind: &Kind) -> Option<Propagation> {
    (kind.is("batch", "jobs") || kind.is("", "replicationcontrollers")).then_some(Propagation::Orphan)
}

/// Returns whether the garbage collector handles deletions of the kind.
pub(super) fn is_collected(kind: &Kind) -> bool {
    !kind.is("", "events") && !kind.is("events.k8s.io", "events")
}

/// Returns whether the response to a deletion that removes an object of the kind contains the object instead of a `Status`.
pub(super) fn returns_object(kind: &Kind) -> bool {
    const OBJECTS: [&str; 7] = [
        "pods",
        "services",
        "serviceaccounts",
        "persistentvolumeclaims",
        "persistentvolumes",
        "podtemplates",
        "resourcequotas",
    ];
    let in_group = ["resource.k8s.io", "storage.k8s.io"].contains(&kind.group.as_str()) && kind.custom().is_none();
    OBJECTS.iter().any(|plural| kind.is("", plural)) || in_group && kind.plural != "csistoragecapacities"
}

/// Returns the warning for the deletion of a Job without a propagation policy, which orphans its Pods.
pub(super) fn warning(kind: &Kind, propagation: Option<Propagation>) -> Option<String> {
    let why = "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning";
    (kind.is("batch", "jobs") && propagation.is_none()).then(|| why.to_owned())
}

/// Returns whether an object is terminating and has neither finalizers nor a grace period left, so that a write of this state removes it.
pub(crate) fn is_deletion_complete(request: ResourceRequest<'_>, object: &Value) -> bool {
    if !object::is_deleting(object) {
        return false;
    }
    if request.kind.is("", "namespaces") {
        return !has_finalizers(object);
    }
    let grace = object::number(object, &["metadata", "deletionGracePeriodSeconds"]);
    object::finalizers(object).is_empty() && grace.unwrap_or(0) == 0
}

/// Returns whether a namespace still has finalizers, in its spec or its metadata.
pub(super) fn has_finalizers(namespace: &Value) -> bool {
    let spec_finalizers = object::at(namespace, &["spec", "finalizers"]).and_then(Value::as_array);
    spec_finalizers.is_some_and(|spec_finalizers| !spec_finalizers.is_empty())
        || !object::finalizers(namespace).is_empty()
}
