//! Reads and sets conditions in the status of a CustomResourceDefinition.

use serde_json::Value;

use crate::{
    condition::{self, Condition, Style},
    object,
};

/// Returns whether a condition of a CRD is `True`.
pub(crate) fn has_condition(crd: &Value, type_: &str) -> bool {
    condition::holds(&crd["status"], type_)
}

/// Sets a condition of a CRD.
pub(crate) fn set_condition(crd: &mut Value, condition: &Condition, time: &str) {
    object::map_at(crd, &["status"]);
    condition::set(&mut crd["status"], condition, time, Style::DEFINITION);
}
