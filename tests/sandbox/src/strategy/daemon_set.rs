//! DaemonSets: the count of their templates, which was a field once and is an annotation now.

use serde_json::Value;

use crate::object;

const COUNT: &str = "deprecated.daemonset.template.generation";

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
