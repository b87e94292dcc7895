//! Builds the error responses of injected faults.

use bytes::Bytes;
use http::{Response, header};
use serde_json::json;

/// Returns the error response of a server: a `Status` with the reason that Kubernetes uses for the code.
pub(super) fn error_response(code: u16, retry_after: Option<u32>) -> Response<Bytes> {
    let (reason, message) = match code {
        409 => {
            ("Conflict", "the object has been modified; please apply your changes to the latest version and try again")
        }
        410 => ("Expired", "too old resource version"),
        429 => ("TooManyRequests", "too many requests, please try again later"),
        503 => ("ServiceUnavailable", "the server is currently unable to handle the request"),
        504 => ("Timeout", "the request did not complete within the allotted time"),
        _ => ("InternalError", "an error on the server has prevented the request from succeeding"),
    };
    let mut status = json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": message, "reason": reason, "code": code,
    });
    if let Some(seconds) = retry_after {
        status["details"] = json!({"retryAfterSeconds": seconds});
    }
    let mut response = Response::new(Bytes::from(status.to_string()));
    *response.status_mut() = http::StatusCode::from_u16(code).unwrap_or(http::StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, header::HeaderValue::from_static("application/json"));
    if let Some(seconds) = retry_after {
        headers.insert(header::RETRY_AFTER, header::HeaderValue::from(seconds));
    }
    response
}

/// Returns the event that ends a watch whose version is too old: an ERROR with the 410 status.
pub(super) fn expired_event() -> Bytes {
    let status = error_response(410, None).into_body();
    Bytes::from([b"{\"type\":\"ERROR\",\"object\":", &status[..], b"}\n"].concat())
}
