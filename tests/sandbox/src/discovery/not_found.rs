//! Builds the responses for paths that the server does not serve.

use http::StatusCode;

use crate::response::ApiResponse;

/// Returns the "404 page not found" response of Go's HTTP server, for a path that no handler serves.
pub(crate) fn no_page() -> ApiResponse {
    let mut response = ApiResponse::text("404 page not found\n");
    response.code = StatusCode::NOT_FOUND;
    response.headers.push(("x-content-type-options", "nosniff".to_owned()));
    response
}

/// Returns a 404 response with an empty body.
pub(super) fn empty_not_found() -> ApiResponse {
    let mut response = ApiResponse::text("");
    (response.code, response.content_type) = (StatusCode::NOT_FOUND, "");
    response
}

/// Returns the 500 response of kube-apiserver to a path from which it can't determine kind and namespace.
pub(super) fn unparsable_path(path: &str) -> ApiResponse {
    let why = "failed to create RequestInfo: unable to determine kind and namespace from url";
    let mut response = ApiResponse::text(format!("Internal Server Error: {path:?}: {why}, {path}\n"));
    response.code = StatusCode::INTERNAL_SERVER_ERROR;
    response
}
