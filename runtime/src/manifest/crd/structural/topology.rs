//! Kinds of lists and maps: they decide what server-side apply merges.

use serde_json::Value;

use super::super::super::finding::Findings;
use super::super::schema::{field, flag, items, list, text};

/// Checks the list type, map keys and map type of one schema and of its branches.
pub(super) fn check(schema: &Value, path: &str, found: &mut Findings) {
    map_type(schema, path, found);
    let kind = text(schema, "x-kubernetes-list-type");
    if !kind.is_empty() {
        if schema["type"] != "array" {
            found.error(path, "`x-kubernetes-list-type` is for lists", "take it away, or make the field a list");
        }
        if !["atomic", "map", "set"].contains(&kind) {
            found.error(path, format!("`{kind}` is no list type"), "take `atomic`, `map` or `set`");
        }
    }
    if kind != "map" && !list(schema, "x-kubernetes-list-map-keys").is_empty() {
        found.error(
            path,
            "map keys without `x-kubernetes-list-type: map`",
            "say the list type too, or take the keys away",
        );
    }
    match kind {
        "map" => keyed(schema, path, found),
        "set" => set(schema, path, found),
        _ => {}
    }
    if ["map", "set"].contains(&kind) && flag(&schema["items"], "nullable") {
        found.error(
            &items(path),
            format!("items of a list of type {kind} can't be null"),
            "take the `Option` off the item",
        );
    }
}

fn map_type(schema: &Value, path: &str, found: &mut Findings) {
    let kind = &schema["x-kubernetes-map-type"];
    if kind.is_null() {
        return;
    }
    if schema["type"] != "object" {
        found.error(path, "`x-kubernetes-map-type` is for objects", "take it away");
    }
    if *kind != "atomic" && *kind != "granular" {
        found.error(path, format!("{kind} is no map type"), "take `atomic` or `granular`");
    }
}

fn keyed(schema: &Value, path: &str, found: &mut Findings) {
    let keys = list(schema, "x-kubernetes-list-map-keys");
    let item = &schema["items"];
    if keys.is_empty() {
        found.error(path, "a list of type map needs keys", "say `x-kubernetes-list-map-keys`");
    }
    if item["type"] != "object" {
        found.error(&items(path), "items of a list of type map are objects", "make the item a struct");
        return;
    }
    for (index, key) in keys.iter().enumerate() {
        let name = key.as_str().unwrap_or_default();
        let at = field(&items(path), name);
        let Some(value) = item["properties"].get(name) else {
            found.error(&at, format!("the map key `{name}` is no field of the item"), "name a field that is there");
            continue;
        };
        if ["array", "object"].contains(&text(value, "type")) {
            found.error(
                &at,
                format!("the map key `{name}` is no scalar"),
                "take a string, a number or a boolean as the key",
            );
        }
        if keys[..index].contains(key) {
            found.error(path, format!("the map key `{name}` is named twice"), "name it once");
        }
        if !list(item, "required").contains(key) && value.get("default").is_none() {
            found.error(
                &at,
                format!("the map key `{name}` may be missing"),
                "make the field required, or give it a default",
            );
        }
        if flag(value, "nullable") {
            found.error(&at, format!("the map key `{name}` may be null"), "take the `Option` off the field");
        }
    }
}

/// What is compared as a whole must be replaced as a whole.
fn set(schema: &Value, path: &str, found: &mut Findings) {
    let item = &schema["items"];
    let inner = text(item, "x-kubernetes-list-type");
    if item["type"] == "array" && !inner.is_empty() && inner != "atomic" {
        found.error(&items(path), "lists in a set are atomic", "say `x-kubernetes-list-type: atomic`");
    }
    if item["type"] == "object" && item["x-kubernetes-map-type"] != "atomic" {
        found.error(
            &items(path),
            "objects in a set are atomic",
            "say `x-kubernetes-map-type: atomic`, or take a list of type map",
        );
    }
}
