//! Compares two schemas of a field by how server-side apply merges the list or map that they describe, and by whether the value is an
//! embedded Kubernetes object.

use serde_json::Value;

use super::{
    change::{Breaks, Changes},
    path::display_path,
};
use crate::{flag, keyword::EMBEDDED_RESOURCE, text};

/// Compares the merge rules of two schemas, and whether the value is an embedded Kubernetes object.
pub(super) fn compare_merging(old: &Value, new: &Value, path: &str, changes: &mut Changes) {
    compare_list_merging(old, new, path, changes);
    compare_map_merging(old, new, path, changes);
    compare_embedding(old, new, path, changes);
}

/// Compares how server-side apply merges a list: its type, and the keys of its items.
fn compare_list_merging(old: &Value, new: &Value, path: &str, changes: &mut Changes) {
    let [before, after] = [old, new].map(|schema| text_or(schema, "x-kubernetes-list-type", "atomic"));
    if before != after {
        // The items of a set or map are unique, which those of an atomic list need not be.
        let breaks = if after == "atomic" { Breaks::CLIENTS } else { Breaks::BOTH };
        let uniqueness = uniqueness_note(after);
        let message =
            format!("the list was `{before}` and is `{after}`: server-side apply merges it differently{uniqueness}");
        changes.add(display_path(path), breaks, message);
    } else if old["x-kubernetes-list-map-keys"] != new["x-kubernetes-list-map-keys"] {
        let message = "the keys of the list differ: items that were different may be equal";
        changes.add(display_path(path), Breaks::BOTH, message);
    }
}

/// Compares how server-side apply merges a map. The same objects are valid with both types, so a change breaks only clients.
fn compare_map_merging(old: &Value, new: &Value, path: &str, changes: &mut Changes) {
    let [before, after] = [old, new].map(|schema| text_or(schema, "x-kubernetes-map-type", "granular"));
    if before != after {
        let message = format!("the map was `{before}` and is `{after}`: server-side apply merges it differently");
        changes.add(display_path(path), Breaks::CLIENTS, message);
    }
}

/// Compares whether the value is a whole object, with `apiVersion`, `kind` and `metadata`.
fn compare_embedding(old: &Value, new: &Value, path: &str, changes: &mut Changes) {
    let message = match (flag(old, EMBEDDED_RESOURCE), flag(new, EMBEDDED_RESOURCE)) {
        (false, true) => "it is a whole object: `apiVersion` and `kind` are required",
        (true, false) => "it is no longer a whole object: its metadata may be removed",
        _ => return,
    };
    changes.add(display_path(path), Breaks::BOTH, message);
}

/// Returns the text of a keyword, or the default of a schema without the keyword.
fn text_or<'a>(schema: &'a Value, key: &str, default: &'a str) -> &'a str {
    match text(schema, key) {
        "" => default,
        value => value,
    }
}

/// Returns the end of a message: what a list type requires of the items.
fn uniqueness_note(list_type: &str) -> &'static str {
    match list_type {
        "set" => ", and its items must be unique",
        "map" => ", and the keys of its items must be unique",
        _ => "",
    }
}
