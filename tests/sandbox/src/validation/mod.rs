//! Whether an object may be as it is.

use serde_json::Value;

use crate::{failure::Cause, object, verb::Asked};

/// What is wrong with a new object.
pub(crate) fn create(asked: Asked<'_>, object: &Value) -> Vec<Cause> {
    let _ = asked;
    if object::name(object).is_empty() {
        return vec![Cause::required("metadata.name", "name or generateName is required")];
    }
    Vec::new()
}

/// What is wrong with a new state of an object.
pub(crate) fn update(asked: Asked<'_>, new: &Value, old: &Value) -> Vec<Cause> {
    let _ = (asked, new, old);
    Vec::new()
}
