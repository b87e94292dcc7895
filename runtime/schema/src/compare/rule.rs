//! Compares the CEL rules of a value.

use serde_json::Value;

use super::{
    change::{Breaks, Changes},
    path::display_path,
};
use crate::{list, text};

/// Compares the CEL rules. Whether a changed rule refuses more can't be seen, so it counts as a new one. The message of a rule is no
/// part of it.
pub(super) fn compare_rules(old: &Value, new: &Value, path: &str, changes: &mut Changes) {
    const KEY: &str = "x-kubernetes-validations";
    let has = |schema: &Value, rule: &str| list(schema, KEY).iter().any(|other| text(other, "rule") == rule);
    for rule in list(new, KEY).iter().map(|rule| text(rule, "rule")).filter(|rule| !has(old, rule)) {
        // A rule about a change does not concern an object that stays as it is.
        let (breaks, consequence) = if rule.contains("oldSelf") {
            (Breaks::CLIENTS, "updates may be refused")
        } else {
            (Breaks::BOTH, "existing values may be invalid")
        };
        changes.add(display_path(path), breaks, format!("the rule `{rule}` is added: {consequence}"));
    }
    for rule in list(old, KEY).iter().map(|rule| text(rule, "rule")).filter(|rule| !has(new, rule)) {
        changes.add(
            display_path(path),
            Breaks::NOTHING,
            format!("the rule `{rule}` is removed: more values are valid"),
        );
    }
}
