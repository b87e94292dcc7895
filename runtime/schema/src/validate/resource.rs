//! Validates a whole custom resource or its status.

use serde_json::Value;

use super::{Old, embedded, lists, scale, values};
use crate::{
    failure::Cause,
    kind::{Custom, Kind},
    schema::{keywords::Keywords, rules},
};

/// What is wrong with an object of a custom kind. `subresource` is what was written, the object itself if `None`.
pub(crate) fn validate(kind: &Kind, new: &Value, old: Option<&Value>, subresource: Option<&str>) -> Vec<Cause> {
    let (Some(custom), Some(keywords)) = (kind.custom(), kind.schema().keywords.as_deref()) else { return Vec::new() };
    let of_status = subresource == Some("status");
    let mut causes =
        if of_status { status(keywords, new, old) } else { values::check(keywords, new, Old::of(new, old), "") };
    causes.extend(scale_causes(custom, new, of_status));
    causes.extend(embedded::check(keywords, new));
    if old.is_none_or(|old| lists::check(keywords, old).is_empty()) {
        causes.extend(lists::check(keywords, new));
    }
    if keywords.has_rules {
        if causes.iter().any(blocks_rules) {
            causes.push(unchecked());
        } else {
            causes.extend(rules::check(keywords, new, Old::of(new, old)));
        }
    }
    causes
}

fn status(keywords: &Keywords, new: &Value, old: Option<&Value>) -> Vec<Cause> {
    let (Some(schema), Some(new)) = (keywords.properties.get("status"), new.get("status")) else { return Vec::new() };
    let old = old.and_then(|old| old.get("status"));
    values::check(schema, new, Old::of(new, old), "status")
}

fn scale_causes(custom: &Custom, new: &Value, of_status: bool) -> Vec<Cause> {
    let Some(paths) = &custom.scale else { return Vec::new() };
    let mut causes = if of_status { Vec::new() } else { scale::spec(paths, new) };
    causes.extend(scale::status(paths, new));
    causes
}

/// Rules are not asked about an object of the wrong outline.
fn blocks_rules(cause: &Cause) -> bool {
    ["FieldValueNotSupported", "FieldValueRequired", "FieldValueTooLong", "FieldValueTooMany", "FieldValueTypeInvalid"]
        .contains(&cause.reason)
}

fn unchecked() -> Cause {
    let message = "Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation";
    Cause { reason: "FieldValueInvalid", message: message.to_owned(), field: "<nil>".to_owned() }
}
