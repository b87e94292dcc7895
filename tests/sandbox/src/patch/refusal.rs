//! Builds the errors for unusable patches.

use serde_json::{Map, Value};

use crate::{failure::Failure, fields::go};

/// Returns the 400 error for a body that is not JSON.
pub(super) fn unreadable(why: &str) -> Failure {
    Failure::bad_request(format!("error decoding patch: {why}"))
}

/// Returns the 400 error for JSON of another type.
pub(super) fn of_another_type(value: &Value, wanted: &str) -> Failure {
    let sort = go::json_type(value);
    Failure::bad_request(format!("error decoding patch: json: cannot unmarshal {sort} into Go value of type {wanted}"))
}

/// Returns the 422 error for a patch that doesn't fit the object. Kubernetes gives no reason.
pub(super) fn unusable() -> Failure {
    Failure::unprocessable("the server rejected our request due to an error in our request")
}

/// Returns a 500 error without a reason, as Kubernetes returns it for unexpected errors.
pub(crate) fn untold(message: impl Into<String>) -> Failure {
    Failure { code: 500, reason: "", message: message.into(), details: Map::new() }
}
