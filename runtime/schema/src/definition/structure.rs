//! Checks that a schema is structural: it defines types and fields outside of branches.

use serde_json::{Value, json};

use crate::{
    accessor::{entries, flag, text},
    keyword::{EMBEDDED_RESOURCE, INT_OR_STRING, PRESERVE_UNKNOWN_FIELDS},
    pattern::Pattern,
    place::Place,
    violation::{Rule, Violation},
};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    Root,
    Item,
    Field,
}

/// Returns what keeps a schema from being structural, in the order of its fields.
pub(super) fn check(schema: &Value, place: &Place) -> Vec<Violation> {
    let mut found = Vec::new();
    outline(schema, Level::Root, place, &mut found);
    found.sort_by(|one, other| (&one.cause.field, &one.cause.message).cmp(&(&other.cause.field, &other.cause.message)));
    found
}

fn outline(schema: &Value, level: Level, place: &Place, found: &mut Vec<Violation>) {
    let type_ = text(schema, "type");
    if schema["items"].is_object() {
        outline(&schema["items"], Level::Item, &place.items(), found);
    } else if type_ == "array" {
        found.push(Violation::required(Rule::ItemsRequired, place.keyword("items"), "must be specified"));
    }
    for (name, property) in entries(schema, "properties") {
        outline(property, Level::Field, &place.property(name), found);
    }
    let additional = &schema["additionalProperties"];
    if !additional.is_null() && level == Level::Root {
        let why = "must not be used at the root";
        found.push(Violation::forbidden(Rule::RootKeyword, place.keyword("additionalProperties"), why));
    }
    if additional.is_object() {
        outline(additional, Level::Field, &place.additional(), found);
    }
    int_or_string(schema, place, found);
    let alternatives = json!([{"type": "integer"}, {"type": "string"}]);
    let skip_any = schema["anyOf"] == alternatives;
    let skip_first = schema["allOf"].get(0).is_some_and(|first| first["anyOf"] == alternatives);
    values(schema, skip_any, skip_first, place, found);
    of_type(schema, level, place, found);
    metadata(schema, level, place, found);
}

fn int_or_string(schema: &Value, place: &Place, found: &mut Vec<Violation>) {
    if !flag(schema, INT_OR_STRING) {
        return;
    }
    for key in [PRESERVE_UNKNOWN_FIELDS, EMBEDDED_RESOURCE] {
        if flag(schema, key) {
            let why = "must be false if x-kubernetes-int-or-string is true";
            found.push(Violation::invalid(Rule::IntOrString, place.keyword(key), &true.into(), why));
        }
    }
}

fn of_type(schema: &Value, level: Level, place: &Place, found: &mut Vec<Violation>) {
    let type_ = text(schema, "type");
    let embedded = flag(schema, EMBEDDED_RESOURCE);
    let kept = flag(schema, PRESERVE_UNKNOWN_FIELDS);
    if embedded && type_ != "object" {
        let why = "must be object if x-kubernetes-embedded-resource is true";
        found.push(Violation::required_or_invalid(Rule::EmbeddedResource, place.keyword("type"), type_, why));
    } else if type_.is_empty() && !kept && !flag(schema, INT_OR_STRING) {
        let why = match level {
            Level::Root => "must not be empty at the root",
            Level::Item => "must not be empty for specified array items",
            Level::Field => "must not be empty for specified object fields",
        };
        found.push(Violation::required(Rule::TypeRequired, place.keyword("type"), why));
    }
    if embedded && !schema["additionalProperties"].is_null() {
        let why = "must not be used if x-kubernetes-embedded-resource is set";
        found.push(Violation::forbidden(Rule::EmbeddedResource, place.keyword("additionalProperties"), why));
    }
    if level == Level::Root && !type_.is_empty() && type_ != "object" {
        let why = "must be object at the root";
        found.push(Violation::invalid(Rule::RootType, place.keyword("type"), &type_.into(), why));
    }
    if embedded && !kept && entries(schema, "properties").next().is_none() {
        let why =
            "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields";
        found.push(Violation::required(Rule::EmbeddedResource, place.keyword("properties"), why));
    }
}

/// Checks the types of `apiVersion`, `kind` and `metadata`, and that only the names in the metadata of a kind are restricted.
fn metadata(schema: &Value, level: Level, place: &Place, found: &mut Vec<Violation>) {
    let whole = level == Level::Root || flag(schema, EMBEDDED_RESOURCE);
    for (name, property) in entries(schema, "properties").filter(|_| whole) {
        let (type_, place) = (text(property, "type"), place.property(name));
        let expected = match name.as_str() {
            "kind" | "apiVersion" => "string",
            "metadata" => "object",
            _ => continue,
        };
        if type_ != expected {
            let why = format!("must be {expected}");
            found.push(Violation::invalid(Rule::ObjectFieldType, place.keyword("type"), &type_.into(), &why));
        }
        let is_name = |name: &String| name == "name" || name == "generateName";
        let only_names = entries(property, "properties").all(|(name, _)| is_name(name));
        let is_plain = |key: &String| matches!(key.as_str(), "type" | "properties" | "default");
        let only_plain = property.as_object().is_none_or(|property| property.keys().all(is_plain));
        if name == "metadata" && level == Level::Root && !(only_names && only_plain) {
            let why =
                "must not specify anything other than name and generateName, but metadata is implicitly specified";
            found.push(Violation::forbidden(Rule::MetadataRestriction, place, why));
        }
    }
}

/// Checks the branches of a schema, and its pattern.
fn values(schema: &Value, skip_any: bool, skip_first: bool, place: &Place, found: &mut Vec<Violation>) {
    for key in ["anyOf", "allOf", "oneOf"] {
        if key == "anyOf" && skip_any {
            continue;
        }
        for (index, nested) in schema[key].as_array().into_iter().flatten().enumerate() {
            let skip = key == "allOf" && index == 0 && skip_first;
            within(nested, skip, &place.branch(key, index), found);
        }
    }
    if schema["not"].is_object() {
        within(&schema["not"], false, &place.not(), found);
    }
    let pattern = text(schema, "pattern");
    if !pattern.is_empty()
        && let Some(error) = Pattern::of(pattern).error()
    {
        let why = format!("must be a valid regular expression, but isn't: {error}");
        found.push(Violation::invalid(Rule::Pattern, place.keyword("pattern"), &pattern.into(), &why));
    }
}

/// Checks a branch, which must not define types, fields, defaults or documentation.
fn within(schema: &Value, skip_any: bool, place: &Place, found: &mut Vec<Violation>) {
    values(schema, skip_any, false, place, found);
    if schema["items"].is_object() {
        within(&schema["items"], false, &place.items(), found);
    }
    for (name, property) in entries(schema, "properties") {
        within(property, false, &place.property(name), found);
    }
    for (key, why) in [
        ("type", "must be empty to be structural"),
        ("additionalProperties", "must be undefined to be structural"),
        ("default", "must be undefined to be structural"),
        ("title", "must be empty to be structural"),
        ("description", "must be empty to be structural"),
        ("nullable", "must be false to be structural"),
        (PRESERVE_UNKNOWN_FIELDS, "must be false to be structural"),
        (EMBEDDED_RESOURCE, "must be false to be structural"),
        (INT_OR_STRING, "must be false to be structural"),
        ("x-kubernetes-list-map-keys", "must be empty to be structural"),
        ("x-kubernetes-list-type", "must be undefined to be structural"),
        ("x-kubernetes-map-type", "must be undefined to be structural"),
        ("x-kubernetes-validations", "must be empty to be structural"),
    ] {
        let value = &schema[key];
        if !value.is_null() && *value != false && value != "" && *value != json!([]) {
            let rule = if key == "type" { Rule::BranchType } else { Rule::BranchKeyword };
            found.push(Violation::forbidden(rule, place.keyword(key), why));
        }
    }
    if schema["properties"].get("metadata").is_some() {
        let why = "must not be specified in a nested context";
        found.push(Violation::forbidden(Rule::BranchMetadata, place.property("metadata"), why));
    }
}
