//! Checks list types, map keys and map types, which decide how server-side apply merges.

use serde_json::Value;

use super::super::super::lint::Findings;
use super::super::schema::{field, flag, items, list, text};

/// Checks the list type, map keys and map type of one schema and of its branches.
pub(super) fn check(schema: &Value, path: &str, findings: &mut Findings) {
    check_map_type(schema, path, findings);
    let kind = text(schema, "x-kubernetes-list-type");
    if !kind.is_empty() {
        if schema["type"] != "array" {
            findings.error(path, "`x-kubernetes-list-type` is for lists", "take it away, or make the field a list");
        }
        if !["atomic", "map", "set"].contains(&kind) {
            findings.error(path, format!("`{kind}` is no list type"), "take `atomic`, `map` or `set`");
        }
    }
    if kind != "map" && !list(schema, "x-kubernetes-list-map-keys").is_empty() {
        findings.error(
            path,
            "map keys without `x-kubernetes-list-type: map`",
            "say the list type too, or take the keys away",
        );
    }
    match kind {
        "map" => check_list_map(schema, path, findings),
        "set" => check_set(schema, path, findings),
        _ => {}
    }
    if ["map", "set"].contains(&kind) && flag(&schema["items"], "nullable") {
        findings.error(
            &items(path),
            format!("items of a list of type {kind} can't be null"),
            "take the `Option` off the item",
        );
    }
}

/// Checks `x-kubernetes-map-type`.
fn check_map_type(schema: &Value, path: &str, findings: &mut Findings) {
    let kind = &schema["x-kubernetes-map-type"];
    if kind.is_null() {
        return;
    }
    if schema["type"] != "object" {
        findings.error(path, "`x-kubernetes-map-type` is for objects", "take it away");
    }
    if *kind != "atomic" && *kind != "granular" {
        findings.error(path, format!("{kind} is no map type"), "take `atomic` or `granular`");
    }
}

/// Checks the keys of a list map: required scalar fields of its items.
fn check_list_map(schema: &Value, path: &str, findings: &mut Findings) {
    let keys = list(schema, "x-kubernetes-list-map-keys");
    let item = &schema["items"];
    if keys.is_empty() {
        findings.error(path, "a list of type map needs keys", "say `x-kubernetes-list-map-keys`");
    }
    if item["type"] != "object" {
        findings.error(&items(path), "items of a list of type map are objects", "make the item a struct");
        return;
    }
    for (index, key) in keys.iter().enumerate() {
        let name = key.as_str().unwrap_or_default();
        let key_path = field(&items(path), name);
        let Some(value) = item["properties"].get(name) else {
            findings.error(
                &key_path,
                format!("the map key `{name}` is no field of the item"),
                "name a field that is there",
            );
            continue;
        };
        if ["array", "object"].contains(&text(value, "type")) {
            findings.error(
                &key_path,
                format!("the map key `{name}` is no scalar"),
                "take a string, a number or a boolean as the key",
            );
        }
        if keys[..index].contains(key) {
            findings.error(path, format!("the map key `{name}` is named twice"), "name it once");
        }
        if !list(item, "required").contains(key) && value.get("default").is_none() {
            findings.error(
                &key_path,
                format!("the map key `{name}` may be missing"),
                "make the field required, or give it a default",
            );
        }
        if flag(value, "nullable") {
            findings.error(&key_path, format!("the map key `{name}` may be null"), "take the `Option` off the field");
        }
    }
}

/// Checks that items of a set are scalars or atomic, since server-side apply compares and replaces them as a whole.
fn check_set(schema: &Value, path: &str, findings: &mut Findings) {
    let item = &schema["items"];
    let inner = text(item, "x-kubernetes-list-type");
    if item["type"] == "array" && !inner.is_empty() && inner != "atomic" {
        findings.error(&items(path), "lists in a set are atomic", "say `x-kubernetes-list-type: atomic`");
    }
    if item["type"] == "object" && item["x-kubernetes-map-type"] != "atomic" {
        findings.error(
            &items(path),
            "objects in a set are atomic",
            "say `x-kubernetes-map-type: atomic`, or take a list of type map",
        );
    }
}
