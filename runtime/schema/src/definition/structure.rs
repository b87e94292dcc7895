//! Validates that a schema is structural.

use serde_json::{Value, json};

use crate::{failure::Cause, object::text, schema::pattern::Pattern};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    Root,
    Item,
    Field,
}

/// What keeps a schema from being structural.
pub(super) fn check(schema: &Value, place: &str) -> Vec<Cause> {
    let mut causes = Vec::new();
    outline(schema, Level::Root, place, &mut causes);
    causes.sort_by(|one, other| (&one.field, &one.message).cmp(&(&other.field, &other.message)));
    causes
}

fn properties(schema: &Value) -> impl Iterator<Item = (&String, &Value)> {
    schema["properties"].as_object().into_iter().flatten()
}

fn is_set(schema: &Value, key: &str) -> bool {
    schema[key] == true
}

fn outline(schema: &Value, level: Level, place: &str, causes: &mut Vec<Cause>) {
    let type_ = text(schema, &["type"]);
    let at = |key: &str| format!("{place}.{key}");
    if schema["items"].is_object() {
        outline(&schema["items"], Level::Item, &at("items"), causes);
    } else if type_ == "array" {
        causes.push(Cause::required(at("items"), "must be specified"));
    }
    for (name, property) in properties(schema) {
        outline(property, Level::Field, &format!("{place}.properties[{name}]"), causes);
    }
    let additional = &schema["additionalProperties"];
    if !additional.is_null() && level == Level::Root {
        causes.push(Cause::forbidden(at("additionalProperties"), "must not be used at the root"));
    }
    if additional.is_object() {
        outline(additional, Level::Field, &at("additionalProperties"), causes);
    }
    int_or_string(schema, place, causes);
    let alternatives = json!([{"type": "integer"}, {"type": "string"}]);
    let skip_any = schema["anyOf"] == alternatives;
    let skip_first = schema["allOf"].get(0).is_some_and(|first| first["anyOf"] == alternatives);
    values(schema, skip_any, skip_first, place, causes);
    of_type(schema, level, place, causes);
    metadata(schema, level, place, causes);
}

fn int_or_string(schema: &Value, place: &str, causes: &mut Vec<Cause>) {
    if !is_set(schema, "x-kubernetes-int-or-string") {
        return;
    }
    for key in ["x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource"] {
        if is_set(schema, key) {
            let why = "must be false if x-kubernetes-int-or-string is true";
            causes.push(Cause::invalid(format!("{place}.{key}"), &true.into(), why));
        }
    }
}

fn of_type(schema: &Value, level: Level, place: &str, causes: &mut Vec<Cause>) {
    let type_ = text(schema, &["type"]);
    let at = |key: &str| format!("{place}.{key}");
    let embedded = is_set(schema, "x-kubernetes-embedded-resource");
    let kept = is_set(schema, "x-kubernetes-preserve-unknown-fields");
    if embedded && type_ != "object" {
        let why = "must be object if x-kubernetes-embedded-resource is true";
        causes.push(if type_.is_empty() {
            Cause::required(at("type"), why)
        } else {
            Cause::invalid(at("type"), &type_.into(), why)
        });
    } else if type_.is_empty() && !kept && !is_set(schema, "x-kubernetes-int-or-string") {
        let why = match level {
            Level::Root => "must not be empty at the root",
            Level::Item => "must not be empty for specified array items",
            Level::Field => "must not be empty for specified object fields",
        };
        causes.push(Cause::required(at("type"), why));
    }
    if embedded && !schema["additionalProperties"].is_null() {
        let why = "must not be used if x-kubernetes-embedded-resource is set";
        causes.push(Cause::forbidden(at("additionalProperties"), why));
    }
    if level == Level::Root && !type_.is_empty() && type_ != "object" {
        causes.push(Cause::invalid(at("type"), &type_.into(), "must be object at the root"));
    }
    if embedded && !kept && properties(schema).next().is_none() {
        let why =
            "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields";
        causes.push(Cause::required(at("properties"), why));
    }
}

/// Of the metadata of a whole object only the names may be spoken of.
fn metadata(schema: &Value, level: Level, place: &str, causes: &mut Vec<Cause>) {
    let whole = level == Level::Root || is_set(schema, "x-kubernetes-embedded-resource");
    for (name, property) in properties(schema).filter(|_| whole) {
        let (type_, place) = (text(property, &["type"]), format!("{place}.properties[{name}]"));
        match name.as_str() {
            "kind" | "apiVersion" if type_ != "string" => {
                causes.push(Cause::invalid(format!("{place}.type"), &type_.into(), "must be string"));
            }
            "metadata" => {
                if type_ != "object" {
                    causes.push(Cause::invalid(format!("{place}.type"), &type_.into(), "must be object"));
                }
                let names = |name: &String| name == "name" || name == "generateName";
                let only_names = properties(property).all(|(name, _)| names(name));
                let plain = |key: &String| matches!(key.as_str(), "type" | "properties" | "default");
                let keys = property.as_object().is_none_or(|property| property.keys().all(plain));
                if level == Level::Root && !(only_names && keys) {
                    let why = "must not specify anything other than name and generateName, but metadata is implicitly specified";
                    causes.push(Cause::forbidden(place, why));
                }
            }
            _ => {}
        }
    }
}

/// `allOf` and the like, and patterns.
fn values(schema: &Value, skip_any: bool, skip_first: bool, place: &str, causes: &mut Vec<Cause>) {
    for key in ["anyOf", "allOf", "oneOf"] {
        if key == "anyOf" && skip_any {
            continue;
        }
        for (index, nested) in schema[key].as_array().into_iter().flatten().enumerate() {
            let skip = key == "allOf" && index == 0 && skip_first;
            within(nested, skip, &format!("{place}.{key}[{index}]"), causes);
        }
    }
    if schema["not"].is_object() {
        within(&schema["not"], false, &format!("{place}.not"), causes);
    }
    let pattern = text(schema, &["pattern"]);
    if !pattern.is_empty()
        && let Some(error) = Pattern::of(pattern).error()
    {
        let why = format!("must be a valid regular expression, but isn't: {error}");
        causes.push(Cause::invalid(format!("{place}.pattern"), &pattern.into(), &why));
    }
}

/// A schema within a combination: it says nothing of the outline.
fn within(schema: &Value, skip_any: bool, place: &str, causes: &mut Vec<Cause>) {
    values(schema, skip_any, false, place, causes);
    if schema["items"].is_object() {
        within(&schema["items"], false, &format!("{place}.items"), causes);
    }
    for (name, property) in properties(schema) {
        within(property, false, &format!("{place}.properties[{name}]"), causes);
    }
    for (key, why) in [
        ("type", "must be empty to be structural"),
        ("additionalProperties", "must be undefined to be structural"),
        ("default", "must be undefined to be structural"),
        ("title", "must be empty to be structural"),
        ("description", "must be empty to be structural"),
        ("nullable", "must be false to be structural"),
        ("x-kubernetes-preserve-unknown-fields", "must be false to be structural"),
        ("x-kubernetes-embedded-resource", "must be false to be structural"),
        ("x-kubernetes-int-or-string", "must be false to be structural"),
        ("x-kubernetes-list-map-keys", "must be empty to be structural"),
        ("x-kubernetes-list-type", "must be undefined to be structural"),
        ("x-kubernetes-map-type", "must be undefined to be structural"),
        ("x-kubernetes-validations", "must be empty to be structural"),
    ] {
        let value = &schema[key];
        if !value.is_null() && *value != false && value != "" && *value != json!([]) {
            causes.push(Cause::forbidden(format!("{place}.{key}"), why));
        }
    }
    if schema["properties"].get("metadata").is_some() {
        let why = "must not be specified in a nested context";
        causes.push(Cause::forbidden(format!("{place}.properties[metadata]"), why));
    }
}
