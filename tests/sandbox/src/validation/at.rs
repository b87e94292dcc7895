//! A field of an object under validation: the value with its path.

use serde_json::{Map, Value};

use super::name::{self, NameRule};
use crate::failure::Cause;

/// What is wrong, in the order in which it was found.
pub(super) type Causes = Vec<Cause>;

static NOTHING: Value = Value::Null;

/// A value, or null where there is none, and its JSON path.
#[derive(Clone)]
pub(super) struct At<'a> {
    pub(super) path: String,
    pub(super) value: &'a Value,
}

impl<'a> At<'a> {
    /// The whole object.
    pub(super) fn top(value: &'a Value) -> Self {
        Self { path: String::new(), value }
    }

    pub(super) fn child(&self, key: &str) -> Self {
        let path = if self.path.is_empty() { key.to_owned() } else { [&self.path, ".", key].concat() };
        Self { path, value: self.value.get(key).unwrap_or(&NOTHING) }
    }

    pub(super) fn at(&self, keys: &[&str]) -> Self {
        keys.iter().fold(self.clone(), |at, key| at.child(key))
    }

    /// A key of a map, as Kubernetes writes it: `data[key]`.
    pub(super) fn key(&self, key: &str) -> Self {
        Self { path: [&self.path, "[", key, "]"].concat(), value: self.value.get(key).unwrap_or(&NOTHING) }
    }

    /// The items of a list.
    pub(super) fn items(&self) -> impl Iterator<Item = Self> + use<'a> {
        let (path, items) = (self.path.clone(), self.value.as_array());
        let item = move |(index, value)| Self { path: format!("{path}[{index}]"), value };
        items.into_iter().flatten().enumerate().map(item)
    }

    /// The entries of a map.
    pub(super) fn entries(&self) -> impl Iterator<Item = (&'a String, &'a Value)> + use<'a> {
        self.value.as_object().into_iter().flatten()
    }

    pub(super) fn is_set(&self) -> bool {
        !self.value.is_null()
    }

    /// Whether there is nothing, or nothing in it.
    pub(super) fn is_empty(&self) -> bool {
        match self.value {
            Value::Null => true,
            Value::String(text) => text.is_empty(),
            Value::Array(items) => items.is_empty(),
            Value::Object(map) => map.is_empty(),
            Value::Bool(_) | Value::Number(_) => false,
        }
    }

    pub(super) fn text(&self) -> &'a str {
        self.value.as_str().unwrap_or_default()
    }

    pub(super) fn number(&self) -> Option<i64> {
        self.value.as_i64()
    }

    pub(super) fn map(&self) -> Option<&'a Map<String, Value>> {
        self.value.as_object()
    }

    pub(super) fn required(&self, causes: &mut Causes, detail: &str) {
        causes.push(Cause::required(self.path.as_str(), detail));
    }

    pub(super) fn invalid(&self, causes: &mut Causes, detail: &str) {
        causes.push(Cause::invalid(self.path.as_str(), self.value, detail));
    }

    /// A part of the place is wrong, which is told of the whole.
    pub(super) fn invalid_part(&self, causes: &mut Causes, part: &str, detail: &str) {
        causes.push(Cause::invalid(self.path.as_str(), &part.into(), detail));
    }

    pub(super) fn forbidden(&self, causes: &mut Causes, detail: &str) {
        causes.push(Cause::forbidden(self.path.as_str(), detail));
    }

    pub(super) fn unsupported(&self, causes: &mut Causes, supported: &[&str]) {
        causes.push(Cause::unsupported(self.path.as_str(), self.value, supported));
    }

    pub(super) fn duplicate(&self, causes: &mut Causes) {
        let message = format!("Duplicate value: {}", self.value);
        causes.push(Cause { reason: "FieldValueDuplicate", message, field: self.path.clone() });
    }

    pub(super) fn not_found(&self, causes: &mut Causes) {
        let message = format!("Not found: {}", self.value);
        causes.push(Cause { reason: "FieldValueNotFound", message, field: self.path.clone() });
    }

    pub(super) fn too_long(&self, causes: &mut Causes, bytes: usize) {
        let message = format!("Too long: may not be more than {bytes} bytes");
        let field = if self.path.is_empty() { "[]".to_owned() } else { self.path.clone() };
        causes.push(Cause { reason: "FieldValueTooLong", message, field });
    }

    /// It must be there.
    pub(super) fn demand(&self, causes: &mut Causes, detail: &str) {
        if self.is_empty() {
            self.required(causes, detail);
        }
    }

    /// It must be one of these.
    pub(super) fn one_of(&self, causes: &mut Causes, supported: &[&str]) {
        if self.is_empty() {
            self.required(causes, "");
        } else {
            self.if_one_of(causes, supported);
        }
    }

    /// It must be one of these if it is there.
    pub(super) fn if_one_of(&self, causes: &mut Causes, supported: &[&str]) {
        if !self.is_empty() && !supported.contains(&self.text()) {
            self.unsupported(causes, supported);
        }
    }

    /// It must not be below zero.
    pub(super) fn natural(&self, causes: &mut Causes) {
        if self.number().is_some_and(|number| number < 0) {
            self.invalid(causes, "must be greater than or equal to 0");
        }
    }

    /// It must be a number of these if it is there.
    pub(super) fn within(&self, causes: &mut Causes, least: i64, most: i64) {
        if self.number().is_some_and(|number| !(least..=most).contains(&number)) {
            self.invalid(causes, &format!("must be between {least} and {most}, inclusive"));
        }
    }

    /// It must be a name if it is there.
    pub(super) fn if_named(&self, causes: &mut Causes, rule: NameRule) {
        if let (false, Some(why)) = (self.is_empty(), name::fault(rule, self.text())) {
            self.invalid(causes, &why);
        }
    }

    /// It must be a name, and what is not there is none.
    pub(super) fn matches(&self, causes: &mut Causes, rule: NameRule) {
        if let Some(why) = name::fault(rule, self.text()) {
            self.invalid(causes, &why);
        }
    }

    /// It must be a name.
    pub(super) fn named(&self, causes: &mut Causes, rule: NameRule) {
        if self.is_empty() {
            self.required(causes, "");
        } else {
            self.if_named(causes, rule);
        }
    }

    /// It must be what it was.
    pub(super) fn immutable(&self, causes: &mut Causes, old: &Self) {
        if self.value != old.value {
            self.invalid(causes, "field is immutable");
        }
    }
}
