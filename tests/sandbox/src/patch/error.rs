//! Builds the errors for patches that can't be parsed or applied.

use serde_json::{Map, Value};

use crate::{failure::Failure, fields::go};

/// Returns the 400 error for a body that is not JSON.
pub(super) fn invalid_json(why: &str) -> Failure {
    Failure::bad_request(format!("error decoding patch: {why}"))
}

/// Returns the 400 error for JSON of another type than the Go type `go_type`.
pub(super) fn wrong_json_type(value: &Value, go_type: &str) -> Failure {
    let json_type = go::json_type(value);
    Failure::bad_request(format!(
        "error decoding patch: json: cannot unmarshal {json_type} into Go value of type {go_type}"
    ))
}

/// Returns the 422 error for a patch that can't be applied to the object. Its message gives no reason, as in Kubernetes.
pub(super) fn unprocessable_patch() -> Failure {
    Failure::unprocessable("the server rejected our request due to an error in our request")
}

/// Returns a 500 error without a reason, as Kubernetes returns it for unexpected errors.
pub(crate) fn error_without_reason(message: impl Into<String>) -> Failure {
    Failure { code: 500, reason: "", message: message.into(), details: Map::new() }
}
