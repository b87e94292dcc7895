//! Parses, checks and applies the schemas of CustomResourceDefinitions.

use opgen_schema::{CheckOptions, Metadata, OldValue, Schema};
use serde_json::Value;

use super::{builtin, rules};
use crate::{failure::Cause, kind::Kind};

/// The definition of the metadata of objects.
fn metadata() -> Metadata {
    builtin::definition("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta")
}

/// Reads the schema of a whole object.
pub(crate) fn structural(written: &Value) -> Schema {
    opgen_schema::parse_schema(written, metadata())
}

/// What is wrong with the schema of a version, which is at `place` in its definition.
pub(crate) fn check_definition(version: &Value, place: &str) -> Vec<Cause> {
    let options = CheckOptions { metadata: metadata(), compile: rules::compile };
    opgen_schema::check(version, place, options).into_iter().map(|violation| violation.cause).collect()
}

/// What is wrong with an object of a custom kind. `subresource` is what was written, the object itself if `None`.
pub(crate) fn validate(kind: &Kind, new: &Value, old: Option<&Value>, subresource: Option<&str>) -> Vec<Cause> {
    let (Some(custom), Some(keywords)) = (kind.custom(), kind.schema().keywords.as_deref()) else { return Vec::new() };
    let is_status = subresource == Some("status");
    let mut causes = opgen_schema::validate(keywords, custom.scale.as_ref(), new, old, is_status);
    if let Some(rules) = &custom.rules {
        if causes.iter().any(blocks_rules) {
            causes.push(unchecked());
        } else {
            causes.extend(rules::check(rules, keywords, new, OldValue::of(new, old)));
        }
    }
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
