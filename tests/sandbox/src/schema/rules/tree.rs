//! `RuleTree`: the compiled rules of a schema and of its subschemas.

use std::collections::BTreeMap;

use serde_json::Value;

use super::rule::ValidationRule;

/// The rules of a schema and of its subschemas. Subschemas without rules are omitted.
#[derive(Debug)]
pub(crate) struct RuleTree {
    pub(super) rules: Vec<ValidationRule>,
    pub(super) all_of: Vec<Self>,
    pub(super) properties: BTreeMap<String, Self>,
    pub(super) items: Option<Box<Self>>,
    pub(super) additional: Option<Box<Self>>,
}

impl RuleTree {
    /// Compiles the rules of a schema; `None` if there are none.
    pub(crate) fn of(written: &Value) -> Option<Self> {
        let list = |key: &str| written[key].as_array().into_iter().flatten();
        let properties = written.as_object()?.get("properties").and_then(Value::as_object).into_iter().flatten();
        let tree = Self {
            rules: list("x-kubernetes-validations").map(ValidationRule::of).collect(),
            all_of: list("allOf").filter_map(Self::of).collect(),
            properties: properties.filter_map(|(name, schema)| Some((name.clone(), Self::of(schema)?))).collect(),
            items: Self::of(&written["items"]).map(Box::new),
            additional: Self::of(&written["additionalProperties"]).map(Box::new),
        };
        let is_empty = tree.rules.is_empty()
            && tree.all_of.is_empty()
            && tree.properties.is_empty()
            && tree.items.is_none()
            && tree.additional.is_none();
        (!is_empty).then_some(tree)
    }
}
