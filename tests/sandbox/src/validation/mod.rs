//! Whether an object may be as it is.

use serde_json::Value;

use crate::{authorization, failure::Cause, kind::definition, object, verb::Asked};

/// What is wrong with a new object.
pub(crate) fn create(asked: Asked<'_>, object: &Value) -> Vec<Cause> {
    if object::name(object).is_empty() {
        return vec![Cause::required("metadata.name", "name or generateName is required")];
    }
    if definition::is(asked.kind) {
        return definition::validate(object, None);
    }
    let mut causes = authorization::validation::check(asked.kind, object, None);
    causes.extend(crate::schema::validate(asked.kind, object, None, None));
    causes
}

/// What is wrong with a new state of an object.
pub(crate) fn update(asked: Asked<'_>, new: &Value, old: &Value) -> Vec<Cause> {
    if definition::is(asked.kind) && asked.subresource.is_none() {
        return definition::validate(new, Some(old));
    }
    let mut causes = authorization::validation::check(asked.kind, new, Some(old));
    causes.extend(crate::schema::validate(asked.kind, new, Some(old), asked.subresource));
    causes
}
