//! Validates a whole custom resource or its status, except for CEL rules.

use serde_json::Value;

use super::{OldValue, ScalePaths, embedded, lists, scale, values};
use crate::{cause::Cause, keywords::Keywords};

/// Returns the errors of an object: its values, the fields of its `scale` subresource, its embedded resources, and duplicates in lists.
///
/// `old` is the object before an update: unchanged values have no errors, and duplicates in lists are no errors if `old` has some, too.
/// If `is_status` is true, only the status was written, and the values of other fields are not checked.
pub fn validate(
    keywords: &Keywords,
    paths: Option<&ScalePaths>,
    new: &Value,
    old: Option<&Value>,
    is_status: bool,
) -> Vec<Cause> {
    let mut causes = if is_status {
        check_status(keywords, new, old)
    } else {
        values::check(keywords, new, OldValue::of(new, old), "")
    };
    // The paths are those of the `scale` subresource, if the kind has it.
    if let Some(paths) = paths {
        if !is_status {
            causes.extend(scale::check_spec(paths, new));
        }
        causes.extend(scale::check_status(paths, new));
    }
    causes.extend(embedded::check(keywords, new));
    if old.is_none_or(|old| lists::check(keywords, old).is_empty()) {
        causes.extend(lists::check(keywords, new));
    }
    causes
}

/// Validates the status alone. Returns no errors if the schema or the object has none.
fn check_status(keywords: &Keywords, new: &Value, old: Option<&Value>) -> Vec<Cause> {
    let (Some(schema), Some(new)) = (keywords.properties.get("status"), new.get("status")) else { return Vec::new() };
    let old = old.and_then(|old| old.get("status"));
    values::check(schema, new, OldValue::of(new, old), "status")
}
