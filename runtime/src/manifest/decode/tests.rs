#![allow(clippy::unwrap_used)]

use serde::{Deserialize, Serialize};

use super::super::{fixture, render::files};
use super::*;

/// What a spec with this schema and this type is refused for.
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
    map: Option<std::collections::BTreeMap<u32, String>>,
}

#[test]
fn a_number_beyond_its_type_is_found_wherever_it_is() {
    let wide = json!({"type": "integer"});
    let spec = json!({"type": "object", "properties": {
        "small": wide, "list": {"type": "array", "items": wide},
        "map": {"type": "object", "additionalProperties": {"type": "string"}},
    }});
    let found = refused::<Numbers>(&spec);
    let paths: Vec<_> = found.iter().map(|found| found.split(": ").nth(1).unwrap()).collect();
    assert_eq!(paths, [".spec.list[*]", ".spec.map", ".spec.small"], "{found:#?}");
    assert!(found[2].contains("the schema admits `-1`, which the type can't decode: "), "{found:#?}");
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
    assert!(found[0].starts_with("Widget v1alpha1: .spec.inner.at: the schema admits `\"at\"`, "), "{found:#?}");
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
    let problem = "the type keeps fields that the schema doesn't name, and the API server drops them";
    assert!(found[0].starts_with(&format!("Widget v1alpha1: .spec.content: {problem}; add ")), "{found:#?}");
    assert_eq!(found.len(), 1, "the empty struct loses nothing: {found:#?}");
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
        "open": {"type": "object", OPEN: true},
        "map": {"type": "object", "additionalProperties": {"type": "string"}},
        "empty": {"type": "object", "maxProperties": 0},
    }});
    assert_eq!(said(&fixture::with_spec(&meant)), Vec::<String>::new());
}
