//! Identifies the objects that a driver returns for an application by kind, namespace and name, and selects those from which the CD system
//! deploys, such as the `Application` of Argo CD.

use std::collections::BTreeMap;

use opgen::{Kind, cd::ApplicationSpec};
use serde_json::Value;

use crate::object::{group, label, text};

/// The identity of an object in a cluster.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ObjectId {
    /// The group and the kind: `apps/Deployment`.
    kind: String,
    /// Empty for a cluster-scoped object.
    pub(super) namespace: String,
    pub(super) name: String,
}

/// Returns the identity of an object of an application. An object without a namespace gets the namespace of the application's owner.
pub(super) fn object_id(object: &Value, spec: &ApplicationSpec) -> ObjectId {
    let own = Some(text(object, "/metadata/namespace")).filter(|namespace| !namespace.is_empty());
    let namespace = own.or(spec.owner_namespace.as_deref()).unwrap_or_default();
    let kind = format!("{}/{}", group(object), text(object, "/kind"));
    ObjectId { kind, namespace: namespace.to_owned(), name: text(object, "/metadata/name").to_owned() }
}

/// Returns the name of an object for messages: its kind, namespace and name, or its position in the list if the kind or the name is
/// missing.
pub(super) fn object_label(object: &Value, position: usize) -> String {
    let is_named = !text(object, "/kind").is_empty() && !text(object, "/metadata/name").is_empty();
    if is_named { label(object) } else { format!("object {}", position + 1) }
}

/// Returns whether an object is of a kind in the kind's version.
pub(super) fn is_of_kind(object: &Value, kind: &Kind) -> bool {
    text(object, "/apiVersion") == kind.api_version() && text(object, "/kind") == kind.kind
}

/// Returns the objects of `kind` among the objects of an application, by identity. `kind` is the one from whose objects the CD system
/// deploys, such as the `Application` of Argo CD; without it, the result is empty.
pub(super) fn deploying_objects<'a>(
    objects: &'a [Value],
    spec: &ApplicationSpec,
    kind: Option<&Kind>,
) -> BTreeMap<ObjectId, &'a Value> {
    let deploys = |object: &&Value| kind.is_some_and(|kind| is_of_kind(object, kind));
    objects.iter().filter(deploys).map(|object| (object_id(object, spec), object)).collect()
}

/// Returns a value without the map entries that are null at any depth; nulls in lists stay. The operator applies objects in this form.
pub(super) fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(map) => {
            let fields = map.into_iter().filter(|(_, value)| !value.is_null());
            Value::Object(fields.map(|(name, value)| (name, without_nulls(value))).collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(without_nulls).collect()),
        other => other,
    }
}
