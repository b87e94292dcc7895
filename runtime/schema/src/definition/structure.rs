//! Checks that the schema of a CustomResourceDefinition is structural: it defines types and fields outside of `allOf`, `anyOf`, `oneOf` and
//! `not`.

use serde_json::{Value, json};

use crate::{
    accessor::{entries, flag, text},
    keyword::{EMBEDDED_RESOURCE, INT_OR_STRING, PRESERVE_UNKNOWN_FIELDS},
    pattern::Pattern,
    schema_path::SchemaPath,
    violation::{Rule, Violation},
};

/// The position of a schema, by which the messages differ.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    Root,
    Item,
    Field,
}

/// Returns the violations that keep a schema from being structural, sorted by field and message.
pub(super) fn check(schema: &Value, path: &SchemaPath) -> Vec<Violation> {
    let mut found = Vec::new();
    check_recursively(schema, Level::Root, path, &mut found);
    found.sort_by(|one, other| (&one.cause.field, &one.cause.message).cmp(&(&other.cause.field, &other.cause.message)));
    found
}

/// Checks a schema and all schemas below it outside of branches (`validateStructuralInvariants` of kube-apiserver).
fn check_recursively(schema: &Value, level: Level, path: &SchemaPath, found: &mut Vec<Violation>) {
    let type_ = text(schema, "type");
    if schema["items"].is_object() {
        check_recursively(&schema["items"], Level::Item, &path.items(), found);
    } else if type_ == "array" {
        found.push(Violation::required(Rule::ItemsRequired, path.keyword("items"), "must be specified"));
    }
    for (name, property) in entries(schema, "properties") {
        check_recursively(property, Level::Field, &path.property(name), found);
    }
    let additional = &schema["additionalProperties"];
    if !additional.is_null() && level == Level::Root {
        let why = "must not be used at the root";
        found.push(Violation::forbidden(Rule::RootKeyword, path.keyword("additionalProperties"), why));
    }
    if additional.is_object() {
        check_recursively(additional, Level::Field, &path.additional(), found);
    }
    check_int_or_string(schema, path, found);
    // These alternatives, as `anyOf` or as `anyOf` in the first item of `allOf`, describe an int-or-string and may have types.
    let alternatives = json!([{"type": "integer"}, {"type": "string"}]);
    let skip_any = schema["anyOf"] == alternatives;
    let skip_first = schema["allOf"].get(0).is_some_and(|first| first["anyOf"] == alternatives);
    check_branches(schema, skip_any, skip_first, path, found);
    check_type(schema, level, path, found);
    check_object_fields(schema, level, path, found);
}

/// Reports extensions that a schema with `x-kubernetes-int-or-string` must not have.
fn check_int_or_string(schema: &Value, path: &SchemaPath, found: &mut Vec<Violation>) {
    if !flag(schema, INT_OR_STRING) {
        return;
    }
    for key in [PRESERVE_UNKNOWN_FIELDS, EMBEDDED_RESOURCE] {
        if flag(schema, key) {
            let why = "must be false if x-kubernetes-int-or-string is true";
            found.push(Violation::invalid(Rule::IntOrString, path.keyword(key), &true.into(), why));
        }
    }
}

/// Checks that the schema has a type, and that the type fits its position and its extensions.
fn check_type(schema: &Value, level: Level, path: &SchemaPath, found: &mut Vec<Violation>) {
    let type_ = text(schema, "type");
    let embedded = flag(schema, EMBEDDED_RESOURCE);
    let preserves_unknown = flag(schema, PRESERVE_UNKNOWN_FIELDS);
    if embedded && type_ != "object" {
        let why = "must be object if x-kubernetes-embedded-resource is true";
        found.push(Violation::required_or_invalid(Rule::EmbeddedResource, path.keyword("type"), type_, why));
    } else if type_.is_empty() && !preserves_unknown && !flag(schema, INT_OR_STRING) {
        let why = match level {
            Level::Root => "must not be empty at the root",
            Level::Item => "must not be empty for specified array items",
            Level::Field => "must not be empty for specified object fields",
        };
        found.push(Violation::required(Rule::TypeRequired, path.keyword("type"), why));
    }
    if embedded && !schema["additionalProperties"].is_null() {
        let why = "must not be used if x-kubernetes-embedded-resource is set";
        found.push(Violation::forbidden(Rule::EmbeddedResource, path.keyword("additionalProperties"), why));
    }
    if level == Level::Root && !type_.is_empty() && type_ != "object" {
        let why = "must be object at the root";
        found.push(Violation::invalid(Rule::RootType, path.keyword("type"), &type_.into(), why));
    }
    if embedded && !preserves_unknown && entries(schema, "properties").next().is_none() {
        let why =
            "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields";
        found.push(Violation::required(Rule::EmbeddedResource, path.keyword("properties"), why));
    }
}

/// Checks the types of `apiVersion`, `kind` and `metadata` in the root and in embedded objects. In the root, also checks that the schema of
/// `metadata` restricts only `name` and `generateName`.
fn check_object_fields(schema: &Value, level: Level, path: &SchemaPath, found: &mut Vec<Violation>) {
    let is_object = level == Level::Root || flag(schema, EMBEDDED_RESOURCE);
    for (name, property) in entries(schema, "properties").filter(|_| is_object) {
        let (type_, path) = (text(property, "type"), path.property(name));
        let expected = match name.as_str() {
            "kind" | "apiVersion" => "string",
            "metadata" => "object",
            _ => continue,
        };
        if type_ != expected {
            let why = format!("must be {expected}");
            found.push(Violation::invalid(Rule::ObjectFieldType, path.keyword("type"), &type_.into(), &why));
        }
        let is_name = |name: &String| name == "name" || name == "generateName";
        let only_names = entries(property, "properties").all(|(name, _)| is_name(name));
        let is_plain = |key: &String| matches!(key.as_str(), "type" | "properties" | "default");
        let only_plain = property.as_object().is_none_or(|property| property.keys().all(is_plain));
        if name == "metadata" && level == Level::Root && !(only_names && only_plain) {
            let why =
                "must not specify anything other than name and generateName, but metadata is implicitly specified";
            found.push(Violation::forbidden(Rule::MetadataRestriction, path, why));
        }
    }
}

/// Checks the branches of a schema (`anyOf`, `allOf`, `oneOf`, `not`), and its pattern. `skip_any` skips the branches in `anyOf`, and
/// `skip_first` those in the `anyOf` of the first item of `allOf`: the alternatives of an int-or-string, which may have types.
fn check_branches(schema: &Value, skip_any: bool, skip_first: bool, path: &SchemaPath, found: &mut Vec<Violation>) {
    for key in ["anyOf", "allOf", "oneOf"] {
        if key == "anyOf" && skip_any {
            continue;
        }
        for (index, nested) in schema[key].as_array().into_iter().flatten().enumerate() {
            let skip = key == "allOf" && index == 0 && skip_first;
            check_branch(nested, skip, &path.branch(key, index), found);
        }
    }
    if schema["not"].is_object() {
        check_branch(&schema["not"], false, &path.not(), found);
    }
    let pattern = text(schema, "pattern");
    if !pattern.is_empty()
        && let Some(error) = Pattern::of(pattern).error()
    {
        let why = format!("must be a valid regular expression, but isn't: {error}");
        found.push(Violation::invalid(Rule::Pattern, path.keyword("pattern"), &pattern.into(), &why));
    }
}

/// Checks a branch (an item of `anyOf`, `allOf` or `oneOf`, or `not`) and the schemas below it. They may restrict values, and must not
/// define anything: no type, default, documentation or extension, and no `metadata`. `skip_any` skips the `anyOf` of the branch, which
/// lists the types of an int-or-string.
fn check_branch(schema: &Value, skip_any: bool, path: &SchemaPath, found: &mut Vec<Violation>) {
    check_branches(schema, skip_any, false, path, found);
    if schema["items"].is_object() {
        check_branch(&schema["items"], false, &path.items(), found);
    }
    for (name, property) in entries(schema, "properties") {
        check_branch(property, false, &path.property(name), found);
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
            found.push(Violation::forbidden(rule, path.keyword(key), why));
        }
    }
    if schema["properties"].get("metadata").is_some() {
        let why = "must not be specified in a nested context";
        found.push(Violation::forbidden(Rule::BranchMetadata, path.property("metadata"), why));
    }
}
