//! Compares the fields of an object, and the values of a map.

use serde_json::Value;

use super::{
    change::{Breaks, Changes},
    presence::{Presence, compare_presence},
    schema::{compare_schema, root},
};
use crate::{entries, flag, keyword::PRESERVE_UNKNOWN_FIELDS, list};

/// Compares the fields of two object schemas.
pub(super) fn compare_fields(old: &Value, new: &Value, path: &str, changes: &mut Changes) {
    let keeps_unknown = flag(new, PRESERVE_UNKNOWN_FIELDS);
    for (name, before) in entries(old, "properties") {
        let path = format!("{path}.{name}");
        match (new["properties"].get(name), new["additionalProperties"].as_object()) {
            (Some(after), _) => {
                compare_presence(presence(old, name, before), presence(new, name, after), &path, changes);
                compare_schema(before, after, &path, changes);
            }
            (None, Some(_)) => compare_schema(before, &new["additionalProperties"], &path, changes),
            (None, None) if keeps_unknown => {
                changes.add(path, Breaks::NOTHING, "the schema no longer names the field, but it is kept");
            }
            (None, None) => {
                let message =
                    "the field is removed: stored values are lost, and clients that write it get a warning or an error";
                changes.add(path, Breaks::BOTH, message);
            }
        }
    }
    for (name, after) in entries(new, "properties").filter(|(name, _)| old["properties"].get(name.as_str()).is_none()) {
        add_new_field(new, name, after, (path, flag(old, PRESERVE_UNKNOWN_FIELDS)), changes);
    }
    compare_values(old, new, path, changes);
}

fn is_required(object: &Value, name: &str) -> bool {
    list(object, "required").iter().any(|required| required == name)
}

/// Returns whether a field of an object must be set, and its default.
fn presence<'a>(object: &Value, name: &str, schema: &'a Value) -> Presence<'a> {
    Presence { is_required: is_required(object, name), default: schema.get("default") }
}

/// Adds the change of a field that the old schema did not name. `parent` is the path of its object, and whether the object kept
/// unknown fields.
fn add_new_field(object: &Value, name: &str, schema: &Value, parent: (&str, bool), changes: &mut Changes) {
    let path = format!("{}.{name}", parent.0);
    if parent.1 {
        changes.add(path, Breaks::BOTH, "the schema names the field, which could have any value before");
    } else if is_required(object, name) && schema.get("default").is_none() {
        changes.add(
            path,
            Breaks::BOTH,
            "a required field is added: objects without it are invalid; give it a default, or make it optional",
        );
    } else {
        changes.add(path, Breaks::NOTHING, "the field is added");
    }
}

/// Compares the schemas of the values of a map.
fn compare_values(old: &Value, new: &Value, path: &str, changes: &mut Changes) {
    match (&old["additionalProperties"], &new["additionalProperties"]) {
        (before, after) if before.is_object() && after.is_object() => {
            compare_schema(before, after, &format!("{path}.*"), changes);
        }
        (before, after) if is_open(before) && !is_open(after) && !flag(new, PRESERVE_UNKNOWN_FIELDS) => {
            changes.add(
                root(path),
                Breaks::BOTH,
                "it is no map any more: entries that the schema does not name are lost",
            );
        }
        (before, after) if !is_open(before) && is_open(after) => {
            changes.add(root(path), Breaks::NOTHING, "it takes any key");
        }
        _ => {}
    }
}

/// Returns whether `additionalProperties` admits keys.
fn is_open(values: &Value) -> bool {
    values.is_object() || *values == true
}
