//! Failures of unusable patches.

use serde_json::{Map, Value};

use crate::{failure::Failure, fields::go};

/// 400: what came is no JSON.
pub(super) fn unreadable(why: &str) -> Failure {
    Failure::bad_request(format!("error decoding patch: {why}"))
}

/// 400: what came is JSON of another type.
pub(super) fn of_another_type(value: &Value, wanted: &str) -> Failure {
    let sort = go::sort(value);
    Failure::bad_request(format!("error decoding patch: json: cannot unmarshal {sort} into Go value of type {wanted}"))
}

/// 422: the patch doesn't fit the object. Kubernetes doesn't say why.
pub(super) fn unusable() -> Failure {
    Failure::unprocessable("the server rejected our request due to an error in our request")
}

/// 500 without a reason, as Kubernetes answers what it didn't expect.
pub(crate) fn untold(message: impl Into<String>) -> Failure {
    Failure { code: 500, reason: "", message: message.into(), details: Map::new() }
}
