//! Maintains the template generation of DaemonSets, formerly a field and now an annotation.

use serde_json::{Map, Value, json};

use crate::object;

/// The annotation with the template generation.
const TEMPLATE_GENERATION: &str = "deprecated.daemonset.template.generation";

/// Sets the annotation with the template generation to 0 if it is missing. This happens when a request is decoded, so the
/// writer of the object becomes the field manager that owns the annotation.
pub(super) fn default_daemon_set(set: &mut Map<String, Value>) {
    let Some(Value::Object(metadata)) = set.get_mut("metadata") else { return };
    if let Value::Object(annotations) = metadata.entry("annotations").or_insert_with(|| json!({})) {
        annotations.entry(TEMPLATE_GENERATION).or_insert_with(|| "0".into());
    }
}

/// Removes the annotation with the template generation from the metadata in a row of a `Table` response, which kube-apiserver
/// doesn't show.
pub(crate) fn remove_template_generation(metadata: &mut Value) {
    let Some(annotations) = metadata.get_mut("annotations").and_then(Value::as_object_mut) else { return };
    annotations.remove(TEMPLATE_GENERATION);
    if annotations.is_empty()
        && let Value::Object(metadata) = metadata
    {
        metadata.remove("annotations");
    }
}

/// Sets the template generation of a new DaemonSet: the value of the client, but at least 1.
pub(super) fn set_initial_template_generation(set: &mut Value) {
    let generation = object::text(set, &["metadata", "annotations", TEMPLATE_GENERATION]).parse::<i64>().unwrap_or(0);
    set_template_generation(set, generation.max(1));
}

/// Sets the template generation of an updated DaemonSet: the old value, incremented if the pod template changed. Ignores
/// the value of the client.
pub(super) fn update_template_generation(new: &mut Value, old: &Value) {
    let old_generation =
        object::text(old, &["metadata", "annotations", TEMPLATE_GENERATION]).parse::<i64>().unwrap_or(1);
    let template = |set: &Value| object::at(set, &["spec", "template"]).cloned();
    let generation = if template(new) == template(old) { old_generation } else { old_generation + 1 };
    set_template_generation(new, generation);
}

/// Writes the template generation to the annotation.
fn set_template_generation(set: &mut Value, generation: i64) {
    object::map_at(set, &["metadata", "annotations"]).insert(TEMPLATE_GENERATION.into(), generation.to_string().into());
}
