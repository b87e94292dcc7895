//! Corrects a definition by the types it was derived from: nulls, keywords that were dropped, types of Kubernetes.
//!
//! `kube` writes every type out in place, so its schema no longer says which part is of which type. The schema with
//! references does; both are walked together.

mod kubernetes;

use std::collections::BTreeSet;

use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::{Map, Value};

use super::super::finding::Findings;
use super::schema::{JUNCTORS, field, items, list, values};

const EITHER: &str = "x-kubernetes-int-or-string";

/// What a schema of a definition may say; everything else is dropped when the definition is made.
const KEYWORDS: [&str; 42] = [
    "$ref",
    "$schema",
    "additionalItems",
    "additionalProperties",
    "allOf",
    "anyOf",
    "default",
    "definitions",
    "dependencies",
    "description",
    "enum",
    "example",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "externalDocs",
    "format",
    "id",
    "items",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "not",
    "nullable",
    "oneOf",
    "pattern",
    "patternProperties",
    "properties",
    "required",
    "title",
    "type",
    "uniqueItems",
    "x-kubernetes-embedded-resource",
    "x-kubernetes-int-or-string",
    "x-kubernetes-list-map-keys",
    "x-kubernetes-list-type",
    "x-kubernetes-map-type",
];
/// The same, of Kubernetes' own.
const MORE_KEYWORDS: [&str; 2] = ["x-kubernetes-preserve-unknown-fields", "x-kubernetes-validations"];
/// What derives say beside the rules for a value; nothing is lost with it.
const REMARKS: [&str; 7] =
    ["$comment", "components", "contentEncoding", "contentMediaType", "deprecated", "readOnly", "writeOnly"];

/// The schema of `K` as its derives say it, with its types by name below `components/schemas`.
pub(crate) fn schema_by_names<K: JsonSchema>() -> Value {
    let settings = SchemaSettings::openapi3().with(|settings| settings.meta_schema = None);
    settings.into_generator().into_root_schema_for::<K>().to_value()
}

/// Corrects `schema`, as `kube` derives it, by the schema `by_names` of the same type.
pub(crate) fn correct(schema: &mut Value, by_names: &Value, found: &mut Findings) {
    Walk { definitions: &by_names["components"]["schemas"], found }.node(schema, &[by_names], "");
}

struct Walk<'a, 'f> {
    definitions: &'a Value,
    found: &'f mut Findings,
}

impl<'a> Walk<'a, '_> {
    /// `said` is what the types say of the node.
    fn node(&mut self, schema: &mut Value, said: &[&'a Value], path: &str) {
        let origin = Origin::of(said, self.definitions);
        let Some(object) = schema.as_object_mut().filter(|_| !origin.schemas.is_empty()) else { return };
        self.keywords(&origin, object, path);
        if object.get(EITHER).is_some() && !origin.takes_null() {
            object.remove("nullable");
        }
        for name in &origin.names {
            for lost in kubernetes::complete(object, name) {
                let problem = "Kubernetes merges this list by a key that may be missing, which a definition can't say, so one applier replaces the items of another";
                let fix = "take a type of your own for the items, with the key as a required field, or say `x-kubernetes-list-type` of the list in a schema of your own (`schema_with`)";
                self.found.error(&field(path, lost), problem, fix);
            }
        }
        for (key, at, child) in parts(object, path) {
            let said = origin.part(key);
            self.node(child, &said, &at);
        }
    }

    /// Reports each keyword of the types that the definition has no place for. A constant is one of the values of an `enum`.
    fn keywords(&mut self, origin: &Origin<'a>, object: &Map<String, Value>, path: &str) {
        let keys: BTreeSet<_> = origin.schemas.iter().filter_map(|said| said.as_object()).flat_map(Map::keys).collect();
        let is_carried = |key: &str| key == "const" && object.contains_key("enum");
        let known = |key: &str| {
            is_carried(key) || KEYWORDS.iter().chain(&MORE_KEYWORDS).chain(&REMARKS).any(|known| *known == key)
        };
        for key in keys.into_iter().filter(|key| !known(key)) {
            let problem = format!("`{key}` is no keyword of a schema in Kubernetes, and is dropped");
            let fix = match nearest(key) {
                Some(known) => format!("write `{known}`, or take it away"),
                None => "take it away, or say it as a CEL rule (`x-kubernetes-validations`)".to_owned(),
            };
            self.found.error(path, problem, fix);
        }
    }
}

/// A part of a schema.
#[derive(Clone, Copy)]
enum SchemaPart<'a> {
    Field(&'a str),
    Items,
    Values,
}

/// The parts of a schema with their paths.
fn parts<'a>(object: &'a mut Map<String, Value>, path: &str) -> Vec<(SchemaPart<'a>, String, &'a mut Value)> {
    let mut parts = Vec::new();
    for (key, value) in object {
        match (key.as_str(), value) {
            ("properties", Value::Object(fields)) => parts.extend(
                fields.iter_mut().map(|(name, value)| (SchemaPart::Field(name.as_str()), field(path, name), value)),
            ),
            ("items", Value::Array(each)) => {
                parts.extend(each.iter_mut().map(|value| (SchemaPart::Items, items(path), value)));
            }
            ("items", value) => parts.push((SchemaPart::Items, items(path), value)),
            ("additionalProperties", value) => parts.push((SchemaPart::Values, values(path), value)),
            _ => {}
        }
    }
    parts
}

/// Everything that the types say of one node: the schemas behind references and in branches, and the names of the types.
struct Origin<'a> {
    schemas: Vec<&'a Value>,
    names: Vec<&'a str>,
}

impl<'a> Origin<'a> {
    fn of(said: &[&'a Value], definitions: &'a Value) -> Self {
        let mut origin = Self { schemas: Vec::new(), names: Vec::new() };
        let mut rest: Vec<&Value> = said.iter().rev().copied().collect();
        while let Some(schema) = rest.pop() {
            origin.schemas.push(schema);
            rest.extend(JUNCTORS.iter().flat_map(|junctor| list(schema, junctor)));
            let reference = schema["$ref"].as_str().and_then(|reference| reference.rsplit('/').next());
            if let Some((name, definition)) = reference.and_then(|name| Some((name, definitions.get(name)?)))
                && !origin.names.contains(&name)
            {
                origin.names.push(name);
                rest.push(definition);
            }
        }
        origin
    }

    fn part(&self, part: SchemaPart<'_>) -> Vec<&'a Value> {
        let of = |schema: &'a Value| -> Vec<&'a Value> {
            match part {
                SchemaPart::Field(name) => schema["properties"].get(name).into_iter().collect(),
                SchemaPart::Items => match &schema["items"] {
                    Value::Array(each) => each.iter().collect(),
                    value => Some(value).filter(|value| !value.is_null()).into_iter().collect(),
                },
                SchemaPart::Values => {
                    let patterns = schema["patternProperties"].as_object().into_iter().flat_map(Map::values);
                    schema.get("additionalProperties").into_iter().chain(patterns).collect()
                }
            }
        };
        self.schemas.iter().copied().flat_map(of).collect()
    }

    /// Whether null is a value of the type, or the type says nothing.
    fn takes_null(&self) -> bool {
        self.schemas.iter().any(|schema| {
            let null = |value: &Value| value.is_null() || value == "null";
            let named = schema["$ref"].is_string();
            let silent = ["type", "enum", EITHER, "allOf", "anyOf", "oneOf"].iter().all(|key| schema[*key].is_null());
            schema["nullable"] == true
                || schema["type"] == "null"
                || ["type", "enum"].iter().any(|key| list(schema, key).iter().any(null))
                || silent && !named
        })
    }
}

/// The keyword that was meant, if one is near enough.
fn nearest(key: &str) -> Option<&'static str> {
    // What `kube`'s `StructMerge` says: the API server has one keyword for structs and maps.
    if key == "x-kubernetes-struct-type" {
        return Some("x-kubernetes-map-type");
    }
    let near = |known: &&&'static str| distance(key, known) <= 1 + key.len() / 5;
    let known = KEYWORDS.iter().chain(&MORE_KEYWORDS);
    known.filter(near).min_by_key(|known| distance(key, known)).copied()
}

/// How many letters have to be put in, taken out or changed to make one word of the other.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (index, letter) in one.chars().enumerate() {
        let mut before = std::mem::replace(&mut row[0], index + 1);
        for (at, known) in other.iter().enumerate() {
            let changed = before + usize::from(letter != *known);
            before = row[at + 1];
            row[at + 1] = changed.min(before + 1).min(row[at] + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests;
