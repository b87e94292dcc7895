//! Validates each level of a schema beyond its structure.

use serde_json::{Value, json};

use crate::{failure::Cause, object::text};

const TYPES: [&str; 6] = ["array", "boolean", "integer", "number", "object", "string"];

/// Keywords of JSON Schema that CRDs don't have.
const STRANGE: [&str; 6] = ["id", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref"];

/// What is wrong with a schema, level by level.
pub(super) fn check(schema: &Value, place: &str) -> Vec<Cause> {
    let mut causes = Vec::new();
    walk(schema, place, None, &mut causes);
    causes
}

/// `undefaulted` says why there is no default here.
fn walk(schema: &Value, place: &str, undefaulted: Option<&str>, causes: &mut Vec<Cause>) {
    if !schema.is_object() {
        return;
    }
    keywords(schema, place, undefaulted, causes);
    let additional = &schema["additionalProperties"];
    let has_properties = schema["properties"].as_object().is_some_and(|properties| !properties.is_empty());
    if !additional.is_null() && *additional != true && has_properties {
        let why = "additionalProperties and properties are mutual exclusive";
        causes.push(Cause::forbidden(format!("{place}.additionalProperties"), why));
    }
    walk(additional, &format!("{place}.additionalProperties"), undefaulted, causes);
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        // Of the root alone: its path ends with the word.
        let top = place.ends_with(".openAPIV3Schema") && matches!(name.as_str(), "metadata" | "kind" | "apiVersion");
        let said = format!("in top-level {name}");
        let undefaulted = if top { Some(said.as_str()) } else { undefaulted };
        walk(property, &format!("{place}.properties[{name}]"), undefaulted, causes);
    }
    walk(&schema["not"], &format!("{place}.not"), undefaulted, causes);
    for key in ["allOf", "oneOf", "anyOf"] {
        for (index, nested) in schema[key].as_array().into_iter().flatten().enumerate() {
            walk(nested, &format!("{place}.{key}[{index}]"), undefaulted, causes);
        }
    }
    walk(&schema["items"], &format!("{place}.items"), undefaulted, causes);
    lists(schema, place, causes);
    map_keys(schema, place, causes);
}

fn keywords(schema: &Value, place: &str, undefaulted: Option<&str>, causes: &mut Vec<Cause>) {
    let at = |key: &str| format!("{place}.{key}");
    let type_ = text(schema, &["type"]);
    if !type_.is_empty() && !TYPES.contains(&type_) {
        causes.push(Cause::unsupported(at("type"), &type_.into(), &TYPES));
    }
    if type_ == "null" {
        causes.push(Cause::forbidden(at("type"), "type cannot be set to null, use nullable as an alternative"));
    }
    if let (Some(why), Some(_)) = (undefaulted, schema.get("default")) {
        causes.push(Cause::forbidden(at("default"), &format!("must not be set {why}")));
    }
    for key in STRANGE.into_iter().filter(|key| schema.get(*key).is_some_and(|value| !value.is_null() && value != "")) {
        causes.push(Cause::forbidden(at(key), &format!("{key} is not supported")));
    }
    if schema["items"].is_array() {
        causes.push(Cause::forbidden(at("items"), "items must be a schema object and not an array"));
    }
    if schema["uniqueItems"] == true {
        let why = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic";
        causes.push(Cause::forbidden(at("uniqueItems"), why));
    }
    if schema["x-kubernetes-preserve-unknown-fields"] == false {
        let place = at("x-kubernetes-preserve-unknown-fields");
        causes.push(Cause::invalid(place, &false.into(), "must be true or undefined"));
    }
}

fn lists(schema: &Value, place: &str, causes: &mut Vec<Cause>) {
    let at = |key: &str| format!("{place}.{key}");
    let type_ = text(schema, &["type"]);
    let mut wants = |key: &str, wanted: &str, known: &[&str]| {
        let Some(kind) = schema[key].as_str() else { return };
        if type_ != wanted {
            let why = format!("must be {wanted} if {key} is specified");
            let type_cause = Cause::invalid(at("type"), &type_.into(), &why);
            causes.push(if type_.is_empty() { Cause::required(at("type"), &why) } else { type_cause });
        }
        if !known.contains(&kind) {
            causes.push(Cause::unsupported(at(key), &kind.into(), known));
        }
    };
    wants("x-kubernetes-map-type", "object", &["atomic", "granular"]);
    wants("x-kubernetes-list-type", "array", &["atomic", "set", "map"]);
    let (list, items) = (text(schema, &["x-kubernetes-list-type"]), &schema["items"]);
    if list == "set" && type_ == "array" {
        let why = "must be atomic as item of a list with x-kubernetes-list-type=set";
        let key = match text(items, &["type"]) {
            "array" if !matches!(text(items, &["x-kubernetes-list-type"]), "" | "atomic") => "x-kubernetes-list-type",
            "object" if items["x-kubernetes-map-type"] != "atomic" => "x-kubernetes-map-type",
            _ => "",
        };
        if !key.is_empty() {
            causes.push(Cause::invalid(at(&format!("items.{key}")), &items["x-kubernetes-list-type"], why));
        }
    }
    if matches!(list, "set" | "map") && items["nullable"] == true {
        let why = format!("cannot be nullable when x-kubernetes-list-type is {list}");
        causes.push(Cause::forbidden(at("items.nullable"), &why));
    }
}

fn map_keys(schema: &Value, place: &str, causes: &mut Vec<Cause>) {
    let at = |key: &str| format!("{place}.{key}");
    let written = &schema["x-kubernetes-list-map-keys"];
    let keys: Vec<&str> = written.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let list = text(schema, &["x-kubernetes-list-type"]);
    if list != "map" {
        if !keys.is_empty() {
            let why = "must be map if x-kubernetes-list-map-keys is non-empty";
            let place = at("x-kubernetes-list-type");
            causes.push(if list.is_empty() {
                Cause::required(place, why)
            } else {
                Cause::invalid(place, &list.into(), why)
            });
        }
        return;
    }
    if keys.is_empty() {
        let why = "must not be empty if x-kubernetes-list-type is map";
        causes.push(Cause::required(at("x-kubernetes-list-map-keys"), why));
    }
    let items = &schema["items"];
    if items.is_null() {
        let why = "must have a schema if x-kubernetes-list-type is map";
        causes.push(Cause::required(at("items"), why));
    } else if items["type"] != "object" {
        let why = "must be object if parent array's x-kubernetes-list-type is map";
        causes.push(Cause::invalid(at("items.type"), &text(items, &["type"]).into(), why));
        return;
    }
    for (index, key) in keys.iter().enumerate() {
        let Some(property) = items["properties"].get(key) else {
            let why = "entries must all be names of item properties";
            causes.push(Cause::invalid(at("x-kubernetes-list-map-keys"), written, why));
            continue;
        };
        if keys[..index].contains(key) {
            let why = "must not contain duplicate entries";
            causes.push(Cause::invalid(at("x-kubernetes-list-map-keys"), written, why));
        }
        let of_key = |part: &str| at(&format!("items.properties[{key}].{part}"));
        if matches!(text(property, &["type"]), "array" | "object") {
            let why = "must be a scalar type if parent array's x-kubernetes-list-type is map";
            causes.push(Cause::invalid(of_key("type"), &items["type"], why));
        }
        let required = items["required"].as_array().is_some_and(|required| required.contains(&json!(key)));
        if !required && property.get("default").is_none() {
            let why =
                "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property";
            causes.push(Cause::required(of_key("default"), why));
        }
        if property["nullable"] == true {
            let why = "this property is in x-kubernetes-list-map-keys, so it cannot be nullable";
            causes.push(Cause::forbidden(of_key("nullable"), why));
        }
    }
}
