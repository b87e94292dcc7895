//! Compares two schemas, field by field.

use serde_json::Value;

use super::{
    change::{Breaks, Changes},
    field::compare_fields,
    limit::compare_limits,
    merge::compare_merging,
    rule::compare_rules,
};
use crate::{
    flag,
    keyword::{INT_OR_STRING, PRESERVE_UNKNOWN_FIELDS},
    text,
};

/// The keywords that combine schemas.
const COMBINATIONS: [&str; 4] = ["allOf", "anyOf", "oneOf", "not"];

/// Compares the schemas of a version.
pub(super) fn compare_schemas(old: &Value, new: &Value, changes: &mut Changes) {
    compare_schema(old, new, "", changes);
}

/// Compares the schemas of the field at `path`, and of the fields below it.
pub(super) fn compare_schema(old: &Value, new: &Value, path: &str, changes: &mut Changes) {
    let (before, after) = (type_of(old), type_of(new));
    if before != after {
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

/// Adds the change of a type. Every value of the old type may be one of the new type; then only readers are surprised.
fn add_type(path: &str, (before, after): (&str, &str), changes: &mut Changes) {
    let is_wider =
        matches!((before, after), ("integer", "number") | ("integer" | "string", EITHER)) || after.is_empty();
    let name = |kind: &str| if kind.is_empty() { "any value".to_owned() } else { format!("`{kind}`") };
    let (breaks, consequence) = if is_wider {
        (Breaks::CLIENTS, "a client that reads it must know the new values")
    } else {
        (Breaks::BOTH, "values of before are invalid")
    };
    changes.add(root(path), breaks, format!("its type was {} and is {}: {consequence}", name(before), name(after)));
}

/// Returns the path of a field; `.` for the object itself.
pub(super) fn root(path: &str) -> &str {
    if path.is_empty() { "." } else { path }
}

fn compare_nullable(old: &Value, new: &Value, path: &str, changes: &mut Changes) {
    match (flag(old, "nullable"), flag(new, "nullable")) {
        (true, false) => changes.add(root(path), Breaks::BOTH, "it may no longer be null"),
        (false, true) => {
            changes.add(root(path), Breaks::CLIENTS, "it may be null, which a client that reads it must know")
        }
        _ => {}
    }
}

/// Compares the combinations of schemas. Whether a changed one admits less can't be seen, so it counts as one that does.
fn compare_combinations(old: &Value, new: &Value, path: &str, changes: &mut Changes) {
    for key in COMBINATIONS {
        match (old.get(key), new.get(key)) {
            (None, Some(_)) => {
                changes.add(root(path), Breaks::BOTH, format!("`{key}` is added, which may refuse values of before"))
            }
            (Some(_), None) => {
                changes.add(root(path), Breaks::NOTHING, format!("`{key}` is removed: more values are valid"))
            }
            (Some(before), Some(after)) if before != after => {
                changes.add(root(path), Breaks::BOTH, format!("`{key}` differs, which may refuse values of before"));
            }
            _ => {}
        }
    }
}

fn compare_unknown_fields(old: &Value, new: &Value, path: &str, changes: &mut Changes) {
    match (flag(old, PRESERVE_UNKNOWN_FIELDS), flag(new, PRESERVE_UNKNOWN_FIELDS)) {
        (true, false) => changes.add(root(path), Breaks::BOTH, "fields that the schema does not name are removed"),
        (false, true) => changes.add(root(path), Breaks::NOTHING, "fields that the schema does not name are kept"),
        _ => {}
    }
}
