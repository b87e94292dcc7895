//! Builds the HTTP responses of the API for kinds in a bucket.

use super::failure::ApiFailure;
use axum::body::Body;
use http::{HeaderValue, Response, StatusCode, header};
use serde_json::Value;

/// Returns a response whose body is the JSON `text`.
pub(super) fn json(code: StatusCode, text: Vec<u8>) -> Response<Body> {
    response(code, Body::from(text))
}

/// Returns a response whose body is an object, or only its metadata as `PartialObjectMetadata`.
pub(super) fn object(code: StatusCode, object: &Value, is_metadata_only: bool) -> Response<Body> {
    let text = if is_metadata_only { super::object::partial_metadata(object).to_string() } else { object.to_string() };
    json(code, text.into_bytes())
}

/// Returns a response with this status code and body, with the media type of JSON.
pub(super) fn response(code: StatusCode, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = code;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// Returns the response to a failed request: the `Status` object with its HTTP code.
pub(super) fn failure(failure: &ApiFailure) -> Response<Body> {
    let code = StatusCode::from_u16(failure.code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    json(code, failure.status().to_string().into_bytes())
}
