//! Implements the verb `get`, and encodes objects for the responses of all verbs.

use bytes::{Bytes, BytesMut};
use http::StatusCode;
use serde_json::{Value, json};

use super::{
    list_options::{self, check_reached},
    outcome::WrittenObject,
};
use crate::{
    call::Representation,
    discovery::print,
    failure::Failure,
    kind::Kind,
    object,
    request::ResourceRequest,
    response::{ApiResponse, line},
    store::Stored,
};

/// Handles a get. Returns a 404 error if the object does not exist, or a 504 error if the store has not reached the requested version yet.
pub(super) async fn get(request: ResourceRequest<'_>) -> Result<ApiResponse, Failure> {
    // The current state satisfies every version that the store has reached.
    if let Some(version) = list_options::version(&request.call.options, request.call.verb)? {
        check_reached(request, version)?;
    }
    let stored = request.stored_object()?;
    request.convert(std::slice::from_ref(&stored)).await?;
    if request.call.accept.representation() == Representation::Json {
        return Ok(ApiResponse::json(StatusCode::OK, encode_stored(request.kind, &stored)));
    }
    object_response(request, StatusCode::OK, stored.object(request.kind))
}

/// Returns the response with the object after a write. Copies the JSON text of a stored object, without decoding it, if the client accepts
/// JSON.
pub(super) fn write_response(
    request: ResourceRequest<'_>,
    code: StatusCode,
    state: WrittenObject,
) -> Result<ApiResponse, Failure> {
    match state {
        WrittenObject::Stored(stored) if request.call.accept.representation() == Representation::Json => {
            Ok(ApiResponse::json(code, encode_stored(request.kind, &stored)))
        }
        state => object_response(request, code, state.object(request.kind)),
    }
}

/// Returns a response with an object in the representation that the request accepts. Returns a 406 error if the server does not support the
/// representation, or if it is that of a list.
pub(super) fn object_response(
    request: ResourceRequest<'_>,
    code: StatusCode,
    object: Value,
) -> Result<ApiResponse, Failure> {
    let mut object = match request.call.accept.representation() {
        Representation::Table => {
            let metadata = object::version(&object).map_or(json!({}), |version| json!({"resourceVersion": version}));
            print::table(request, &[object], &metadata)?
        }
        Representation::Metadata => metadata_of(&object),
        Representation::MetadataList => {
            let what = "you requested PartialObjectMetadataList, but the requested object is not a list";
            return Err(Failure::not_acceptable(format!("{what} ({})", go_type(request.kind, ""))));
        }
        Representation::Unsupported | Representation::UnknownShape => return Err(Failure::no_such_representation()),
        Representation::Json | Representation::Yaml | Representation::Discovery => object,
    };
    if matches!(request.call.accept.representation(), Representation::Table | Representation::Metadata) {
        object["apiVersion"] = request.call.accept.meta_version().into();
    }
    Ok(ApiResponse::json(code, line(&object)))
}

/// Returns the Go type of a kind's objects for error messages, such as `*apps.Deployment`; the suffix `List` makes it the type of a list.
pub(super) fn go_type(kind: &Kind, suffix: &str) -> String {
    if kind.custom().is_some() {
        return format!("*unstructured.Unstructured{suffix}");
    }
    let group = kind.group.split('.').next().filter(|group| !group.is_empty()).unwrap_or("core");
    format!("*{group}.{}{suffix}", kind.kind)
}

/// Returns the object as `PartialObjectMetadata`.
pub(super) fn metadata_of(object: &Value) -> Value {
    let metadata = object::at(object, &["metadata"]).cloned().unwrap_or_default();
    json!({"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": metadata})
}

/// Returns the JSON text of a stored object with `kind` and `apiVersion` in front and a line feed at the end. Decodes the stored text only
/// if it must be converted to another version.
pub(super) fn encode_stored(kind: &Kind, stored: &Stored) -> Bytes {
    let mut text = BytesMut::with_capacity(stored.json.len() + 64);
    text.extend_from_slice(&type_meta(kind));
    // `type_meta` replaces the opening brace.
    text.extend_from_slice(stored.text(kind).get(1..).unwrap_or_default());
    text.extend_from_slice(b"\n");
    text.freeze()
}

/// Returns the beginning of an object's JSON text: `{"kind":"Pod","apiVersion":"v1",`.
pub(super) fn type_meta(kind: &Kind) -> Bytes {
    Bytes::from(format!("{{\"kind\":{:?},\"apiVersion\":{:?},", kind.kind, kind.api_version()))
}
