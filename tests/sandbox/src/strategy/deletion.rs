//! How objects of a kind are deleted.

use serde_json::Value;

use crate::{kind::Kind, object};

/// The time of grace that a deletion gives.
pub(crate) fn grace_period(kind: &Kind, object: &Value, wanted: Option<i64>) -> i64 {
    if !kind.is("", "pods") {
        return 0;
    }
    // A Pod that was never bound to a node has nobody to wait for.
    let unbound = object::text(object, &["spec", "nodeName"]).is_empty();
    let ended = matches!(object::text(object, &["status", "phase"]), "Succeeded" | "Failed");
    let own = object::number(object, &["spec", "terminationGracePeriodSeconds"]).unwrap_or(30);
    if unbound || ended { 0 } else { wanted.unwrap_or(own) }
}

/// Whether something besides finalizers keeps a deleted object: a namespace has finalizers in its spec.
pub(crate) fn holds_deleted(kind: &Kind, object: &Value) -> bool {
    let finalizers = object::at(object, &["spec", "finalizers"]).and_then(Value::as_array);
    kind.is("", "namespaces") && finalizers.is_some_and(|finalizers| !finalizers.is_empty())
}

/// Whether a deletion is answered with the object that is gone, not with a `Status`.
pub(crate) fn answers_deleted_object(kind: &Kind) -> bool {
    const OBJECTS: [&str; 4] = ["pods", "services", "serviceaccounts", "persistentvolumeclaims"];
    kind.group.is_empty() && OBJECTS.contains(&kind.plural.as_str())
}
