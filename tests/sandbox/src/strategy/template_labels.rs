//! Labels that a workload takes over from its pod template.

use serde_json::{Map, Value};

/// The labels of the template of a workload.
pub(super) fn template_labels(workload: &Map<String, Value>) -> Option<Value> {
    let labels = workload.get("spec")?.pointer("/template/metadata/labels")?;
    labels.as_object().is_some_and(|labels| !labels.is_empty()).then(|| labels.clone())
}

/// An object without labels takes these.
pub(super) fn default_labels(object: &mut Map<String, Value>, labels: Value) {
    if let Some(Value::Object(metadata)) = object.get_mut("metadata") {
        metadata.entry("labels").or_insert(labels);
    }
}
