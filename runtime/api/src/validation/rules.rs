//! `Validation`: the validation rules of a Rust type, with the rules of the types of its fields or list items.

use super::rule::ValidationRule;

/// Returns the rules of a type: the way in which rules refer to those of nested types, which may contain the type itself.
pub type ValidationOf = fn() -> Validation;

/// The rules of a type, and those of the types of its fields or items.
#[derive(Clone, Debug, Default)]
pub struct Validation {
    pub(super) rules: &'static [ValidationRule],
    pub(super) fields: Vec<NestedField>,
    pub(super) flattened: Vec<ValidationOf>,
    pub(super) items: Option<ValidationOf>,
}

/// A field whose type has rules.
#[derive(Clone, Copy, Debug)]
pub(super) struct NestedField {
    /// The name in JSON.
    pub(super) name: &'static str,
    /// The keys of the items if the field is a list with `x-kubernetes-list-type: map`; empty for another field.
    pub(super) list_keys: &'static [&'static str],
    pub(super) validation: ValidationOf,
}

impl Validation {
    /// Returns the rules of a type without the rules of its fields. The derive calls it.
    #[doc(hidden)]
    pub fn of_type(rules: &'static [ValidationRule]) -> Self {
        Self { rules, ..Self::default() }
    }

    /// Adds the rules of a field's type, if it has any. `list_keys` are the keys of the items of a list map.
    #[doc(hidden)]
    #[must_use]
    pub fn with_field(
        mut self,
        name: &'static str,
        list_keys: &'static [&'static str],
        validation: Option<ValidationOf>,
    ) -> Self {
        self.fields.extend(validation.map(|validation| NestedField { name, list_keys, validation }));
        self
    }

    /// Adds the rules of a type whose fields are fields of this type in JSON (`#[serde(flatten)]`).
    #[doc(hidden)]
    #[must_use]
    pub fn with_flattened(mut self, validation: Option<ValidationOf>) -> Self {
        self.flattened.extend(validation);
        self
    }

    /// Returns the fields of the type that its rules are about, without those of nested types.
    pub fn fields_of_rules(&self) -> Vec<&'static str> {
        let mut fields: Vec<_> = self.rules.iter().flat_map(|rule| rule.kind.fields()).collect();
        fields.sort_unstable();
        fields.dedup();
        fields
    }

    /// Returns the rules of a list or map whose items have the rules `items`.
    pub(super) fn of_items(items: ValidationOf) -> Self {
        Self { items: Some(items), ..Self::default() }
    }
}
