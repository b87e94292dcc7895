//! Serves `/openapi/v2`: all definitions and no paths, because clients look up kinds in version 3.

use serde_json::{Map, Value, json};

use super::{components, gnostic};
use crate::{
    call::{Call, Representation},
    discovery::{etag::tagged, groups::Groups, version::RELEASE},
    failure::Failure,
    response::{ApiResponse, Content},
};

/// The media type that Go clients request.
const PROTOBUF: &str = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";

/// Serves the document as JSON or protobuf, as the request accepts.
pub(crate) fn answer(groups: &Groups, call: &Call) -> Result<ApiResponse, Failure> {
    let form = call.accept.representation();
    if form == Representation::Unsupported && !call.accept.is_gnostic() {
        return Err(Failure::not_acceptable("only the following media types are accepted: application/json"));
    }
    let document = document(groups);
    let mut answer = ApiResponse::json(http::StatusCode::OK, document.to_string().into());
    if form == Representation::Unsupported {
        answer.content = Content::Whole(gnostic::document(&document).into());
        answer.content_type = PROTOBUF;
    }
    Ok(tagged(answer))
}

fn document(groups: &Groups) -> Value {
    let kinds: Vec<_> =
        groups.all().flat_map(|group| group.versions.iter().flat_map(|version| group.kinds(version))).collect();
    let mut definitions = Value::Object(components::schemas(&kinds));
    older(&mut definitions);
    json!({
        "swagger": "2.0", "info": {"title": "Kubernetes", "version": RELEASE}, "paths": {},
        "definitions": definitions,
    })
}

/// Converts a schema to version 2, which has no alternatives: a reference stands next to other keywords, and a field of
/// several types has no type.
fn older(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            map.values_mut().for_each(older);
            rename_reference(map);
            if let Some(reference) = only_reference(map) {
                map.remove("allOf");
                map.insert("$ref".into(), reference);
            }
            ["oneOf", "anyOf", "not", "nullable"].iter().for_each(|newer| drop(map.remove(*newer)));
        }
        Value::Array(items) => items.iter_mut().for_each(older),
        _ => {}
    }
}

fn rename_reference(map: &mut Map<String, Value>) {
    if let Some(Value::String(reference)) = map.get_mut("$ref") {
        *reference = reference.replace("#/components/schemas/", "#/definitions/");
    }
}

/// Returns the reference of an `allOf` that contains nothing else.
fn only_reference(map: &Map<String, Value>) -> Option<Value> {
    match map.get("allOf")?.as_array()?.as_slice() {
        [one] => one.get("$ref").cloned(),
        _ => None,
    }
}
