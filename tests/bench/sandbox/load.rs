//! What is written and asked: config maps of half a kilobyte.

use bytes::Bytes;
use serde_json::json;

/// How many objects there are.
pub(crate) const OBJECTS: usize = 10_000;

/// How many watch them.
pub(crate) const WATCHERS: usize = 20;

/// `/api/v1/namespaces/NAMESPACE/configmaps`
pub(crate) fn maps(namespace: &str) -> String {
    format!("/api/v1/namespaces/{namespace}/configmaps")
}

/// The name of an object by its number.
pub(crate) fn name(number: usize) -> String {
    format!("m{number:06}")
}

/// A new object.
pub(crate) fn object(number: usize) -> Bytes {
    let data = json!({"key": "value", "text": "x".repeat(500), "number": number.to_string()});
    let metadata = json!({"name": name(number), "labels": {"app": "bench"}});
    json!({"kind": "ConfigMap", "apiVersion": "v1", "metadata": metadata, "data": data}).to_string().into()
}

/// A merge patch that changes it.
pub(crate) fn patch(value: usize) -> Bytes {
    json!({"data": {"key": value.to_string()}}).to_string().into()
}

/// What somebody else applies to it; in each round other values.
pub(crate) fn applied(number: usize, round: usize) -> Bytes {
    let data = json!({"applied": format!("{number}-{round}")});
    json!({"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": name(number)}, "data": data})
        .to_string()
        .into()
}
