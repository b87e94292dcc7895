//! Validates the defaults of a schema against the schema itself.

use serde_json::Value;

use crate::{failure::Cause, schema};

/// What is wrong with the defaults of a schema.
pub(super) fn check(written: &Value, place: &str) -> Vec<Cause> {
    let mut causes = Vec::new();
    walk(written, place, &mut causes);
    causes
}

fn walk(written: &Value, place: &str, causes: &mut Vec<Cause>) {
    if !written.is_object() {
        return;
    }
    if let Some(default) = written.get("default").filter(|default| !default.is_null()) {
        let place = format!("{place}.default");
        let mut pruned = default.clone();
        if schema::prune_part(written, &mut pruned).is_empty() {
            schema::default_part(written, &mut pruned);
            causes.extend(schema::validate_part(written, &pruned, &place));
        } else {
            causes.push(Cause::invalid(place, default, "must not have unknown fields"));
        }
    }
    for (name, property) in written["properties"].as_object().into_iter().flatten() {
        walk(property, &format!("{place}.properties[{name}]"), causes);
    }
    walk(&written["items"], &format!("{place}.items"), causes);
    walk(&written["additionalProperties"], &format!("{place}.additionalProperties"), causes);
}
