//! Sets the defaults and the finalizer of Namespaces.

use serde_json::{Map, Value, json};

use crate::object;

/// The label that lets selectors match a namespace by its name.
const NAME_LABEL: &str = "kubernetes.io/metadata.name";
/// The finalizer that holds a namespace until its contents are deleted.
const FINALIZER: &str = "kubernetes";

/// Sets the label with the namespace's own name (upstream: `SetDefaults_Namespace`).
pub(super) fn default_namespace(namespace: &mut Map<String, Value>) {
    let Some(Value::Object(metadata)) = namespace.get_mut("metadata") else { return };
    let Some(name) = metadata.get("name").cloned() else { return };
    if let Value::Object(labels) = metadata.entry("labels").or_insert_with(|| json!({})) {
        labels.insert(NAME_LABEL.into(), name);
    }
}

/// Adds the finalizer `kubernetes` to the spec of a new namespace, and sets its name label, since the name may have been
/// generated after defaulting.
pub(super) fn prepare_create(namespace: &mut Value) {
    if let Value::Object(fields) = namespace {
        default_namespace(fields);
    }
    let finalizers = object::map_at(namespace, &["spec"]).entry("finalizers").or_insert_with(|| json!([]));
    if let Value::Array(finalizers) = finalizers
        && !finalizers.iter().any(|finalizer| finalizer == FINALIZER)
    {
        finalizers.push(FINALIZER.into());
    }
}
