//! Removes unknown fields of objects, sets defaults, and validates the objects, all by the schema of their kind.

use super::{
    kind::BucketKind,
    object::{map_mut, metadata_mut},
};
use opgen_schema::Cause;
use serde_json::Value;

/// Sets `apiVersion` and `kind` of an object, removes the fields that the schema of its kind does not know, sets the defaults of the
/// schema, and removes empty fields of the metadata.
pub(super) fn complete(kind: &BucketKind, object: &mut Value) {
    if let Some(schema) = &kind.schema {
        opgen_schema::prune(schema, object);
        opgen_schema::whole_numbers_to_integers(object);
        opgen_schema::default(schema, object);
    }
    let fields = map_mut(object);
    fields.insert("apiVersion".to_owned(), kind.kind.api_version().into());
    fields.insert("kind".to_owned(), kind.kind.kind.as_ref().into());
    // The Go type of the metadata omits what is empty.
    metadata_mut(object).retain(|_, value| match value {
        Value::Null => false,
        Value::Object(map) => !map.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::String(text) => !text.is_empty(),
        Value::Bool(_) | Value::Number(_) => true,
    });
}

/// Returns the errors that the schema of the kind finds in an object. `old` is the state before the write: unchanged values are not
/// checked. `is_status` is true for a write of the status subresource.
pub(super) fn schema_causes(kind: &BucketKind, new: &Value, old: Option<&Value>, is_status: bool) -> Vec<Cause> {
    let keywords = kind.schema.as_ref().and_then(|schema| schema.keywords.as_deref());
    keywords.map(|keywords| opgen_schema::validate(keywords, None, new, old, is_status)).unwrap_or_default()
}
