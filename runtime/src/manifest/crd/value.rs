//! Validates values and sets defaults as the API server does, without CEL rules.

use opgen_schema::{Schema, default, prune, validate};
use serde_json::Value;

/// Returns the unknown fields and the validation errors of `value`; empty if it is valid.
pub(crate) fn complaints(value: &Value, schema: &Schema) -> Vec<String> {
    let mut known = value.clone();
    let mut complaints: Vec<_> =
        prune(schema, &mut known).into_iter().map(|path| format!("unknown field {path:?}")).collect();
    let keywords = schema.keywords.as_deref();
    let causes = keywords.into_iter().flat_map(|keywords| validate(keywords, None, &known, None, false));
    complaints.extend(causes.map(|cause| format!("{}: {}", cause.field, cause.message)));
    complaints
}

/// Returns `value` with the defaults of `schema` filled in, as the API server does before it validates an object.
pub(crate) fn defaulted(mut value: Value, schema: &Schema) -> Value {
    default(schema, &mut value);
    value
}
