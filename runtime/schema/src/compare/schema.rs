//! Compares two schemas, field by field.

use serde_json::Value;

use super::{
    change::{Breaks, Changes},
    limit::compare_limits,
    merge::compare_merging,
    path::display_path,
    presence::{Presence, compare_presence},
    rule::compare_rules,
};
use crate::{
    entries, flag,
    keyword::{INT_OR_STRING, PRESERVE_UNKNOWN_FIELDS},
    list, text,
};

/// The keywords that combine schemas.
const COMBINATIONS: [&str; 4] = ["allOf", "anyOf", "oneOf", "not"];

/// Compares the schemas of a version.
pub(super) fn compare_schemas(old: &Value, new: &Value, changes: &mut Changes) {
    compare_schema(old, new, "", changes);
}

/// Compares the schemas of the field at `path`, and of the fields below it.
fn compare_schema(old: &Value, new: &Value, path: &str, changes: &mut Changes) {
    let (before, after) = (type_of(old), type_of(new));
    if before != after {
        // The other keywords of different types can't be compared.
        return add_type(path, (before, after), changes);
    }
    compare_nullable(old, new, path, changes);
    compare_limits(old, new, path, changes);
    compare_merging(old, new, path, changes);
    compare_rules(old, new, path, changes);
    compare_combinations(old, new, path, changes);
    compare_unknown_fields(old, new, path, changes);
    match before {
        "object" => compare_fields(old, new, path, changes),
        "array" => compare_schema(&old["items"], &new["items"], &format!("{path}[*]"), changes),
        _ => {}
    }
}

/// The type of a value that may be an integer or a string.
const EITHER: &str = "integer or string";

/// Returns the name of the type of a schema; empty if any value is valid.
fn type_of(schema: &Value) -> &str {
    if flag(schema, INT_OR_STRING) { EITHER } else { text(schema, "type") }
}

/// Adds the change of a type. If the new type allows every value of the old one, the change breaks only clients that read the field;
/// otherwise it breaks stored objects, too.
fn add_type(path: &str, (before, after): (&str, &str), changes: &mut Changes) {
    let is_wider =
        matches!((before, after), ("integer", "number") | ("integer" | "string", EITHER)) || after.is_empty();
    let name = |kind: &str| if kind.is_empty() { "any value".to_owned() } else { format!("`{kind}`") };
    let (breaks, consequence) = if is_wider {
        (Breaks::CLIENTS, "a client that reads it must know the new values")
    } else {
        (Breaks::BOTH, "existing values are invalid")
    };
    changes.add(
        display_path(path),
        breaks,
        format!("its type was {} and is {}: {consequence}", name(before), name(after)),
    );
}

/// Compares `nullable`: a field that may no longer be null breaks stored objects, and one that may be null breaks clients that read it.
fn compare_nullable(old: &Value, new: &Value, path: &str, changes: &mut Changes) {
    match (flag(old, "nullable"), flag(new, "nullable")) {
        (true, false) => changes.add(display_path(path), Breaks::BOTH, "it may no longer be null"),
        (false, true) => {
            changes.add(display_path(path), Breaks::CLIENTS, "it may be null, which a client that reads it must know")
        }
        _ => {}
    }
}

/// Compares `allOf`, `anyOf`, `oneOf` and `not`. An added or changed combination counts as breaking, since the comparison can't tell
/// whether it admits fewer values.
fn compare_combinations(old: &Value, new: &Value, path: &str, changes: &mut Changes) {
    for key in COMBINATIONS {
        match (old.get(key), new.get(key)) {
            (None, Some(_)) => changes.add(
                display_path(path),
                Breaks::BOTH,
                format!("`{key}` is added, which may refuse existing values"),
            ),
            (Some(_), None) => {
                changes.add(display_path(path), Breaks::NOTHING, format!("`{key}` is removed: more values are valid"))
            }
            (Some(before), Some(after)) if before != after => {
                changes.add(
                    display_path(path),
                    Breaks::BOTH,
                    format!("`{key}` differs, which may refuse existing values"),
                );
            }
            _ => {}
        }
    }
}

/// Compares whether the API server keeps or removes fields that the schema does not name (`x-kubernetes-preserve-unknown-fields`).
fn compare_unknown_fields(old: &Value, new: &Value, path: &str, changes: &mut Changes) {
    match (flag(old, PRESERVE_UNKNOWN_FIELDS), flag(new, PRESERVE_UNKNOWN_FIELDS)) {
        (true, false) => {
            changes.add(display_path(path), Breaks::BOTH, "fields that the schema does not name are removed")
        }
        (false, true) => {
            changes.add(display_path(path), Breaks::NOTHING, "fields that the schema does not name are kept")
        }
        _ => {}
    }
}

/// Compares the fields of two object schemas.
fn compare_fields(old: &Value, new: &Value, path: &str, changes: &mut Changes) {
    let keeps_unknown = flag(new, PRESERVE_UNKNOWN_FIELDS);
    for (name, before) in entries(old, "properties") {
        let path = format!("{path}.{name}");
        match (new["properties"].get(name), new["additionalProperties"].as_object()) {
            (Some(after), _) => {
                compare_presence(presence(old, name, before), presence(new, name, after), &path, changes);
                compare_schema(before, after, &path, changes);
            }
            // The new schema has the field as an entry of a map.
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

/// Adds the change of a field that the old schema of the object did not name. `object` is the new schema of the object, and `parent` the
/// path of the object, with whether the old schema kept unknown fields.
fn add_new_field(object: &Value, name: &str, schema: &Value, parent: (&str, bool), changes: &mut Changes) {
    let (parent_path, kept_unknown_fields) = parent;
    let path = format!("{parent_path}.{name}");
    if kept_unknown_fields {
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

/// Compares `additionalProperties`: the schemas of the values of a map, and whether the object takes any key.
fn compare_values(old: &Value, new: &Value, path: &str, changes: &mut Changes) {
    match (&old["additionalProperties"], &new["additionalProperties"]) {
        (before, after) if before.is_object() && after.is_object() => {
            compare_schema(before, after, &format!("{path}.*"), changes);
        }
        (before, after) if is_open(before) && !is_open(after) && !flag(new, PRESERVE_UNKNOWN_FIELDS) => {
            changes.add(
                display_path(path),
                Breaks::BOTH,
                "it is no map any more: entries that the schema does not name are lost",
            );
        }
        (before, after) if !is_open(before) && is_open(after) => {
            changes.add(display_path(path), Breaks::NOTHING, "it takes any key");
        }
        _ => {}
    }
}

/// Returns whether this value of `additionalProperties` admits keys that `properties` does not name.
fn is_open(values: &Value) -> bool {
    values.is_object() || *values == true
}
