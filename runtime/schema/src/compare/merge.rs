//! Compares how server-side apply merges lists and maps.

use serde_json::Value;

use super::{
    change::{Breaks, Changes},
    path::root,
};
use crate::{flag, keyword::EMBEDDED_RESOURCE, text};

/// Compares the merge rules of two schemas, and whether the value is a whole object.
pub(super) fn compare_merging(old: &Value, new: &Value, path: &str, changes: &mut Changes) {
    let kind = |schema: &Value, key: &str, usual: &str| match text(schema, key) {
        "" => usual.to_owned(),
        kind => kind.to_owned(),
    };
    let [before, after] = [old, new].map(|schema| kind(schema, "x-kubernetes-list-type", "atomic"));
    if before != after {
        // The items of a set or map are unique, which those of an atomic list need not be.
        let breaks = if after == "atomic" { Breaks::CLIENTS } else { Breaks::BOTH };
        changes.add(
            root(path),
            breaks,
            format!("the list was `{before}` and is `{after}`: applies merge it otherwise{}", unique(&after)),
        );
    } else if old["x-kubernetes-list-map-keys"] != new["x-kubernetes-list-map-keys"] {
        changes.add(root(path), Breaks::BOTH, "the keys of the list differ: items that were different may be equal");
    }
    let [before, after] = [old, new].map(|schema| kind(schema, "x-kubernetes-map-type", "granular"));
    if before != after {
        changes.add(
            root(path),
            Breaks::CLIENTS,
            format!("the map was `{before}` and is `{after}`: applies merge it otherwise"),
        );
    }
    match (flag(old, EMBEDDED_RESOURCE), flag(new, EMBEDDED_RESOURCE)) {
        (false, true) => {
            changes.add(root(path), Breaks::BOTH, "it is a whole object: `apiVersion` and `kind` are required")
        }
        (true, false) => {
            changes.add(root(path), Breaks::BOTH, "it is no whole object any more: its metadata may be removed")
        }
        _ => {}
    }
}

/// Returns what a list type demands of the items.
fn unique(list_type: &str) -> &'static str {
    match list_type {
        "set" => ", and its items must be unique",
        "map" => ", and the keys of its items must be unique",
        _ => "",
    }
}
