//! DaemonSets: the template generation, once a field and now an annotation.

use serde_json::{Map, Value, json};

use crate::object;

const COUNT: &str = "deprecated.daemonset.template.generation";

/// The count is there before anybody counts, and so becomes a field of who writes the object.
pub(super) fn default(set: &mut Map<String, Value>) {
    let Some(Value::Object(metadata)) = set.get_mut("metadata") else { return };
    if let Value::Object(annotations) = metadata.entry("annotations").or_insert_with(|| json!({})) {
        annotations.entry(COUNT).or_insert_with(|| "0".into());
    }
}

/// The metadata as tables show it, where nothing tells of the count.
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

/// A new template is counted; nobody else writes the count.
pub(super) fn count(new: &mut Value, old: &Value) {
    let held = object::text(old, &["metadata", "annotations", COUNT]).parse::<i64>().unwrap_or(1);
    let template = |set: &Value| object::at(set, &["spec", "template"]).cloned();
    let counted = if template(new) == template(old) { held } else { held + 1 };
    write(new, counted);
}

fn write(set: &mut Value, count: i64) {
    object::map_at(set, &["metadata", "annotations"]).insert(COUNT.into(), count.to_string().into());
}
