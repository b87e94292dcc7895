//! Checks a default against the part of a schema that it belongs to.

use serde_json::Value;

use crate::{
    cause::Cause,
    keywords::Keywords,
    prune::prune,
    structural::{Metadata, level},
    validate::part,
};

/// Returns what is wrong with a default that is at `place`; `None` if it has fields that the schema doesn't know.
pub(crate) fn check(schema: &Value, value: &Value, place: &str, metadata: Metadata) -> Option<Vec<Cause>> {
    let (parsed, mut value) = (level(schema, metadata), value.clone());
    if !prune(&parsed, &mut value).is_empty() {
        return None;
    }
    Some(part(&Keywords::of(schema), &value, place))
}
