//! Checks the keywords, list types and map keys of each nested schema of a CustomResourceDefinition, but not whether the schema is
//! structural.

use serde_json::Value;

use crate::{
    accessor::{entries, flag, list, text},
    keyword::PRESERVE_UNKNOWN_FIELDS,
    schema_path::SchemaPath,
    violation::{Rule, Violation},
};

const TYPES: [&str; 6] = ["array", "boolean", "integer", "number", "object", "string"];

/// Keywords of JSON Schema that definitions must not have.
const UNSUPPORTED: [&str; 6] = ["id", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref"];

/// Returns the violations of the rules for keywords, list types and map keys in a schema and all schemas below it.
pub(super) fn check(schema: &Value, path: &SchemaPath) -> Vec<Violation> {
    let mut found = Vec::new();
    check_recursively(schema, path, None, &mut found);
    found
}

/// Checks a schema and all schemas below it. `no_default_reason` is the reason for which they must not have a default; `None` if
/// they may.
fn check_recursively(schema: &Value, path: &SchemaPath, no_default_reason: Option<&str>, found: &mut Vec<Violation>) {
    if !schema.is_object() {
        return;
    }
    check_keywords(schema, path, no_default_reason, found);
    let additional = &schema["additionalProperties"];
    let has_properties = entries(schema, "properties").next().is_some();
    if !additional.is_null() && *additional != true && has_properties {
        let why = "additionalProperties and properties are mutual exclusive";
        found.push(Violation::forbidden(Rule::FieldsOrMap, path.keyword("additionalProperties"), why));
    }
    check_recursively(additional, &path.additional(), no_default_reason, found);
    for (name, property) in entries(schema, "properties") {
        let is_object_field = path.steps.is_empty() && matches!(name.as_str(), "metadata" | "kind" | "apiVersion");
        let reason = format!("in top-level {name}");
        let no_default_reason = if is_object_field { Some(reason.as_str()) } else { no_default_reason };
        check_recursively(property, &path.property(name), no_default_reason, found);
    }
    check_recursively(&schema["not"], &path.not(), no_default_reason, found);
    for key in ["allOf", "oneOf", "anyOf"] {
        for (index, nested) in list(schema, key).iter().enumerate() {
            check_recursively(nested, &path.branch(key, index), no_default_reason, found);
        }
    }
    check_recursively(&schema["items"], &path.items(), no_default_reason, found);
    check_list_types(schema, path, found);
    check_map_keys(schema, path, found);
}

/// Checks the keywords of a schema, without those of list and map types.
fn check_keywords(schema: &Value, path: &SchemaPath, no_default_reason: Option<&str>, found: &mut Vec<Violation>) {
    let type_ = text(schema, "type");
    if !type_.is_empty() && !TYPES.contains(&type_) {
        found.push(Violation::unsupported(Rule::TypeName, path.keyword("type"), type_, &TYPES));
    }
    if type_ == "null" {
        let why = "type cannot be set to null, use nullable as an alternative";
        found.push(Violation::forbidden(Rule::NullType, path.keyword("type"), why));
    }
    if let (Some(reason), Some(_)) = (no_default_reason, schema.get("default")) {
        let why = format!("must not be set {reason}");
        found.push(Violation::forbidden(Rule::ObjectFieldDefault, path.keyword("default"), &why));
    }
    for key in UNSUPPORTED.into_iter().filter(|key| !schema[*key].is_null() && schema[*key] != "") {
        let why = format!("{key} is not supported");
        found.push(Violation::forbidden(Rule::UnsupportedKeyword, path.keyword(key), &why));
    }
    if schema["items"].is_array() {
        let why = "items must be a schema object and not an array";
        found.push(Violation::forbidden(Rule::ItemsList, path.keyword("items"), why));
    }
    if flag(schema, "uniqueItems") {
        let why = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic";
        found.push(Violation::forbidden(Rule::UniqueItems, path.keyword("uniqueItems"), why));
    }
    if schema[PRESERVE_UNKNOWN_FIELDS] == false {
        let (path, why) = (path.keyword(PRESERVE_UNKNOWN_FIELDS), "must be true or undefined");
        found.push(Violation::invalid(Rule::PreserveUnknownFields, path, &false.into(), why));
    }
}

/// Checks list types and map types, which decide how server-side apply merges.
fn check_list_types(schema: &Value, path: &SchemaPath, found: &mut Vec<Violation>) {
    let type_ = text(schema, "type");
    for (rule, key, expected, known) in [
        (Rule::MapType, "x-kubernetes-map-type", "object", &["atomic", "granular"][..]),
        (Rule::ListType, "x-kubernetes-list-type", "array", &["atomic", "set", "map"]),
    ] {
        let Some(kind) = schema[key].as_str() else { continue };
        if type_ != expected {
            let why = format!("must be {expected} if {key} is specified");
            found.push(Violation::required_or_invalid(rule, path.keyword("type"), type_, &why));
        }
        if !known.contains(&kind) {
            found.push(Violation::unsupported(rule, path.keyword(key), kind, known));
        }
    }
    let (list, items) = (text(schema, "x-kubernetes-list-type"), &schema["items"]);
    // The items of a set must be scalars, or atomic lists or objects.
    if list == "set" && type_ == "array" {
        let key = match text(items, "type") {
            "array" if !matches!(text(items, "x-kubernetes-list-type"), "" | "atomic") => "x-kubernetes-list-type",
            "object" if items["x-kubernetes-map-type"] != "atomic" => "x-kubernetes-map-type",
            _ => "",
        };
        if !key.is_empty() {
            let (path, value) = (path.items().keyword(key), &items["x-kubernetes-list-type"]);
            let why = "must be atomic as item of a list with x-kubernetes-list-type=set";
            found.push(Violation::invalid(Rule::SetItems, path, value, why));
        }
    }
    if matches!(list, "set" | "map") && flag(items, "nullable") {
        let why = format!("cannot be nullable when x-kubernetes-list-type is {list}");
        found.push(Violation::forbidden(Rule::NullableItems, path.items().keyword("nullable"), &why));
    }
}

/// Checks the keys of a list map (`x-kubernetes-list-map-keys`): required scalar fields of its items.
fn check_map_keys(schema: &Value, path: &SchemaPath, found: &mut Vec<Violation>) {
    let key_list = &schema["x-kubernetes-list-map-keys"];
    let keys: Vec<&str> = list(schema, "x-kubernetes-list-map-keys").iter().filter_map(Value::as_str).collect();
    let (list_type, items) = (text(schema, "x-kubernetes-list-type"), &schema["items"]);
    if list_type != "map" {
        if !keys.is_empty() {
            let (path, why) =
                (path.keyword("x-kubernetes-list-type"), "must be map if x-kubernetes-list-map-keys is non-empty");
            found.push(Violation::required_or_invalid(Rule::MapKeys, path, list_type, why));
        }
        return;
    }
    let keys_path = || path.keyword("x-kubernetes-list-map-keys");
    if keys.is_empty() {
        let why = "must not be empty if x-kubernetes-list-type is map";
        found.push(Violation::required(Rule::MapKeys, keys_path(), why));
    }
    if items.is_null() {
        let why = "must have a schema if x-kubernetes-list-type is map";
        found.push(Violation::required(Rule::MapItems, path.keyword("items"), why));
    } else if items["type"] != "object" {
        let (path, why) =
            (path.items().keyword("type"), "must be object if parent array's x-kubernetes-list-type is map");
        found.push(Violation::invalid(Rule::MapItems, path, &text(items, "type").into(), why));
        return;
    }
    for (index, key) in keys.iter().enumerate() {
        let Some(property) = items["properties"].get(key) else {
            let why = "entries must all be names of item properties";
            found.push(Violation::invalid(Rule::MapKeyField, keys_path(), key_list, why));
            continue;
        };
        if keys[..index].contains(key) {
            let why = "must not contain duplicate entries";
            found.push(Violation::invalid(Rule::MapKeyTwice, keys_path(), key_list, why));
        }
        check_map_key(key, property, items, &path.items().property(key), found);
    }
}

/// Checks the schema of one key of a list map: a scalar that is required or has a default, and is not nullable.
fn check_map_key(key: &str, property: &Value, items: &Value, path: &SchemaPath, found: &mut Vec<Violation>) {
    if matches!(text(property, "type"), "array" | "object") {
        let why = "must be a scalar type if parent array's x-kubernetes-list-type is map";
        found.push(Violation::invalid(Rule::MapKeyType, path.keyword("type"), &items["type"], why));
    }
    if !list(items, "required").iter().any(|required| required == key) && property.get("default").is_none() {
        let why = "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property";
        found.push(Violation::required(Rule::MapKeyRequired, path.keyword("default"), why));
    }
    if flag(property, "nullable") {
        let why = "this property is in x-kubernetes-list-map-keys, so it cannot be nullable";
        found.push(Violation::forbidden(Rule::MapKeyNullable, path.keyword("nullable"), why));
    }
}
