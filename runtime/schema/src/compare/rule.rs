//! Compares the CEL rules of a schema in two releases of a CustomResourceDefinition.

use serde_json::Value;

use super::{
    change::{Breaks, Changes},
    path::display_path,
};
use crate::{list, text};

/// Compares the CEL rules (`x-kubernetes-validations`) by their expressions, without their messages. A rule with a changed expression
/// counts as an added and a removed rule, since the comparison can't tell which expression refuses more values.
pub(super) fn compare_rules(old: &Value, new: &Value, path: &str, changes: &mut Changes) {
    const KEY: &str = "x-kubernetes-validations";
    let has = |schema: &Value, rule: &str| list(schema, KEY).iter().any(|other| text(other, "rule") == rule);
    for rule in list(new, KEY).iter().map(|rule| text(rule, "rule")).filter(|rule| !has(old, rule)) {
        // A transition rule, which reads `oldSelf`, is checked for updates only. It does not make a stored object invalid.
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
