//! Builds the responses for paths that the server does not serve.

use http::StatusCode;

use crate::response::ApiResponse;

/// The "404 page not found" response of Go's HTTP server, for a path that no handler serves.
pub(crate) fn no_page() -> ApiResponse {
    let mut answer = ApiResponse::text("404 page not found\n");
    answer.code = StatusCode::NOT_FOUND;
    answer.headers.push(("x-content-type-options", "nosniff".to_owned()));
    answer
}

/// A 404 response with an empty body.
pub(super) fn nothing() -> ApiResponse {
    let mut answer = ApiResponse::text("");
    (answer.code, answer.content_type) = (StatusCode::NOT_FOUND, "");
    answer
}

/// The response of Go's server to a path that it can't parse.
pub(super) fn unusable(path: &str) -> ApiResponse {
    let why = "failed to create RequestInfo: unable to determine kind and namespace from url";
    let mut answer = ApiResponse::text(format!("Internal Server Error: {path:?}: {why}, {path}\n"));
    answer.code = StatusCode::INTERNAL_SERVER_ERROR;
    answer
}
