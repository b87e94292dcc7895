//! Checks a JSON value against the validation rules of a Rust type, as the API server does with the CEL form of these rules. Defines
//! `InvalidField`, a field that violates a rule.

use super::{
    rule::{FieldCondition, FieldValue, RuleKind, ValidationRule},
    rules::{NestedField, Validation},
};
use serde_json::{Map, Number, Value};

/// A field that violates a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct InvalidField {
    /// The path of the field from the checked value, for example `.pools[0].size`; empty for the value itself.
    pub path: String,
    /// The message of the violated rule.
    pub message: String,
    /// The reason as in `x-kubernetes-validations`, for example `FieldValueInvalid`.
    pub reason: &'static str,
}

impl InvalidField {
    /// Returns the error for a value that can't be written as JSON.
    pub(super) fn unserializable(error: &serde_json::Error) -> Self {
        let message = format!("the value can't be written as JSON: {error}");
        Self { path: String::new(), message, reason: "FieldValueInvalid" }
    }
}

impl std::fmt::Display for InvalidField {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.path.is_empty() { f.write_str(&self.message) } else { write!(f, "{}: {}", self.path, self.message) }
    }
}

impl std::error::Error for InvalidField {}

impl Validation {
    /// Checks the rules on a value in JSON: for its creation, or for an edit of `old`. The paths of the violations begin at the value.
    pub fn check(&self, value: &Value, old: Option<&Value>) -> Vec<InvalidField> {
        let mut invalid = Vec::new();
        self.check_at(value, old, "", &mut invalid);
        invalid
    }

    /// Adds the violations in `value`, which is at `path` in the checked value, to `invalid`. `old` is the value before an edit.
    fn check_at(&self, value: &Value, old: Option<&Value>, path: &str, invalid: &mut Vec<InvalidField>) {
        // An edit may keep an invalid value that it does not change (KEP-4008), and an unchanged value violates no transition rule.
        if old.is_some_and(|old| equal(old, value)) {
            return;
        }
        match value {
            Value::Object(object) => self.check_object(object, old, path, invalid),
            Value::Array(items) => self.check_list(items, old, &[], path, invalid),
            _ => {}
        }
    }

    /// Adds the violations of the rules of an object, of its fields with rules of their own, and of the values of a map.
    fn check_object(
        &self,
        object: &Map<String, Value>,
        old: Option<&Value>,
        path: &str,
        invalid: &mut Vec<InvalidField>,
    ) {
        let old_object = old.and_then(Value::as_object);
        for rule in self.rules.iter().filter(|rule| !rule.is_satisfied(object, old_object)) {
            let path = rule.kind.field().map_or_else(|| path.to_owned(), |field| format!("{path}.{field}"));
            invalid.push(InvalidField { path, message: rule.message(), reason: rule.kind.reason() });
        }
        for validation in &self.flattened {
            validation().check_object(object, old, path, invalid);
        }
        for NestedField { name, list_keys, validation } in &self.fields {
            let Some(value) = present(object, name) else { continue };
            let (path, old) = (format!("{path}.{name}"), old_object.and_then(|old| present(old, name)));
            match value {
                Value::Array(items) if !list_keys.is_empty() => {
                    validation().check_list(items, old, list_keys, &path, invalid);
                }
                value => validation().check_at(value, old, &path, invalid),
            }
        }
        if let Some(validation) = self.items {
            for (key, value) in object {
                let old = old_object.and_then(|old| present(old, key));
                validation().check_at(value, old, &format!("{path}[{key}]"), invalid);
            }
        }
    }

    /// Adds the violations in the items of a list. `keys` are the fields that identify an item of a list map, and so its old value. Items
    /// of a list without keys have no old value, so each is checked like a new item, unless the whole list is unchanged.
    fn check_list(
        &self,
        items: &[Value],
        old: Option<&Value>,
        keys: &[&str],
        path: &str,
        invalid: &mut Vec<InvalidField>,
    ) {
        let Some(validation) = self.items else { return };
        let old_items = old.and_then(Value::as_array);
        if old_items.is_some_and(|old| old.len() == items.len() && old.iter().zip(items).all(|(a, b)| equal(a, b))) {
            return;
        }
        for (index, item) in items.iter().enumerate() {
            let is_same_item = |old: &&Value| !keys.is_empty() && keys.iter().all(|key| equal(&old[*key], &item[*key]));
            let old = old_items.and_then(|old| old.iter().find(is_same_item));
            validation().check_at(item, old, &format!("{path}[{index}]"), invalid);
        }
    }
}

impl ValidationRule {
    /// Returns whether the fields of an object satisfy the rule. `old` is the object before an edit; without it, a rule about a change is
    /// satisfied.
    fn is_satisfied(&self, object: &Map<String, Value>, old: Option<&Map<String, Value>>) -> bool {
        let set_fields = |fields: &[&str]| fields.iter().filter(|field| present(object, field).is_some()).count();
        match self.kind {
            RuleKind::Immutable(field) => old.is_none_or(|old| match (present(old, field), present(object, field)) {
                (Some(old), Some(new)) => equal(old, new),
                (old, new) => old.is_none() && new.is_none(),
            }),
            RuleKind::SetOnce(field) => old
                .and_then(|old| present(old, field))
                .is_none_or(|old| present(object, field).is_some_and(|new| equal(old, new))),
            RuleKind::RequiredIf(field, condition) => !condition.holds(object) || present(object, field).is_some(),
            RuleKind::ForbiddenIf(field, condition) => !condition.holds(object) || present(object, field).is_none(),
            RuleKind::AtMost(field, other) => compare(object, field, other).is_none_or(std::cmp::Ordering::is_le),
            RuleKind::LessThan(field, other) => compare(object, field, other).is_none_or(std::cmp::Ordering::is_lt),
            RuleKind::Unique(field) => is_unique(&items_of(object, field)),
            RuleKind::UniqueBy(field, key) => {
                let keys: Vec<_> = items_of(object, field).into_iter().filter_map(|item| item.get(key)).collect();
                is_unique(&keys)
            }
            RuleKind::OneOf(fields) => set_fields(fields) == 1,
            RuleKind::AtMostOneOf(fields) => set_fields(fields) <= 1,
            RuleKind::AtLeastOneOf(fields) => set_fields(fields) >= 1,
        }
    }
}

impl FieldCondition {
    /// Returns whether the condition holds for an object.
    fn holds(&self, object: &Map<String, Value>) -> bool {
        match (present(object, self.field), self.value) {
            (None, _) => false,
            (Some(Value::Bool(value)), None) => *value,
            (Some(_), None) => true,
            (Some(value), Some(FieldValue::Text(text))) => value.as_str() == Some(text),
            (Some(value), Some(FieldValue::Bool(flag))) => value.as_bool() == Some(flag),
            (Some(Value::Number(number)), Some(FieldValue::Integer(integer))) => {
                order(number, &integer.into()).is_some_and(std::cmp::Ordering::is_eq)
            }
            (Some(_), Some(FieldValue::Integer(_))) => false,
        }
    }
}

/// Returns the value of a field that is set. CEL treats a field that is null as one that is not set.
fn present<'a>(object: &'a Map<String, Value>, field: &str) -> Option<&'a Value> {
    object.get(field).filter(|value| !value.is_null())
}

fn items_of<'a>(object: &'a Map<String, Value>, field: &str) -> Vec<&'a Value> {
    present(object, field).and_then(Value::as_array).into_iter().flatten().collect()
}

fn is_unique(values: &[&Value]) -> bool {
    values.iter().enumerate().all(|(index, value)| !values.iter().take(index).any(|other| equal(other, value)))
}

/// Compares two fields; `None` if one of them is not set or is not a number.
fn compare(object: &Map<String, Value>, field: &str, other: &str) -> Option<std::cmp::Ordering> {
    match (present(object, field)?, present(object, other)?) {
        (Value::Number(a), Value::Number(b)) => order(a, b),
        _ => None,
    }
}

/// Compares two numbers, exactly if both are integers. `None` if a number can't be represented as a float.
fn order(a: &Number, b: &Number) -> Option<std::cmp::Ordering> {
    match (a.as_i128(), b.as_i128()) {
        (Some(a), Some(b)) => Some(a.cmp(&b)),
        _ => a.as_f64()?.partial_cmp(&b.as_f64()?),
    }
}

/// Returns whether two JSON values are equal for the API server: 1 equals 1.0, and a field that is null equals a missing field.
fn equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => order(a, b).is_some_and(std::cmp::Ordering::is_eq),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            let count = |object: &Map<String, Value>| object.values().filter(|value| !value.is_null()).count();
            count(a) == count(b)
                && a.iter()
                    .filter(|(_, value)| !value.is_null())
                    .all(|(key, value)| present(b, key).is_some_and(|other| equal(value, other)))
        }
        (a, b) => a == b,
    }
}
