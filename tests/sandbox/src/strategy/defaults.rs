//! Sets the defaults of built-in kinds that are missing in their OpenAPI schemas, by rules from a table.

use std::{collections::HashMap, sync::LazyLock};

use serde::Deserialize;
use serde_json::{Map, Value};

/// The defaults observed on kube-apiserver, by definition, in order of precedence.
const TEXT: &str = include_str!("../../table/defaults.json");

/// A rule: a value of the definition `of` whose fields equal `when` gets the missing fields of `set`. Null in `when`
/// stands for an absent field.
#[derive(Debug, Deserialize)]
pub(super) struct DefaultRule {
    of: String,
    #[serde(default)]
    when: Map<String, Value>,
    set: Map<String, Value>,
}

static RULES: LazyLock<HashMap<String, Vec<DefaultRule>>> = LazyLock::new(|| {
    let rows: Vec<DefaultRule> = serde_json::from_str(TEXT).unwrap_or_default();
    let mut rules: HashMap<String, Vec<DefaultRule>> = HashMap::new();
    for row in rows {
        let prefix = if row.of.starts_with("io.") { "" } else { "io.k8s.api." };
        rules.entry(format!("{prefix}{}", row.of)).or_default().push(row);
    }
    rules
});

/// Returns the default rules of a definition, in order of precedence.
pub(super) fn rules_of(definition: &str) -> &'static [DefaultRule] {
    RULES.get(definition).map_or(&[], Vec::as_slice)
}

impl DefaultRule {
    /// Sets the fields of the rule that are missing in an object, if the object satisfies the condition of the rule.
    pub(super) fn apply(&self, object: &mut Map<String, Value>) {
        if matches_condition(&self.when, object) {
            set_missing(&self.set, object);
        }
    }
}

/// Returns whether an object has the values of a condition, recursively. Null stands for an absent value, null or an empty
/// string.
fn matches_condition(condition: &Map<String, Value>, object: &Map<String, Value>) -> bool {
    condition.iter().all(|(key, condition)| match (condition, object.get(key)) {
        (Value::Null, actual) => actual.is_none_or(|actual| actual.is_null() || actual == ""),
        (Value::Object(condition), Some(Value::Object(actual))) => matches_condition(condition, actual),
        (Value::Object(condition), None) => matches_condition(condition, &Map::new()),
        (condition, actual) => Some(condition) == actual,
    })
}

/// Sets each of the values whose field in the object is absent, null or an empty string, recursively.
fn set_missing(values: &Map<String, Value>, object: &mut Map<String, Value>) {
    for (key, value) in values {
        match (value, object.get_mut(key)) {
            (Value::Object(values), Some(Value::Object(existing))) => set_missing(values, existing),
            (_, Some(Value::Null) | None) => drop(object.insert(key.clone(), value.clone())),
            (Value::String(_), Some(Value::String(existing))) if existing.is_empty() => {
                value.as_str().unwrap_or_default().clone_into(existing)
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::RULES;
    use crate::schema::{Definition, builtin};

    #[test]
    fn each_rule_names_a_definition_and_fields_of_its_schema() {
        assert!(RULES.len() > 40);
        for (name, rules) in RULES.iter() {
            let schema = builtin::definition(name).map(Definition::schema);
            for field in rules.iter().flat_map(|rule| rule.set.keys().chain(rule.when.keys())) {
                assert!(schema.is_some_and(|schema| schema.field(field).is_some()), "{name}.{field}");
            }
        }
    }
}
