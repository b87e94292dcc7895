//! `Field`: a field of an object under validation, with its path and the checks of its value.

use serde_json::{Map, Value};

use super::name::{self, NameRule};
use crate::failure::Cause;

/// The validation errors found so far, in order.
pub(super) type Causes = Vec<Cause>;

/// The value of an absent field.
static NOTHING: Value = Value::Null;

/// A field of an object: its value and its JSON path. An absent field has the value null.
#[derive(Clone)]
pub(super) struct Field<'a> {
    pub(super) path: String,
    pub(super) value: &'a Value,
}

impl<'a> Field<'a> {
    /// Returns the whole object as a field with an empty path.
    pub(super) fn top(value: &'a Value) -> Self {
        Self { path: String::new(), value }
    }

    /// Returns the field of this object with the given key.
    pub(super) fn child(&self, key: &str) -> Self {
        let path = if self.path.is_empty() { key.to_owned() } else { [&self.path, ".", key].concat() };
        Self { path, value: self.value.get(key).unwrap_or(&NOTHING) }
    }

    /// Returns the field at a path of keys below this one.
    pub(super) fn nested(&self, keys: &[&str]) -> Self {
        keys.iter().fold(self.clone(), |field, key| field.child(key))
    }

    /// Returns the value of a key of a map, with the path `data[key]` as Kubernetes writes it.
    pub(super) fn key(&self, key: &str) -> Self {
        Self { path: [&self.path, "[", key, "]"].concat(), value: self.value.get(key).unwrap_or(&NOTHING) }
    }

    /// Returns the items of a list, each with the path `list[index]`; no items if the value is no list.
    pub(super) fn items(&self) -> impl Iterator<Item = Self> + use<'a> {
        let (path, items) = (self.path.clone(), self.value.as_array());
        let item = move |(index, value)| Self { path: format!("{path}[{index}]"), value };
        items.into_iter().flatten().enumerate().map(item)
    }

    /// Returns the entries of a map; nothing if the value is no map.
    pub(super) fn entries(&self) -> impl Iterator<Item = (&'a String, &'a Value)> + use<'a> {
        self.value.as_object().into_iter().flatten()
    }

    /// Returns whether the field exists and is not null.
    pub(super) fn is_set(&self) -> bool {
        !self.value.is_null()
    }

    /// Returns whether the field is absent, null, or an empty string, list or map.
    pub(super) fn is_empty(&self) -> bool {
        match self.value {
            Value::Null => true,
            Value::String(text) => text.is_empty(),
            Value::Array(items) => items.is_empty(),
            Value::Object(map) => map.is_empty(),
            Value::Bool(_) | Value::Number(_) => false,
        }
    }

    /// Returns the text of the field; empty if it is no text.
    pub(super) fn text(&self) -> &'a str {
        self.value.as_str().unwrap_or_default()
    }

    /// Returns the integer of the field; `None` if it is no integer.
    pub(super) fn number(&self) -> Option<i64> {
        self.value.as_i64()
    }

    /// Returns the map of the field; `None` if it is no map.
    pub(super) fn map(&self) -> Option<&'a Map<String, Value>> {
        self.value.as_object()
    }

    /// Adds the error `field.Required`.
    pub(super) fn required(&self, causes: &mut Causes, detail: &str) {
        causes.push(Cause::required(self.path.as_str(), detail));
    }

    /// Adds the error `field.Invalid` with the value of the field.
    pub(super) fn invalid(&self, causes: &mut Causes, detail: &str) {
        causes.push(Cause::invalid(self.path.as_str(), self.value, detail));
    }

    /// Adds the error `field.Invalid` at the path of the field, with `part` as the value.
    pub(super) fn invalid_part(&self, causes: &mut Causes, part: &str, detail: &str) {
        causes.push(Cause::invalid(self.path.as_str(), &part.into(), detail));
    }

    /// Adds the error `field.Forbidden`.
    pub(super) fn forbidden(&self, causes: &mut Causes, detail: &str) {
        causes.push(Cause::forbidden(self.path.as_str(), detail));
    }

    /// Adds the error `field.NotSupported` with the supported values.
    pub(super) fn unsupported(&self, causes: &mut Causes, supported: &[&str]) {
        causes.push(Cause::unsupported(self.path.as_str(), self.value, supported));
    }

    /// Adds the error `field.Duplicate`.
    pub(super) fn duplicate(&self, causes: &mut Causes) {
        let message = format!("Duplicate value: {}", self.value);
        causes.push(Cause { reason: "FieldValueDuplicate", message, field: self.path.clone() });
    }

    /// Adds the error `field.NotFound`.
    pub(super) fn not_found(&self, causes: &mut Causes) {
        let message = format!("Not found: {}", self.value);
        causes.push(Cause { reason: "FieldValueNotFound", message, field: self.path.clone() });
    }

    /// Adds the error `field.TooLong` with a maximum size in bytes. As in Kubernetes, the path of the whole object is `[]`.
    pub(super) fn too_long(&self, causes: &mut Causes, bytes: usize) {
        let message = format!("Too long: may not be more than {bytes} bytes");
        let field = if self.path.is_empty() { "[]".to_owned() } else { self.path.clone() };
        causes.push(Cause { reason: "FieldValueTooLong", message, field });
    }

    /// Adds the error `field.Required` if the field is empty.
    pub(super) fn require(&self, causes: &mut Causes, detail: &str) {
        if self.is_empty() {
            self.required(causes, detail);
        }
    }

    /// Adds the error `field.Required` if the field is empty, or `field.NotSupported` if it has none of the supported values.
    pub(super) fn required_enum(&self, causes: &mut Causes, supported: &[&str]) {
        if self.is_empty() {
            self.required(causes, "");
        } else {
            self.optional_enum(causes, supported);
        }
    }

    /// Validates that the field is empty or has one of the supported values.
    pub(super) fn optional_enum(&self, causes: &mut Causes, supported: &[&str]) {
        if !self.is_empty() && !supported.contains(&self.text()) {
            self.unsupported(causes, supported);
        }
    }

    /// Validates that a number is not negative (upstream: `ValidateNonnegativeField`).
    pub(super) fn non_negative(&self, causes: &mut Causes) {
        if self.number().is_some_and(|number| number < 0) {
            self.invalid(causes, "must be greater than or equal to 0");
        }
    }

    /// Validates that a number is in the range from `min` to `max`, both inclusive.
    pub(super) fn in_range(&self, causes: &mut Causes, min: i64, max: i64) {
        if self.number().is_some_and(|number| !(min..=max).contains(&number)) {
            self.invalid(causes, &format!("must be between {min} and {max}, inclusive"));
        }
    }

    /// Validates that a number is at most `max`.
    pub(super) fn at_most(&self, causes: &mut Causes, max: i64) {
        if self.number().is_some_and(|number| number > max) {
            self.invalid(causes, &format!("must be less than or equal to {max}"));
        }
    }

    /// Adds the error `field.Invalid` if the field is set but violates the naming rule.
    pub(super) fn optional_name(&self, causes: &mut Causes, rule: NameRule) {
        if let (false, Some(detail)) = (self.is_empty(), name::violation(rule, self.text())) {
            self.invalid(causes, &detail);
        }
    }

    /// Adds the error `field.Invalid` if the field violates the naming rule. Unlike [`Self::required_name`], reports an empty field as
    /// `field.Invalid`, too.
    pub(super) fn matches_rule(&self, causes: &mut Causes, rule: NameRule) {
        if let Some(detail) = name::violation(rule, self.text()) {
            self.invalid(causes, &detail);
        }
    }

    /// Adds the error `field.Required` if the field is empty, or `field.Invalid` if it violates the naming rule.
    pub(super) fn required_name(&self, causes: &mut Causes, rule: NameRule) {
        if self.is_empty() {
            self.required(causes, "");
        } else {
            self.optional_name(causes, rule);
        }
    }

    /// Validates that the field equals its old value (upstream: `ValidateImmutableField`).
    pub(super) fn immutable(&self, causes: &mut Causes, old: &Self) {
        if self.value != old.value {
            self.invalid(causes, "field is immutable");
        }
    }
}
