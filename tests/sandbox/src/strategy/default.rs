//! Sets the defaults of built-in kinds, and normalizes the metadata of custom resources.

use serde_json::Value;

use super::normalize;
use crate::kind::{Kind, Origin};

/// Normalizes an object of a built-in kind as a round trip through its Go type would, which includes the defaults that Go
/// code sets on decoding. Must be called after the defaults of the schema are set. For a custom resource, normalizes only
/// the metadata.
pub(crate) fn set_defaults(kind: &Kind, object: &mut Value) {
    match kind.origin {
        Origin::Custom(_) => normalize::normalize_metadata(object),
        Origin::Builtin => {
            if let Some(definition) = kind.definition() {
                normalize::normalize(definition, object);
            }
        }
    }
}
