//! Parses the schemas of CustomResourceDefinitions, and validates custom resources against them.

use opgen_schema::{CheckOptions, Metadata, OldValue, Schema};
use serde_json::Value;

use super::{builtin, rules};
use crate::{failure::Cause, kind::Kind};

/// Returns the definition of object metadata.
fn metadata_definition() -> Metadata {
    builtin::definition("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta")
}

/// Parses the structural schema of a whole custom resource.
pub(crate) fn structural(schema: &Value) -> Schema {
    opgen_schema::parse_schema(schema, metadata_definition())
}

/// Validates the schema of a version of a CRD. `field_path` is its path in the CRD. Returns the errors; none if it is valid.
pub(crate) fn check_definition(version: &Value, field_path: &str) -> Vec<Cause> {
    let options = CheckOptions { metadata: metadata_definition(), compile: rules::compile };
    opgen_schema::check(version, field_path, options).into_iter().map(|violation| violation.cause).collect()
}

/// Validates a custom resource against its schema, and against its CEL rules if its structure is right. `subresource` is
/// the written subresource; `None` if the object itself is written. Returns the errors; none if the object is valid.
pub(crate) fn validate(kind: &Kind, new: &Value, old: Option<&Value>, subresource: Option<&str>) -> Vec<Cause> {
    let (Some(custom), Some(keywords)) = (kind.custom(), kind.schema().keywords.as_deref()) else { return Vec::new() };
    let is_status = subresource == Some("status");
    let mut causes = opgen_schema::validate(keywords, custom.scale.as_ref(), new, old, is_status);
    if let Some(rules) = &custom.rules {
        if causes.iter().any(blocks_rules) {
            causes.push(rules_unchecked());
        } else {
            causes.extend(rules::check(rules, keywords, new, OldValue::of(new, old)));
        }
    }
    causes
}

/// Returns whether an error means that the structure of the object is wrong, so that CEL rules can't be evaluated.
fn blocks_rules(cause: &Cause) -> bool {
    ["FieldValueNotSupported", "FieldValueRequired", "FieldValueTooLong", "FieldValueTooMany", "FieldValueTypeInvalid"]
        .contains(&cause.reason)
}

/// Returns the error that reports that CEL rules were not evaluated.
fn rules_unchecked() -> Cause {
    let message = "Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation";
    Cause { reason: "FieldValueInvalid", message: message.to_owned(), field: "<nil>".to_owned() }
}
