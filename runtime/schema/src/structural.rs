//! Parses the structural schemas of CustomResourceDefinitions.

use serde_json::Value;

use super::{Fields, List, ListKind, Others, Scalar, Schema, Shape, builtin, keywords::Keywords};

/// The definition of `metadata`, wherever an object is a whole one.
const METADATA: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";

/// Reads the schema of a whole object.
pub(crate) fn structural(written: &Value) -> Schema {
    let mut root = level(written);
    if !matches!(root.shape, Shape::Object(_)) {
        root.shape = object(written);
    }
    if let Shape::Object(fields) = &mut root.shape {
        embed(fields);
    }
    root.keywords = Some(Box::new(Keywords::of(written)));
    root
}

pub(super) fn level(written: &Value) -> Schema {
    Schema {
        shape: shape(written),
        nullable: written["nullable"] == true,
        default: written.get("default").filter(|default| !default.is_null()).cloned(),
        keywords: None,
    }
}

fn shape(written: &Value) -> Shape {
    if written["x-kubernetes-int-or-string"] == true {
        return Shape::Scalar(Scalar::IntOrText);
    }
    match written["type"].as_str() {
        Some("string") => Shape::Scalar(Scalar::Text),
        Some("integer") => Shape::Scalar(Scalar::Integer),
        Some("number") => Shape::Scalar(Scalar::Number),
        Some("boolean") => Shape::Scalar(Scalar::Boolean),
        Some("array") => Shape::List(list(written)),
        Some("object") => object(written),
        _ if written["properties"].is_object() || written["additionalProperties"].is_object() => object(written),
        _ if written["items"].is_object() => Shape::List(list(written)),
        _ => Shape::Any,
    }
}

fn object(written: &Value) -> Shape {
    let known = written["properties"].as_object();
    let known = known.into_iter().flatten().map(|(name, schema)| (name.as_str().into(), level(schema)));
    let mut fields = Fields {
        known: known.collect(),
        others: others(written),
        required: words(&written["required"]),
        atomic: written["x-kubernetes-map-type"] == "atomic",
        embedded: written["x-kubernetes-embedded-resource"] == true,
    };
    if fields.embedded {
        embed(&mut fields);
    }
    Shape::Object(fields)
}

fn others(written: &Value) -> Others {
    match &written["additionalProperties"] {
        each @ Value::Object(_) => Others::Each(Box::new(level(each))),
        Value::Bool(true) => Others::Kept,
        _ if written["x-kubernetes-preserve-unknown-fields"] == true => Others::Kept,
        _ => Others::Unknown,
    }
}

fn list(written: &Value) -> List {
    let kind = match written["x-kubernetes-list-type"].as_str() {
        Some("set") => ListKind::Set,
        Some("map") => ListKind::Map(words(&written["x-kubernetes-list-map-keys"])),
        _ => ListKind::Atomic,
    };
    List { items: Box::new(level(&written["items"])), kind, merge: None }
}

/// A whole object has these, whatever the schema says of them.
fn embed(fields: &mut Fields) {
    let text = || Schema { shape: Shape::Scalar(Scalar::Text), ..Schema::default() };
    for name in ["apiVersion", "kind"] {
        fields.known.entry(name.into()).or_insert_with(text);
    }
    let shape = builtin::definition(METADATA).map_or(Shape::Any, Shape::Named);
    fields.known.insert("metadata".into(), Schema { shape, ..Schema::default() });
}

fn words(value: &Value) -> Vec<Box<str>> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).map(Into::into).collect()
}
