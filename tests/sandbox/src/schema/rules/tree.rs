//! `RuleTree`: the compiled CEL rules of a schema and of its subschemas.

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
    /// Compiles the rules of a schema and of all its subschemas; `None` if none of these has rules.
    pub(crate) fn of(schema: &Value) -> Option<Self> {
        let list = |key: &str| schema[key].as_array().into_iter().flatten();
        let properties = schema.as_object()?.get("properties").and_then(Value::as_object).into_iter().flatten();
        let tree = Self {
            rules: list("x-kubernetes-validations").map(ValidationRule::of).collect(),
            all_of: list("allOf").filter_map(Self::of).collect(),
            properties: properties.filter_map(|(name, property)| Some((name.clone(), Self::of(property)?))).collect(),
            items: Self::of(&schema["items"]).map(Box::new),
            additional: Self::of(&schema["additionalProperties"]).map(Box::new),
        };
        let is_empty = tree.rules.is_empty()
            && tree.all_of.is_empty()
            && tree.properties.is_empty()
            && tree.items.is_none()
            && tree.additional.is_none();
        (!is_empty).then_some(tree)
    }
}
