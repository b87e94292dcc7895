//! Sets the defaults of built-in kinds, and normalizes the metadata of custom resources.

use serde_json::Value;

use super::normalize;
use crate::kind::{Kind, Origin};

/// Sets the defaults that a built-in kind's Go code sets on decoding, after the defaults of the schema. For a custom
/// resource it only normalizes the metadata.
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
