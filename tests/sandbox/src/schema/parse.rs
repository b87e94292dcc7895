//! Parses an OpenAPI v3 schema with the extensions of Kubernetes into a `Schema`.

use serde_json::Value;

use super::{Definition, Fields, List, ListKind, Merge, OtherFields, Scalar, Schema, Shape};

/// Returns the definition that a `$ref` names; `None` if there is none.
type Lookup = fn(&str) -> Option<&'static Definition>;

/// Parses a schema. A schema of an unknown type becomes [`Shape::Any`]. `lookup` finds the definition of a `$ref`.
pub(crate) fn parse(schema: &Value, lookup: Lookup) -> Schema {
    Schema {
        shape: parse_shape(schema, lookup),
        nullable: schema["nullable"] == true,
        default: schema.get("default").cloned(),
        keywords: None,
    }
}

/// Parses the type of a schema, or its reference to a definition, which is not resolved unless it is granular.
fn parse_shape(schema: &Value, lookup: Lookup) -> Shape {
    if let Some(name) = schema["$ref"].as_str() {
        let Some(definition) = lookup(name) else { return Shape::Any };
        return if schema["x-kubernetes-map-type"] == "granular" {
            parse_granular(definition, lookup)
        } else {
            Shape::Named(definition)
        };
    }
    if schema["x-kubernetes-int-or-string"] == true || schema["format"] == "int-or-string" {
        return Shape::Scalar(Scalar::IntOrText);
    }
    match schema["type"].as_str() {
        Some("string") => Shape::Scalar(Scalar::Text),
        Some("integer") => Shape::Scalar(Scalar::Integer),
        Some("number") => Shape::Scalar(Scalar::Number),
        Some("boolean") => Shape::Scalar(Scalar::Boolean),
        Some("array") => Shape::List(parse_list(schema, lookup)),
        Some("object") => parse_object(schema, lookup),
        _ if schema["oneOf"].is_array() => Shape::Scalar(Scalar::IntOrText),
        _ if schema["properties"].is_object() => parse_object(schema, lookup),
        _ => Shape::Any,
    }
}

/// Parses a reference with the map type `granular`: the shape of the definition without its own map type, so that
/// server-side apply merges the fields of an atomic definition one by one where it is referred to so.
fn parse_granular(definition: &'static Definition, lookup: Lookup) -> Shape {
    let mut schema: Value = serde_json::from_str(definition.text).unwrap_or_default();
    if let Value::Object(keywords) = &mut schema {
        keywords.remove("x-kubernetes-map-type");
    }
    parse_shape(&schema, lookup)
}

/// Parses an object with known fields or a map.
fn parse_object(schema: &Value, lookup: Lookup) -> Shape {
    let known = schema["properties"].as_object();
    let known = known.into_iter().flatten().map(|(name, schema)| (name.as_str().into(), parse(schema, lookup)));
    let embedded = schema["x-kubernetes-embedded-resource"] == true;
    let fields = Fields {
        known: known.collect(),
        others: parse_other_fields(schema, lookup),
        required: strings(&schema["required"]),
        atomic: schema["x-kubernetes-map-type"] == "atomic",
        embedded,
    };
    Shape::Object(fields)
}

/// Returns what a schema allows for fields that `properties` doesn't name: any value, values of one schema, or nothing.
fn parse_other_fields(schema: &Value, lookup: Lookup) -> OtherFields {
    if schema["x-kubernetes-preserve-unknown-fields"] == true {
        return OtherFields::Kept;
    }
    match &schema["additionalProperties"] {
        Value::Bool(true) => OtherFields::Kept,
        each @ Value::Object(_) => OtherFields::Each(Box::new(parse(each, lookup))),
        _ if schema["properties"].is_object() => OtherFields::Unknown,
        // The table's objects without properties (`FieldsV1`, `RawExtension`) hold anything.
        _ => OtherFields::Kept,
    }
}

/// Parses a list, with its list type and its strategy for strategic merge patches.
fn parse_list(schema: &Value, lookup: Lookup) -> List {
    let kind = match schema["x-kubernetes-list-type"].as_str() {
        Some("set") => ListKind::Set,
        Some("map") => ListKind::Map(strings(&schema["x-kubernetes-list-map-keys"])),
        _ => ListKind::Atomic,
    };
    let merge = strategies(schema).any(|strategy| strategy == "merge").then(|| Merge {
        key: schema["x-kubernetes-patch-merge-key"].as_str().map(Into::into),
        retain_keys: strategies(schema).any(|strategy| strategy == "retainKeys"),
    });
    List { items: Box::new(parse(&schema["items"], lookup)), kind, merge }
}

/// Returns the strategies of `x-kubernetes-patch-strategy`, such as `merge,retainKeys`.
fn strategies(schema: &Value) -> impl Iterator<Item = &str> {
    schema["x-kubernetes-patch-strategy"].as_str().unwrap_or_default().split(',')
}

/// Returns the texts in a list; nothing if the value is no list.
fn strings(value: &Value) -> Vec<Box<str>> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).map(Into::into).collect()
}
