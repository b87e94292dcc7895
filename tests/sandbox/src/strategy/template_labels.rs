//! Sets missing labels of a workload, such as a Job, to the labels of its pod template.

use serde_json::{Map, Value};

/// Returns the labels of the pod template of a workload; `None` if it has none.
pub(super) fn template_labels(workload: &Map<String, Value>) -> Option<Value> {
    let labels = workload.get("spec")?.pointer("/template/metadata/labels")?;
    labels.as_object().is_some_and(|labels| !labels.is_empty()).then(|| labels.clone())
}

/// Sets the labels of an object if it has none.
pub(super) fn default_labels(object: &mut Map<String, Value>, labels: Value) {
    if let Some(Value::Object(metadata)) = object.get_mut("metadata") {
        metadata.entry("labels").or_insert(labels);
    }
}
