//! Serves `/openapi/v2`: all definitions and no paths, because clients look up kinds in version 3.

use serde_json::{Map, Value, json};

use super::{components, gnostic};
use crate::{
    call::{Call, Representation},
    discovery::{etag::with_etag, groups::Groups, version::RELEASE},
    failure::Failure,
    response::{ApiResponse, Content},
};

/// The media type that Go clients request.
const PROTOBUF: &str = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";

/// Serves `/openapi/v2` as JSON, or as protobuf to a request that accepts only protobuf.
///
/// # Errors
/// `NotAcceptable` if the request accepts neither JSON nor protobuf.
pub(crate) fn answer(groups: &Groups, call: &Call) -> Result<ApiResponse, Failure> {
    let representation = call.accept.representation();
    if representation == Representation::Unsupported && !call.accept.is_gnostic() {
        return Err(Failure::not_acceptable("only the following media types are accepted: application/json"));
    }
    let document = build_document(groups);
    let mut response = ApiResponse::json(http::StatusCode::OK, document.to_string().into());
    if representation == Representation::Unsupported {
        response.content = Content::Whole(gnostic::document(&document).into());
        response.content_type = PROTOBUF;
    }
    Ok(with_etag(response))
}

/// Builds the document with the definitions of all served kinds.
fn build_document(groups: &Groups) -> Value {
    let kinds: Vec<_> =
        groups.all().flat_map(|group| group.versions.iter().flat_map(|version| group.kinds(version))).collect();
    let mut definitions = Value::Object(components::schemas(&kinds));
    downgrade(&mut definitions);
    json!({
        "swagger": "2.0", "info": {"title": "Kubernetes", "version": RELEASE}, "paths": {},
        "definitions": definitions,
    })
}

/// Converts a schema from OpenAPI v3 to v2: removes `oneOf`, `anyOf`, `not` and `nullable`, which v2 does not have, and replaces an `allOf`
/// with a single reference by the reference.
fn downgrade(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            map.values_mut().for_each(downgrade);
            rename_reference(map);
            if let Some(reference) = only_reference(map) {
                map.remove("allOf");
                map.insert("$ref".into(), reference);
            }
            ["oneOf", "anyOf", "not", "nullable"].iter().for_each(|keyword| drop(map.remove(*keyword)));
        }
        Value::Array(items) => items.iter_mut().for_each(downgrade),
        _ => {}
    }
}

/// Points a reference to `definitions`, where OpenAPI v2 has its schemas.
fn rename_reference(map: &mut Map<String, Value>) {
    if let Some(Value::String(reference)) = map.get_mut("$ref") {
        *reference = reference.replace("#/components/schemas/", "#/definitions/");
    }
}

/// Returns the reference in an `allOf` whose only item is a reference; otherwise `None`.
fn only_reference(map: &Map<String, Value>) -> Option<Value> {
    match map.get("allOf")?.as_array()?.as_slice() {
        [schema] => schema.get("$ref").cloned(),
        _ => None,
    }
}
