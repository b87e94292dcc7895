//! Adds list types, map keys and bounds from the published OpenAPI to embedded Kubernetes types.

use opgen_schema::keyword::PRESERVE_UNKNOWN_FIELDS;
use serde_json::{Map, Value, json};

/// The pattern of times that the Rust type decodes: up to the year 9998, at most nanoseconds, an offset of less than a day.
const TIME_PATTERN: &str = r"^([0-8][0-9]{3}|9[0-8][0-9]{2}|99[0-8][0-9]|999[0-8])-.{5}[Tt].{8}(\.[0-9]{1,9})?([Zz]|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$";

/// The merge strategies of list and object fields by type, from the published OpenAPI. Lists that it doesn't name are atomic.
///
/// A line has a type, then `=` if the type is atomic as a whole, then its fields: `field=` is an atomic object, `field#` a set,
/// `field[key]` a list map with that key, and `field[key:default]` one whose key may be missing and has a default.
const MERGE_RULES: &str = include_str!("merge.txt");

/// Adds to the schema of an embedded Kubernetes type, such as `io.k8s.api.core.v1.Container`, what its derived schema lacks: open content,
/// bounds, list types and map keys. Returns the list fields that Kubernetes merges by a key that a CustomResourceDefinition can't declare.
pub(super) fn complete(object: &mut Map<String, Value>, name: &str) -> Vec<&'static str> {
    let Some(name) = name.strip_prefix("io.k8s.") else { return Vec::new() };
    match name {
        // An object of any content.
        "apimachinery.pkg.runtime.RawExtension" | "apimachinery.pkg.apis.meta.v1.FieldsV1" => {
            object.insert(PRESERVE_UNKNOWN_FIELDS.into(), json!(true));
        }
        // A value of any type.
        "apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON" => {
            object.remove("type");
            object.insert(PRESERVE_UNKNOWN_FIELDS.into(), json!(true));
        }
        // The format `date-time` admits years, fractions and offsets that the Rust type can't represent.
        "apimachinery.pkg.apis.meta.v1.Time" | "apimachinery.pkg.apis.meta.v1.MicroTime" => {
            object.entry("pattern").or_insert(json!(TIME_PATTERN));
        }
        // The number of the Rust type has 32 bits.
        "apimachinery.pkg.util.intstr.IntOrString" => {
            object.entry("minimum").or_insert(json!(i32::MIN));
            object.entry("maximum").or_insert(json!(i32::MAX));
        }
        _ => return apply_merge_rules(object, name),
    }
    Vec::new()
}

/// Adds the list types, map keys and map types of [`MERGE_RULES`] to the fields of the type `name`; all other lists become atomic. Returns
/// the list fields whose map keys a CustomResourceDefinition can't declare.
fn apply_merge_rules(object: &mut Map<String, Value>, name: &str) -> Vec<&'static str> {
    let line = MERGE_RULES.lines().find_map(|line| line.strip_prefix(name).filter(|rest| rest.starts_with(' ')));
    let mut rules: Vec<&'static str> = line.unwrap_or_default().split_whitespace().collect();
    if rules.first() == Some(&"=") {
        rules.remove(0);
        object.entry("x-kubernetes-map-type").or_insert(json!("atomic"));
    }
    let Some(fields) = object.get_mut("properties").and_then(Value::as_object_mut) else { return Vec::new() };
    let mut unmergeable = Vec::new();
    for rule in rules {
        let (field, strategy) = rule.split_at(rule.find(['=', '#', '[']).unwrap_or(rule.len()));
        let Some(schema) = fields.get_mut(field).and_then(Value::as_object_mut) else { continue };
        match strategy {
            "=" => _ = schema.entry("x-kubernetes-map-type").or_insert(json!("atomic")),
            "#" => _ = schema.entry("x-kubernetes-list-type").or_insert(json!("set")),
            keys if make_list_map(schema, keys.trim_start_matches('[').trim_end_matches(']')) => {}
            _ => unmergeable.push(field),
        }
    }
    for schema in fields.values_mut().filter(|schema| schema["type"] == "array") {
        if schema["x-kubernetes-list-type"].is_null() {
            schema["x-kubernetes-list-type"] = json!("atomic");
        }
    }
    unmergeable
}

/// Makes a list a list map (`x-kubernetes-list-type: map`) with `keys`, separated by commas, and returns whether this is possible: each key
/// must be required or have a default. Removes `nullable` from the keys. Leaves a list alone that already has a type.
fn make_list_map(list: &mut Map<String, Value>, keys: &str) -> bool {
    if list.contains_key("x-kubernetes-list-type") {
        return true;
    }
    let mut names = Vec::new();
    for key in keys.split(',') {
        let (name, default) = key.split_once(':').map_or((key, None), |(name, default)| (name, Some(default)));
        let items = list.get_mut("items").and_then(Value::as_object_mut);
        let required = items.as_ref().and_then(|items| items.get("required")?.as_array());
        let required = required.is_some_and(|required| required.contains(&json!(name)));
        let schema = items.and_then(|items| items.get_mut("properties")?.get_mut(name)?.as_object_mut());
        // The type of an older Kubernetes may not have the key.
        let Some(schema) = schema else { return false };
        schema.remove("nullable");
        if let Some(default) = default.filter(|_| !required) {
            schema.entry("default").or_insert(json!(default));
        } else if !required && !schema.contains_key("default") {
            return false;
        }
        names.push(name);
    }
    list.insert("x-kubernetes-list-type".into(), json!("map"));
    list.insert("x-kubernetes-list-map-keys".into(), json!(names));
    true
}
