//! Tests the check that Rust types decode all values that their CustomResourceDefinitions admit, and keep no fields that the API server
//! prunes.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::super::{fixture, render::files};
use super::*;

/// Returns the errors for a spec with this schema and this type.
fn refused<T>(spec: &Value) -> Vec<String>
where
    T: Serialize + for<'a> Deserialize<'a>,
{
    let mut project = fixture::with_spec(spec);
    project.controllers[0].round_trip = Some(RoundTrip::new(|object| {
        let spec: T = serde_json::from_value(object["spec"].clone())?;
        Ok(json!({"spec": serde_json::to_value(spec)?}))
    }));
    said(&project)
}

fn said(project: &Project) -> Vec<String> {
    match files(project) {
        Ok(rendered) => rendered.findings.iter().map(ToString::to_string).collect(),
        Err(super::super::ManifestError::Invalid(findings)) => findings.iter().map(ToString::to_string).collect(),
        Err(error) => vec![error.to_string()],
    }
}

#[derive(Serialize, Deserialize)]
struct Numbers {
    small: Option<u8>,
    list: Option<Vec<i32>>,
    map: Option<BTreeMap<u32, String>>,
}

#[test]
fn a_number_beyond_its_type_is_found_wherever_it_is() {
    let wide = json!({"type": "integer"});
    let spec = json!({"type": "object", "properties": {
        "small": wide, "list": {"type": "array", "items": wide},
        "map": {"type": "object", "additionalProperties": {"type": "string"}},
    }});
    let found = refused::<Numbers>(&spec);
    let paths: Vec<_> = found.iter().map(|found| path(found)).collect();
    assert_eq!(paths, [".spec.list[*]", ".spec.map", ".spec.small"], "{found:#?}");
    assert!(found[2].contains("the schema accepts `-1`, which the type can't decode: "), "{found:#?}");
    let exact = json!({"type": "object", "properties": {
        "small": {"type": "integer", "minimum": 0, "maximum": 255},
        "list": {"type": "array", "items": {"type": "integer", "format": "int32"}},
    }});
    assert_eq!(refused::<Numbers>(&exact), Vec::<String>::new());
}

#[derive(Serialize, Deserialize)]
struct Nested {
    inner: Inner,
}

#[derive(Serialize, Deserialize)]
struct Inner {
    at: std::net::SocketAddr,
}

#[test]
fn a_required_field_is_blamed_by_its_own_path() {
    let inner = json!({"type": "object", "properties": {"at": {"type": "string"}}, "required": ["at"]});
    let spec = json!({"type": "object", "properties": {"inner": inner}, "required": ["inner"]});
    let found = refused::<Nested>(&spec);
    assert!(found[0].starts_with("Widget v1alpha1: .spec.inner.at: the schema accepts `\"at\"`, "), "{found:#?}");
    assert_eq!(found.len(), 1, "{found:#?}");
}

#[derive(Serialize, Deserialize)]
struct Open {
    content: Option<Value>,
    empty: Option<Empty>,
}

#[derive(Serialize, Deserialize)]
struct Empty {}

#[test]
fn content_that_the_type_keeps_and_the_schema_drops_is_found() {
    let object = json!({"type": "object"});
    let spec = json!({"type": "object", "properties": {"content": object, "empty": object}});
    let found = refused::<Open>(&spec);
    let problem = "the type accepts fields that are not in the schema, and the API server drops them";
    assert!(found[0].starts_with(&format!("Widget v1alpha1: .spec.content: {problem}; add ")), "{found:#?}");
    assert_eq!(found.len(), 1, "the empty struct loses nothing: {found:#?}");
}

#[derive(Serialize, Deserialize)]
struct Maps {
    flags: Option<BTreeMap<String, bool>>,
    lists: Option<BTreeMap<String, Vec<String>>>,
    numbered: Option<BTreeMap<u32, String>>,
    parts: Option<BTreeMap<String, Inner>>,
    chosen: Option<BTreeMap<Color, String>>,
    listed: Option<Vec<BTreeMap<String, i8>>>,
}

#[derive(Serialize, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
enum Color {
    Red,
}

#[derive(Serialize, Deserialize)]
struct Structs {
    one: Option<One>,
    two: Option<Two>,
    defaulted: Option<Defaulted>,
}

#[derive(Serialize, Deserialize)]
struct One {
    #[serde(skip_serializing_if = "Option::is_none")]
    on: Option<bool>,
}

#[derive(Serialize, Deserialize)]
struct Two {
    #[serde(skip_serializing_if = "Option::is_none")]
    on: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    off: Option<bool>,
}

#[derive(Serialize, Deserialize)]
struct Defaulted {
    #[serde(default, skip_serializing_if = "String::is_empty")]
    text: String,
}

/// Checks the paths of objects that are refused since the API server drops their content.
#[track_caller]
fn check_pruned<T>(fields: &Value, expected: &[&str])
where
    T: Serialize + for<'a> Deserialize<'a>,
{
    let found = refused::<T>(&json!({"type": "object", "properties": fields}));
    let paths: Vec<_> =
        found.iter().filter(|found| found.contains("the API server drops ")).map(|found| path(found)).collect();
    assert_eq!((paths, found.len()), (expected.to_vec(), expected.len()), "{found:#?}");
}

fn path(found: &str) -> &str {
    found.split(": ").nth(1).unwrap()
}

#[test]
fn a_map_that_decodes_no_unknown_field_is_found() {
    let object = json!({"type": "object"});
    let fields = json!({
        "chosen": object, "flags": object, "listed": {"type": "array", "items": object}, "lists": object,
        "numbered": object, "parts": object,
    });
    let paths = [".spec.chosen", ".spec.flags", ".spec.listed[*]", ".spec.lists", ".spec.numbered", ".spec.parts"];
    check_pruned::<Maps>(&fields, &paths);
}

#[test]
fn a_struct_whose_optional_fields_are_not_in_the_schema_is_found() {
    let object = json!({"type": "object"});
    let fields = json!({"defaulted": object, "one": object, "two": object});
    check_pruned::<Structs>(&fields, &[".spec.defaulted", ".spec.one", ".spec.two"]);
}

#[derive(Serialize, Deserialize)]
struct Empties {
    strict: Option<Strict>,
    list: Option<Vec<Empty>>,
    map: Option<BTreeMap<String, Empty>>,
    outer: Option<Outer>,
    inner: Option<Tagged>,
    untagged: Option<Untagged>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Strict {}

#[derive(Serialize, Deserialize)]
enum Outer {
    First { width: i32 },
    Last {},
    Struct(Empty),
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "kind")]
enum Tagged {
    First { width: i32 },
    Last { content: Empty },
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Untagged {
    First { width: i32 },
    Last { content: Empty },
}

fn variants(last: &Value) -> Value {
    let (object, width) = (json!({"type": "object"}), json!({"type": "integer", "format": "int32"}));
    let first = json!({"type": "object", "properties": {"width": width}, "required": ["width"]});
    json!({
        "outer": {
            "type": "object", "properties": {"First": first, "Last": object, "Struct": object},
            "oneOf": [{"required": ["First"]}, {"required": ["Last"]}, {"required": ["Struct"]}],
        },
        "inner": {
            "type": "object", "required": ["kind"],
            "properties": {"kind": {"type": "string", "enum": ["First", "Last"]}, "width": width, "content": last},
            "oneOf": [
                {"properties": {"kind": {"enum": ["First"]}}, "required": ["width"]},
                {"properties": {"kind": {"enum": ["Last"]}}, "required": ["content"]},
            ],
        },
        "untagged": {
            "type": "object", "properties": {"width": width, "content": last},
            "anyOf": [{"required": ["width"]}, {"required": ["content"]}],
        },
    })
}

#[test]
fn a_type_without_fields_loses_nothing_wherever_it_is() {
    let object = json!({"type": "object"});
    let mut fields = variants(&object);
    fields["strict"] = object.clone();
    fields["list"] = json!({"type": "array", "items": object});
    fields["map"] = json!({"type": "object", "additionalProperties": object});
    check_pruned::<Empties>(&fields, &[]);
}

#[derive(Serialize, Deserialize)]
struct Variants {
    inner: Option<TaggedMap>,
    outer: Option<OuterMap>,
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "kind")]
enum TaggedMap {
    First { width: i32 },
    Last { content: BTreeMap<String, bool> },
}

#[derive(Serialize, Deserialize)]
enum OuterMap {
    First { width: i32 },
    Last(BTreeMap<String, bool>),
    Struct(Empty),
}

#[test]
fn a_map_in_a_later_variant_is_found() {
    let mut fields = variants(&json!({"type": "object"}));
    fields.as_object_mut().unwrap().remove("untagged");
    check_pruned::<Variants>(&fields, &[".spec.inner.content", ".spec.outer.Last"]);
}

#[test]
fn an_object_without_fields_is_refused_where_no_type_says_that_it_is_empty() {
    let spec = json!({"type": "object", "properties": {"content": {"type": "object"}}});
    let found = said(&fixture::with_spec(&spec));
    assert!(
        found[0].starts_with("Widget v1alpha1: .spec.content: the object has no fields in the schema, "),
        "{found:#?}"
    );
    let meant = json!({"type": "object", "properties": {
        "open": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
        "map": {"type": "object", "additionalProperties": {"type": "string"}},
        "empty": {"type": "object", "maxProperties": 0},
    }});
    assert_eq!(said(&fixture::with_spec(&meant)), Vec::<String>::new());
}
