//! Checks the rules of a structural schema as the API server's `apiextensions` does.

mod default;
mod nested;
mod rules;
mod topology;

use crate::manifest::crd::keyword::{EMBEDDED_RESOURCE, INT_OR_STRING, PRESERVE_UNKNOWN_FIELDS};
use serde_json::Value;

use super::super::lint::Findings;
use super::schema::{children, entries, field, flag, items, list, text};

const TYPES: [&str; 6] = ["array", "boolean", "integer", "number", "object", "string"];
const OBJECT_FIELDS: [&str; 3] = ["apiVersion", "kind", "metadata"];

/// The position of a schema in the definition.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    Root,
    Item,
    Field,
}

/// Checks the schema of one version.
pub(crate) fn check(schema: &Value, findings: &mut Findings) {
    if !schema.is_object() {
        findings.error(
            "",
            "the version has no schema",
            "derive `JsonSchema`, or say `schema = \"manual\"` and give one",
        );
        return;
    }
    check_root(schema, findings);
    check_node(schema, "", Level::Root, true, findings);
    if !findings.has_errors() {
        default::check(schema, "", findings);
    }
}

/// Checks a schema and all schemas below it. `correlated` is false within lists whose items have no key, where a CEL rule can't
/// use `oldSelf`.
fn check_node(schema: &Value, path: &str, level: Level, correlated: bool, findings: &mut Findings) {
    check_keywords(schema, path, findings);
    check_type(schema, path, level, findings);
    check_kubernetes_keywords(schema, path, findings);
    check_object_fields(schema, path, level, findings);
    topology::check(schema, path, findings);
    nested::check(schema, path, findings);
    rules::check(schema, path, correlated, findings);
    for (child_path, child) in children(schema, path) {
        let item = schema["items"].is_object() && child_path == items(path);
        let level = if item { Level::Item } else { Level::Field };
        let correlated = correlated && (!item || schema["x-kubernetes-list-type"] == "map");
        check_node(child, &child_path, level, correlated, findings);
    }
}

/// Checks the root schema, which may have few keywords besides its fields if the kind has a status subresource.
fn check_root(schema: &Value, findings: &mut Findings) {
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
        findings.error("", problem, "say it on a field: `spec` may be an enum or a map, the object around it may not");
    }
    for (name, value) in entries(schema, "properties").filter(|(name, _)| OBJECT_FIELDS.contains(&name.as_str())) {
        if has_default(value) {
            findings.error(
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

/// Reports keywords of JSON Schema that Kubernetes refuses.
fn check_keywords(schema: &Value, path: &str, findings: &mut Findings) {
    const USE_JSON: &str = "take `serde_json::Value` for the field, or types that end";
    if let Some(reference) = schema["$ref"].as_str() {
        let name = reference.rsplit('/').next().unwrap_or_default();
        findings.error(path, format!("the type `{name}` contains itself, which a schema here can't say"), USE_JSON);
    }
    if schema["items"].is_array() {
        findings.error(path, "a tuple has no schema in Kubernetes", "take a struct with named fields");
    }
    if !schema["patternProperties"].is_null() {
        findings.error(
            path,
            "keys can't have a pattern (`patternProperties`)",
            "take a map with `String` or integers as keys",
        );
    }
    for keyword in ["definitions", "dependencies", "additionalItems", "id"] {
        if !schema[keyword].is_null() {
            findings.error(path, format!("Kubernetes doesn't take `{keyword}`"), "take it out of the schema");
        }
    }
    if flag(schema, "uniqueItems") {
        let fix = "take `x-kubernetes-list-type: set` instead";
        findings.error(path, "`uniqueItems` is refused, since it costs the square of the length", fix);
    }
    if let Some(pattern) = schema["pattern"].as_str() {
        check_pattern(pattern, path, findings);
    }
}

/// Reports patterns with syntax that Go's regular expressions don't have, and patterns with an unclosed bracket.
fn check_pattern(pattern: &str, path: &str, findings: &mut Findings) {
    let unescaped = pattern.replace(r"\\", "");
    let unknown = ["(?=", "(?!", "(?<=", "(?<!"].into_iter().find(|group| unescaped.contains(group));
    let reference = (1..=9).map(|number| format!("\\{number}")).find(|reference| unescaped.contains(reference));
    if let Some(part) = unknown.map(str::to_owned).or(reference) {
        let problem = format!("the pattern uses `{part}`, which Go's regular expressions don't know");
        findings.error(path, problem, "write it without looking ahead or back, or as a CEL rule");
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
        findings.error(path, format!("the pattern `{pattern}` ends in the middle"), "close every bracket");
    }
}

/// Reports a missing, unknown or wrong `type`, and lists without a schema of their items.
fn check_type(schema: &Value, path: &str, level: Level, findings: &mut Findings) {
    let kind = text(schema, "type");
    let is_unit = list(schema, "enum") == [Value::Null];
    if is_unit || kind == "null" {
        findings.error(
            path,
            "`()` has no schema in Kubernetes: no type is left for it",
            "take the field away, or take a struct",
        );
    } else if !kind.is_empty() && !TYPES.contains(&kind) {
        findings.error(path, format!("`{kind}` is no type"), format!("take one of {}", TYPES.join(", ")));
    } else if kind.is_empty()
        && (flag(schema, EMBEDDED_RESOURCE) || !(flag(schema, INT_OR_STRING) || flag(schema, PRESERVE_UNKNOWN_FIELDS)))
        && !is_reported(schema)
    {
        let fix = "give the field a type that has one schema, `serde_json::Value`, or `#[schemars(schema_with = ...)]`";
        findings.error(path, "the schema has no type", fix);
    } else if level == Level::Root && kind != "object" && !kind.is_empty() {
        findings.error(path, format!("a kind is an object, not `{kind}`"), "make the root a struct");
    }
    if kind == "array" && schema["items"].is_null() {
        findings.error(path, "the list doesn't say what its items are", "say `items`");
    }
    if matches!(schema["items"], Value::Bool(_)) || schema["items"].is_string() {
        findings.error(path, "`items` is no schema", "say the schema of the items");
    }
}

/// Whether [`check_keywords`] reports the missing type with a clearer message.
fn is_reported(schema: &Value) -> bool {
    schema["$ref"].is_string()
}

/// Checks the combinations of the keywords for open objects, embedded resources, int-or-string and maps.
fn check_kubernetes_keywords(schema: &Value, path: &str, findings: &mut Findings) {
    let kind = text(schema, "type");
    if schema[PRESERVE_UNKNOWN_FIELDS] == false {
        findings.error(
            path,
            format!("`{PRESERVE_UNKNOWN_FIELDS}: false` is refused"),
            "take it away: false is the default",
        );
    }
    for other in [PRESERVE_UNKNOWN_FIELDS, EMBEDDED_RESOURCE] {
        if flag(schema, INT_OR_STRING) && flag(schema, other) {
            findings.error(path, format!("`{INT_OR_STRING}` can't be with `{other}`"), "keep one");
        }
    }
    if flag(schema, EMBEDDED_RESOURCE) {
        if !kind.is_empty() && kind != "object" {
            findings.error(path, "an embedded resource is an object", "say `type: object`");
        }
        if !schema["additionalProperties"].is_null() {
            findings.error(path, "an embedded resource is no map", "take `additionalProperties` away");
        }
        if !flag(schema, PRESERVE_UNKNOWN_FIELDS) && entries(schema, "properties").next().is_none() {
            let fix = format!("say its fields, or `{PRESERVE_UNKNOWN_FIELDS}: true`");
            findings.error(path, "an embedded resource without fields loses everything", fix);
        }
    }
    let map = &schema["additionalProperties"];
    if (map.is_object() || *map == false) && entries(schema, "properties").next().is_some() {
        findings.error(path, "a schema is a struct or a map, not both", "move the map to a field of its own");
    }
}

/// Checks `apiVersion`, `kind` and `metadata` of the kind and of embedded resources, whose schemas Kubernetes defines.
fn check_object_fields(schema: &Value, path: &str, level: Level, findings: &mut Findings) {
    if level != Level::Root && !flag(schema, EMBEDDED_RESOURCE) {
        return;
    }
    for (name, kind) in [("apiVersion", "string"), ("kind", "string"), ("metadata", "object")] {
        let value = &schema["properties"][name];
        if !value.is_null() && value["type"] != kind {
            findings.error(
                &field(path, name),
                format!("`{name}` has to be of type {kind}"),
                "leave it out, or give it that type",
            );
        }
    }
    let metadata = &schema["properties"]["metadata"];
    let is_allowed = |key: &String| matches!(key.as_str(), "type" | "properties" | "description");
    let has_allowed_fields = entries(metadata, "properties").all(|(name, _)| name == "name" || name == "generateName");
    let has_allowed_keywords = metadata.as_object().is_none_or(|metadata| metadata.keys().all(is_allowed));
    if level == Level::Root && !(has_allowed_fields && has_allowed_keywords && metadata["description"].is_null()) {
        let fix = "leave the rest out: Kubernetes knows it";
        findings.error(&field(path, "metadata"), "only `name` and `generateName` may be restricted", fix);
    }
}

#[cfg(test)]
mod tests;
