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

/// Completes the schema of an embedded Kubernetes type by its name. Returns the fields whose merge keys a definition can't
/// declare.
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

/// Adds list types, map keys and map types to the fields of a type.
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
        let (field, kind) = rule.split_at(rule.find(['=', '#', '[']).unwrap_or(rule.len()));
        let Some(schema) = fields.get_mut(field).and_then(Value::as_object_mut) else { continue };
        match kind {
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

/// Makes a list a list map with `keys`, and returns whether that is possible. A key must be required or have a default, and must
/// not be nullable.
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
