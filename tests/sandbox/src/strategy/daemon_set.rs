//! Maintains the template generation of DaemonSets, formerly a field and now an annotation.

use serde_json::{Map, Value, json};

use crate::object;

const COUNT: &str = "deprecated.daemonset.template.generation";

/// Sets the annotation already on decoding; therefore the writer of the object owns it.
pub(super) fn default(set: &mut Map<String, Value>) {
    let Some(Value::Object(metadata)) = set.get_mut("metadata") else { return };
    if let Value::Object(annotations) = metadata.entry("annotations").or_insert_with(|| json!({})) {
        annotations.entry(COUNT).or_insert_with(|| "0".into());
    }
}

/// Returns the metadata for tables, which don't show the annotation.
pub(crate) fn without_count(metadata: &mut Value) {
    let Some(annotations) = metadata.get_mut("annotations").and_then(Value::as_object_mut) else { return };
    annotations.remove(COUNT);
    if annotations.is_empty()
        && let Value::Object(metadata) = metadata
    {
        metadata.remove("annotations");
    }
}

pub(super) fn begin(set: &mut Value) {
    let held = object::text(set, &["metadata", "annotations", COUNT]).parse::<i64>().unwrap_or(0);
    write(set, held.max(1));
}

/// Increments the count for a new template; a client can't write it.
pub(super) fn count(new: &mut Value, old: &Value) {
    let held = object::text(old, &["metadata", "annotations", COUNT]).parse::<i64>().unwrap_or(1);
    let template = |set: &Value| object::at(set, &["spec", "template"]).cloned();
    let counted = if template(new) == template(old) { held } else { held + 1 };
    write(new, counted);
}

fn write(set: &mut Value, count: i64) {
    object::map_at(set, &["metadata", "annotations"]).insert(COUNT.into(), count.to_string().into());
}
