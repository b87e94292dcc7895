//! Answers to paths that serve nothing.

use http::StatusCode;

use crate::response::ApiResponse;

/// What stands under no path at all: the Go server's own page.
pub(crate) fn no_page() -> ApiResponse {
    let mut answer = ApiResponse::text("404 page not found\n");
    answer.code = StatusCode::NOT_FOUND;
    answer.headers.push(("x-content-type-options", "nosniff".to_owned()));
    answer
}

/// Not even a page.
pub(super) fn nothing() -> ApiResponse {
    let mut answer = ApiResponse::text("");
    (answer.code, answer.content_type) = (StatusCode::NOT_FOUND, "");
    answer
}

/// What Go's server says of a path that it can't take apart.
pub(super) fn unusable(path: &str) -> ApiResponse {
    let why = "failed to create RequestInfo: unable to determine kind and namespace from url";
    let mut answer = ApiResponse::text(format!("Internal Server Error: {path:?}: {why}, {path}\n"));
    answer.code = StatusCode::INTERNAL_SERVER_ERROR;
    answer
}
