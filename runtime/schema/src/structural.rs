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
pub fn parse_schema(written: &Value, metadata: Metadata) -> Schema {
    let mut root = level(written, metadata);
    if !matches!(root.shape, Shape::Object(_)) {
        root.shape = object(written, metadata);
    }
    if let Shape::Object(fields) = &mut root.shape {
        embed(fields, metadata);
    }
    root.keywords = Some(Box::new(Keywords::of(written)));
    root
}

/// Parses a part of the schema of a kind.
pub(crate) fn level(written: &Value, metadata: Metadata) -> Schema {
    Schema {
        shape: shape(written, metadata),
        nullable: written["nullable"] == true,
        default: written.get("default").filter(|default| !default.is_null()).cloned(),
        keywords: None,
    }
}

fn shape(written: &Value, metadata: Metadata) -> Shape {
    if written[INT_OR_STRING] == true {
        return Shape::Scalar(Scalar::IntOrText);
    }
    match written["type"].as_str() {
        Some("string") => Shape::Scalar(Scalar::Text),
        Some("integer") => Shape::Scalar(Scalar::Integer),
        Some("number") => Shape::Scalar(Scalar::Number),
        Some("boolean") => Shape::Scalar(Scalar::Boolean),
        Some("array") => Shape::List(list_of(written, metadata)),
        Some("object") => object(written, metadata),
        _ if written["properties"].is_object() || written["additionalProperties"].is_object() => {
            object(written, metadata)
        }
        _ if written["items"].is_object() => Shape::List(list_of(written, metadata)),
        _ => Shape::Any,
    }
}

fn object(written: &Value, metadata: Metadata) -> Shape {
    let known = written["properties"].as_object();
    let known = known.into_iter().flatten().map(|(name, schema)| (name.as_str().into(), level(schema, metadata)));
    let mut fields = Fields {
        known: known.collect(),
        others: others(written, metadata),
        required: words(written, "required"),
        atomic: written["x-kubernetes-map-type"] == "atomic",
        embedded: written[EMBEDDED_RESOURCE] == true,
    };
    if fields.embedded {
        embed(&mut fields, metadata);
    }
    Shape::Object(fields)
}

fn others(written: &Value, metadata: Metadata) -> OtherFields {
    match &written["additionalProperties"] {
        each @ Value::Object(_) => OtherFields::Each(Box::new(level(each, metadata))),
        Value::Bool(true) => OtherFields::Kept,
        _ if written[PRESERVE_UNKNOWN_FIELDS] == true => OtherFields::Kept,
        _ => OtherFields::Unknown,
    }
}

fn list_of(written: &Value, metadata: Metadata) -> List {
    let kind = match written["x-kubernetes-list-type"].as_str() {
        Some("set") => ListKind::Set,
        Some("map") => ListKind::Map(words(written, "x-kubernetes-list-map-keys")),
        _ => ListKind::Atomic,
    };
    List { items: Box::new(level(&written["items"], metadata)), kind, merge: None }
}

/// Adds the fields that every object has. The schema of `metadata` is that of Kubernetes, whatever the definition says.
fn embed(fields: &mut Fields, metadata: Metadata) {
    let text = || Schema { shape: Shape::Scalar(Scalar::Text), ..Schema::default() };
    for name in ["apiVersion", "kind"] {
        fields.known.entry(name.into()).or_insert_with(text);
    }
    let shape = metadata.map_or(Shape::Any, Shape::Named);
    fields.known.insert("metadata".into(), Schema { shape, ..Schema::default() });
}

fn words(written: &Value, key: &str) -> Vec<Box<str>> {
    list(written, key).iter().filter_map(Value::as_str).map(Into::into).collect()
}
