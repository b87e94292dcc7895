//! Defaults of built-in kinds and the metadata of custom resources.

use serde_json::Value;

use super::written;
use crate::kind::{Kind, Origin};

/// Fills in what a built-in kind's own code does on reading, after the defaults of the schema.
/// Of a custom object that is the form of its metadata.
pub(crate) fn default(kind: &Kind, object: &mut Value) {
    match kind.origin {
        Origin::Custom(_) => written::metadata(object),
        Origin::Builtin => {
            if let Some(definition) = kind.definition() {
                written::definition(definition, object);
            }
        }
    }
}
