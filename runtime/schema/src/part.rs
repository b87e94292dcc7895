//! Applies a part of a custom resource's schema, to check the defaults in it.

use serde_json::Value;

use super::{default, keywords::Keywords, prune, structural::level, validate};
use crate::failure::Cause;

/// Removes what a part of a schema does not know, and tells its paths.
pub(crate) fn prune_part(written: &Value, value: &mut Value) -> Vec<String> {
    prune(&level(written), value)
}

/// Fills in the defaults of a part.
pub(crate) fn default_part(written: &Value, value: &mut Value) {
    default(&level(written), value);
}

/// What is wrong with a value of a part that is at `place`.
pub(crate) fn validate_part(written: &Value, value: &Value, place: &str) -> Vec<Cause> {
    validate::part(&Keywords::of(written), value, place)
}
