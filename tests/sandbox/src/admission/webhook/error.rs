//! Builds the error of a failed webhook call.

use serde_json::json;

use crate::failure::Failure;

/// Returns a 500 error with the message as its cause, as in kube-apiserver.
pub(super) fn internal_error(why: &str) -> Failure {
    let failure = Failure::internal(format!("Internal error occurred: {why}"));
    failure.with_causes(vec![json!({"message": why})])
}
