//! The rules of a structural schema, as `apiextensions` checks them: what passes here is accepted by the API server.

mod default;
mod nested;
mod rules;
mod topology;

use crate::manifest::crd::keyword::{EITHER, EMBEDDED, OPEN};
use serde_json::Value;

use super::super::finding::Findings;
use super::schema::{children, entries, field, flag, items, list, text};

const TYPES: [&str; 6] = ["array", "boolean", "integer", "number", "object", "string"];
const OBJECT_FIELDS: [&str; 3] = ["apiVersion", "kind", "metadata"];

/// Where a schema stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    Root,
    Item,
    Field,
}

/// Checks the schema of one version.
pub(crate) fn check(schema: &Value, found: &mut Findings) {
    if !schema.is_object() {
        found.error("", "the version has no schema", "derive `JsonSchema`, or say `schema = \"manual\"` and give one");
        return;
    }
    root(schema, found);
    node(schema, "", Level::Root, true, found);
    if !found.has_errors() {
        default::check(schema, "", found);
    }
}

fn node(schema: &Value, path: &str, level: Level, correlated: bool, found: &mut Findings) {
    keywords(schema, path, found);
    typed(schema, path, level, found);
    open(schema, path, found);
    fields_of_an_object(schema, path, level, found);
    topology::check(schema, path, found);
    nested::check(schema, path, found);
    rules::check(schema, path, correlated, found);
    for (at, child) in children(schema, path) {
        let item = schema["items"].is_object() && at == items(path);
        let level = if item { Level::Item } else { Level::Field };
        let correlated = correlated && (!item || schema["x-kubernetes-list-type"] == "map");
        node(child, &at, level, correlated, found);
    }
}

/// The root of a kind with a status subresource may say little beside its fields.
fn root(schema: &Value, found: &mut Findings) {
    const REFUSED: [&str; 12] = [
        "additionalProperties",
        "allOf",
        "anyOf",
        "default",
        "enum",
        "maxProperties",
        "minProperties",
        "not",
        "nullable",
        "oneOf",
        "x-kubernetes-int-or-string",
        "x-kubernetes-map-type",
    ];
    for keyword in REFUSED.into_iter().filter(|keyword| !schema[keyword].is_null()) {
        let problem = format!("`{keyword}` is not allowed at the root of a kind");
        found.error("", problem, "say it on a field: `spec` may be an enum or a map, the object around it may not");
    }
    for (name, value) in entries(schema, "properties").filter(|(name, _)| OBJECT_FIELDS.contains(&name.as_str())) {
        if has_default(value) {
            found.error(
                &field("", name),
                "a default is not allowed here",
                "take it away: every object says this field itself",
            );
        }
    }
}

fn has_default(schema: &Value) -> bool {
    schema.get("default").is_some() || children(schema, "").iter().any(|(_, child)| has_default(child))
}

/// Keywords of JSON Schema that Kubernetes refuses.
fn keywords(schema: &Value, path: &str, found: &mut Findings) {
    const AS_JSON: &str = "take `serde_json::Value` for the field, or types that end";
    if let Some(reference) = schema["$ref"].as_str() {
        let name = reference.rsplit('/').next().unwrap_or_default();
        found.error(path, format!("the type `{name}` contains itself, which a schema here can't say"), AS_JSON);
    }
    if schema["items"].is_array() {
        found.error(path, "a tuple has no schema in Kubernetes", "take a struct with named fields");
    }
    if !schema["patternProperties"].is_null() {
        found.error(
            path,
            "keys can't have a pattern (`patternProperties`)",
            "take a map with `String` or integers as keys",
        );
    }
    for keyword in ["definitions", "dependencies", "additionalItems", "id"] {
        if !schema[keyword].is_null() {
            found.error(path, format!("Kubernetes doesn't take `{keyword}`"), "take it out of the schema");
        }
    }
    if flag(schema, "uniqueItems") {
        let fix = "take `x-kubernetes-list-type: set` instead";
        found.error(path, "`uniqueItems` is refused, since it costs the square of the length", fix);
    }
    if let Some(pattern) = schema["pattern"].as_str() {
        self::pattern(pattern, path, found);
    }
}

/// What other regular expressions know and Go's don't, and brackets left open.
fn pattern(pattern: &str, path: &str, found: &mut Findings) {
    let unescaped = pattern.replace(r"\\", "");
    let unknown = ["(?=", "(?!", "(?<=", "(?<!"].into_iter().find(|group| unescaped.contains(group));
    let reference = (1..=9).map(|number| format!("\\{number}")).find(|reference| unescaped.contains(reference));
    if let Some(part) = unknown.map(str::to_owned).or(reference) {
        let problem = format!("the pattern uses `{part}`, which Go's regular expressions don't know");
        found.error(path, problem, "write it without looking ahead or back, or as a CEL rule");
    }
    let mut depth = 0_i32;
    let (mut class, mut escaped) = (false, false);
    for letter in pattern.chars() {
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '[' => class = true,
            ']' => class = false,
            '(' if !class => depth += 1,
            ')' if !class => depth -= 1,
            _ => {}
        }
    }
    if depth != 0 || class || escaped {
        found.error(path, format!("the pattern `{pattern}` ends in the middle"), "close every bracket");
    }
}

fn typed(schema: &Value, path: &str, level: Level, found: &mut Findings) {
    let kind = text(schema, "type");
    let unit = list(schema, "enum") == [Value::Null];
    if unit || kind == "null" {
        found.error(
            path,
            "`()` has no schema in Kubernetes: no type is left for it",
            "take the field away, or take a struct",
        );
    } else if !kind.is_empty() && !TYPES.contains(&kind) {
        found.error(path, format!("`{kind}` is no type"), format!("take one of {}", TYPES.join(", ")));
    } else if kind.is_empty()
        && (flag(schema, EMBEDDED) || !(flag(schema, EITHER) || flag(schema, OPEN)))
        && !known_problem(schema)
    {
        let fix = "give the field a type that has one schema, `serde_json::Value`, or `#[schemars(schema_with = ...)]`";
        found.error(path, "the schema has no type", fix);
    } else if level == Level::Root && kind != "object" && !kind.is_empty() {
        found.error(path, format!("a kind is an object, not `{kind}`"), "make the root a struct");
    }
    if kind == "array" && schema["items"].is_null() {
        found.error(path, "the list doesn't say what its items are", "say `items`");
    }
    if matches!(schema["items"], Value::Bool(_)) || schema["items"].is_string() {
        found.error(path, "`items` is no schema", "say the schema of the items");
    }
}

/// What [`keywords`] reports already, more to the point.
fn known_problem(schema: &Value) -> bool {
    schema["$ref"].is_string()
}

fn open(schema: &Value, path: &str, found: &mut Findings) {
    let kind = text(schema, "type");
    if schema[OPEN] == false {
        found.error(path, format!("`{OPEN}: false` is refused"), "take it away: false is the default");
    }
    for other in [OPEN, EMBEDDED] {
        if flag(schema, EITHER) && flag(schema, other) {
            found.error(path, format!("`{EITHER}` can't be with `{other}`"), "keep one");
        }
    }
    if flag(schema, EMBEDDED) {
        if !kind.is_empty() && kind != "object" {
            found.error(path, "an embedded resource is an object", "say `type: object`");
        }
        if !schema["additionalProperties"].is_null() {
            found.error(path, "an embedded resource is no map", "take `additionalProperties` away");
        }
        if !flag(schema, OPEN) && entries(schema, "properties").next().is_none() {
            let fix = format!("say its fields, or `{OPEN}: true`");
            found.error(path, "an embedded resource without fields loses everything", fix);
        }
    }
    let map = &schema["additionalProperties"];
    if (map.is_object() || *map == false) && entries(schema, "properties").next().is_some() {
        found.error(path, "a schema is a struct or a map, not both", "move the map to a field of its own");
    }
}

/// `apiVersion`, `kind` and `metadata` of the kind itself and of embedded resources are Kubernetes' own.
fn fields_of_an_object(schema: &Value, path: &str, level: Level, found: &mut Findings) {
    if level != Level::Root && !flag(schema, EMBEDDED) {
        return;
    }
    for (name, kind) in [("apiVersion", "string"), ("kind", "string"), ("metadata", "object")] {
        let value = &schema["properties"][name];
        if !value.is_null() && value["type"] != kind {
            found.error(
                &field(path, name),
                format!("`{name}` has to be of type {kind}"),
                "leave it out, or give it that type",
            );
        }
    }
    let metadata = &schema["properties"]["metadata"];
    let own = |key: &String| matches!(key.as_str(), "type" | "properties" | "description");
    let named = entries(metadata, "properties").all(|(name, _)| name == "name" || name == "generateName");
    let said = metadata.as_object().is_none_or(|metadata| metadata.keys().all(own));
    if level == Level::Root && !(named && said && metadata["description"].is_null()) {
        let fix = "leave the rest out: Kubernetes knows it";
        found.error(&field(path, "metadata"), "only `name` and `generateName` may be restricted", fix);
    }
}

#[cfg(test)]
mod tests;
