//! Provides the defaults that OpenAPI does not publish, from a table.

use std::{collections::HashMap, sync::LazyLock};

use serde::Deserialize;
use serde_json::{Map, Value};

/// The defaults observed on kube-apiserver, by definition, in order of precedence.
const TEXT: &str = include_str!("../../table/defaults.json");

/// A rule: a value of the definition `of` whose fields equal `when` (null: absent) gets the fields of `set`.
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

/// Returns the rules of a definition.
pub(super) fn of(definition: &str) -> &'static [DefaultRule] {
    RULES.get(definition).map_or(&[], Vec::as_slice)
}

impl DefaultRule {
    pub(super) fn apply(&self, object: &mut Map<String, Value>) {
        if holds(&self.when, object) {
            fill(&self.set, object);
        }
    }
}

fn holds(wanted: &Map<String, Value>, object: &Map<String, Value>) -> bool {
    wanted.iter().all(|(key, wanted)| match (wanted, object.get(key)) {
        (Value::Null, is) => is.is_none_or(|is| is.is_null() || is == ""),
        (Value::Object(wanted), Some(Value::Object(is))) => holds(wanted, is),
        (Value::Object(wanted), None) => holds(wanted, &Map::new()),
        (wanted, is) => Some(wanted) == is,
    })
}

fn fill(values: &Map<String, Value>, object: &mut Map<String, Value>) {
    for (key, value) in values {
        match (value, object.get_mut(key)) {
            (Value::Object(values), Some(Value::Object(held))) => fill(values, held),
            (_, Some(Value::Null) | None) => drop(object.insert(key.clone(), value.clone())),
            (Value::String(_), Some(Value::String(held))) if held.is_empty() => {
                value.as_str().unwrap_or_default().clone_into(held)
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
    fn every_rule_is_of_a_definition_and_sets_fields_that_it_has() {
        assert!(RULES.len() > 40);
        for (name, rules) in RULES.iter() {
            let schema = builtin::definition(name).map(Definition::schema);
            for field in rules.iter().flat_map(|rule| rule.set.keys().chain(rule.when.keys())) {
                assert!(schema.is_some_and(|schema| schema.field(field).is_some()), "{name}.{field}");
            }
        }
    }
}
