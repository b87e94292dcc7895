//! Checks a default value against the subschema that declares the default, and refuses fields that this subschema doesn't know.

use serde_json::Value;

use crate::{
    cause::Cause,
    keywords::Keywords,
    prune::prune,
    structural::{Metadata, parse_level},
    validate::validate_part,
};

/// Returns the errors of the default `value` at `path`, which `schema` declares; `None` if the default has fields that the schema doesn't
/// know.
pub(crate) fn check(schema: &Value, value: &Value, path: &str, metadata: Metadata) -> Option<Vec<Cause>> {
    let (parsed, mut value) = (parse_level(schema, metadata), value.clone());
    if !prune(&parsed, &mut value).is_empty() {
        return None;
    }
    Some(validate_part(&Keywords::of(schema), &value, path))
}
