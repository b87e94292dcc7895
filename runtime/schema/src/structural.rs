//! Parses the structural schemas of CustomResourceDefinitions.

use serde_json::Value;

use crate::{
    accessor::list,
    keyword::{EMBEDDED_RESOURCE, INT_OR_STRING, PRESERVE_UNKNOWN_FIELDS},
    keywords::Keywords,
    shape::{Definition, Fields, List, ListKind, OtherFields, Scalar, Schema, Shape},
};

/// The definition of the metadata of objects; `None` admits any metadata.
pub type Metadata = Option<&'static Definition>;

/// Parses the schema of a kind: an object with `apiVersion`, `kind` and `metadata`. Only this schema has
/// [`keywords`](Schema::keywords).
pub fn parse_schema(schema: &Value, metadata: Metadata) -> Schema {
    let mut root = parse_level(schema, metadata);
    if !matches!(root.shape, Shape::Object(_)) {
        root.shape = parse_object(schema, metadata);
    }
    if let Shape::Object(fields) = &mut root.shape {
        add_object_fields(fields, metadata);
    }
    root.keywords = Some(Box::new(Keywords::of(schema)));
    root
}

/// Parses the schema of a part of a kind, without keywords.
pub(crate) fn parse_level(schema: &Value, metadata: Metadata) -> Schema {
    Schema {
        shape: parse_shape(schema, metadata),
        nullable: schema["nullable"] == true,
        default: schema.get("default").filter(|default| !default.is_null()).cloned(),
        keywords: None,
    }
}

/// Returns the shape of a schema by its type; without a type, by its fields or items.
fn parse_shape(schema: &Value, metadata: Metadata) -> Shape {
    if schema[INT_OR_STRING] == true {
        return Shape::Scalar(Scalar::IntOrText);
    }
    match schema["type"].as_str() {
        Some("string") => Shape::Scalar(Scalar::Text),
        Some("integer") => Shape::Scalar(Scalar::Integer),
        Some("number") => Shape::Scalar(Scalar::Number),
        Some("boolean") => Shape::Scalar(Scalar::Boolean),
        Some("array") => Shape::List(parse_list(schema, metadata)),
        Some("object") => parse_object(schema, metadata),
        _ if schema["properties"].is_object() || schema["additionalProperties"].is_object() => {
            parse_object(schema, metadata)
        }
        _ if schema["items"].is_object() => Shape::List(parse_list(schema, metadata)),
        _ => Shape::Any,
    }
}

/// Parses the schema of an object: its fields, required fields and extensions.
fn parse_object(schema: &Value, metadata: Metadata) -> Shape {
    let known = schema["properties"].as_object();
    let known = known.into_iter().flatten().map(|(name, schema)| (name.as_str().into(), parse_level(schema, metadata)));
    let mut fields = Fields {
        known: known.collect(),
        others: parse_other_fields(schema, metadata),
        required: strings(schema, "required"),
        atomic: schema["x-kubernetes-map-type"] == "atomic",
        embedded: schema[EMBEDDED_RESOURCE] == true,
    };
    if fields.embedded {
        add_object_fields(&mut fields, metadata);
    }
    Shape::Object(fields)
}

/// Returns the treatment of fields that `properties` doesn't name.
fn parse_other_fields(schema: &Value, metadata: Metadata) -> OtherFields {
    match &schema["additionalProperties"] {
        each @ Value::Object(_) => OtherFields::Each(Box::new(parse_level(each, metadata))),
        Value::Bool(true) => OtherFields::Kept,
        _ if schema[PRESERVE_UNKNOWN_FIELDS] == true => OtherFields::Kept,
        _ => OtherFields::Unknown,
    }
}

/// Parses the schema of a list, with its list type.
fn parse_list(schema: &Value, metadata: Metadata) -> List {
    let kind = match schema["x-kubernetes-list-type"].as_str() {
        Some("set") => ListKind::Set,
        Some("map") => ListKind::Map(strings(schema, "x-kubernetes-list-map-keys")),
        _ => ListKind::Atomic,
    };
    List { items: Box::new(parse_level(&schema["items"], metadata)), kind, merge: None }
}

/// Adds the fields `apiVersion`, `kind` and `metadata` of a Kubernetes object, unless the schema defines them. The schema of `metadata` is
/// always replaced by that of Kubernetes.
fn add_object_fields(fields: &mut Fields, metadata: Metadata) {
    let text = || Schema { shape: Shape::Scalar(Scalar::Text), ..Schema::default() };
    for name in ["apiVersion", "kind"] {
        fields.known.entry(name.into()).or_insert_with(text);
    }
    let shape = metadata.map_or(Shape::Any, Shape::Named);
    fields.known.insert("metadata".into(), Schema { shape, ..Schema::default() });
}

/// Returns the strings in a list keyword; none if it is missing.
fn strings(schema: &Value, key: &str) -> Vec<Box<str>> {
    list(schema, key).iter().filter_map(Value::as_str).map(Into::into).collect()
}
