//! Validation rules between the fields of a type ([`Validated`]): as CEL in the CustomResourceDefinition, and as a check in Rust.
//!
//! A schema limits each field alone. The rules of this module are about several fields, or about a field before and after an edit.
//! They are attributes of the fields, and each becomes a CEL rule (`x-kubernetes-validations`) in the generated definition. So the
//! API server enforces them without a webhook. [`Validated::validate`] makes the same decision in Rust, for tests and for clients
//! that check an object before they send it.
//!
//! | attribute | meaning |
//! |---|---|
//! | on a field: `#[valid(immutable)]` | the field never changes: an edit can't set, change or remove it |
//! | `#[valid(set_once)]` | the field of type `Option` may be set later; then it never changes |
//! | `#[valid(required_if(mode = "Public"))]` | the field of type `Option` must be set if another field has this value |
//! | `#[valid(required_if(tls))]` | … if the other field is set, or is `true` |
//! | `#[valid(forbidden_if(…))]` | the field of type `Option` must not be set if … |
//! | `#[valid(at_most(max))]` | the number is not greater than the other field, unless one of both is not set |
//! | `#[valid(less_than(max))]` | the number is less than the other field, unless one of both is not set |
//! | `#[valid(unique)]` | no two items of the list are equal |
//! | `#[valid(unique(name))]` | no two items of the list have an equal field `name`, by its name in JSON |
//! | on the struct: `#[valid(one_of(a, b))]` | exactly one of the fields is set |
//! | `#[valid(at_most_one_of(a, b))]` | at most one of the fields is set |
//! | `#[valid(at_least_one_of(a, b))]` | at least one of the fields is set |
//!
//! Each rule takes a text for users as its last argument: `immutable(message = "create another database instead")`. Without it, the
//! message says what the rule wants.
//!
//! `#[derive(Managed)]` implements the trait for the spec of a kind; types below the spec derive it with `#[derive(Validated)]`. The
//! rules of a nested type hold wherever the type is a field, also in `Option`, `Vec` and maps.
//!
//! # Edits
//! As in the API server, a rule that an object violated before is not checked again while the part with the rule stays the same
//! (KEP-4008). A rule about a change (`immutable`, `set_once`) holds only for an edit, in a list only for lists with
//! `x-kubernetes-list-type: map`, whose items have an identity.
//!
//! `immutable` and `set_once` hold as long as the object around the field exists: an edit can remove an optional object, or an item of a
//! list, and a later edit can add another one.
//!
//! # Limits
//! [`Validated::validate`] expects a value with the defaults of the schema. It compares lists in their order, also those that the API
//! server compares as sets or maps.
//!
//! # Example
//!
//! ```
//! # extern crate opgen_api as opgen;
//! use opgen::validation::Validated;
//! use serde::Serialize;
//!
//! #[derive(Validated, Serialize, Clone)]
//! struct Pool {
//!     #[valid(at_most(max))]
//!     min: u32,
//!     max: u32,
//!     #[valid(immutable)]
//!     class: String,
//! }
//!
//! let pool = Pool { min: 5, max: 3, class: "fast".to_owned() };
//! let invalid = pool.validate(None).unwrap_err();
//! assert_eq!(invalid[0].to_string(), ".min: min must be at most max");
//!
//! let (old, new) = (Pool { min: 1, ..pool.clone() }, Pool { min: 1, class: "slow".to_owned(), ..pool });
//! let invalid = new.validate(Some(&old)).unwrap_err();
//! assert_eq!(invalid[0].to_string(), ".class: class is immutable");
//! # fn main() {}
//! ```

mod cel;
mod check;
mod expressions;
mod rule;
mod rules;

pub use cel::RuleProblem;
pub use check::InvalidField;
pub use expressions::RuleExpression;
pub use opgen_macros::Validated;
pub use rule::{FieldCondition, FieldValue, RuleKind, ValidationRule};
pub use rules::{Validation, ValidationOf};

use serde::Serialize;
use std::{
    collections::{BTreeMap, HashMap},
    marker::PhantomData,
};

/// A type with validation rules. It is derived, see the [module](self).
pub trait Validated {
    /// Returns the rules of the type and of the types of its fields.
    fn validation() -> Validation;

    /// Checks the rules, as the API server does for the creation of the value (`old` is `None`) or for an edit of `old`. It does not
    /// check the schema.
    ///
    /// # Errors
    /// All fields that violate a rule, in the order of the fields.
    fn validate(&self, old: Option<&Self>) -> Result<(), Vec<InvalidField>>
    where
        Self: Serialize + Sized,
    {
        // A type that can't be written as JSON can't be sent to the API server, either.
        let to_json =
            |value: &Self| serde_json::to_value(value).map_err(|error| vec![InvalidField::unserializable(&error)]);
        let (value, old) = (to_json(self)?, old.map(to_json).transpose()?);
        let invalid = Self::validation().check(&value, old.as_ref());
        if invalid.is_empty() { Ok(()) } else { Err(invalid) }
    }
}

impl<T: Validated> Validated for Option<T> {
    fn validation() -> Validation {
        T::validation()
    }
}

impl<T: Validated> Validated for Box<T> {
    fn validation() -> Validation {
        T::validation()
    }
}

impl<T: Validated> Validated for Vec<T> {
    fn validation() -> Validation {
        Validation::of_items(T::validation)
    }
}

impl<T: Validated> Validated for BTreeMap<String, T> {
    fn validation() -> Validation {
        Validation::of_items(T::validation)
    }
}

impl<T: Validated, S> Validated for HashMap<String, T, S> {
    fn validation() -> Validation {
        Validation::of_items(T::validation)
    }
}

/// Finds out whether the type of a field has rules. An inherent method takes precedence over a method of a trait, so that
/// [`TypeOfField`] answers for a type that implements [`Validated`], and [`WithoutRules`] for any other.
#[doc(hidden)]
#[derive(Debug)]
pub struct TypeOfField<T>(PhantomData<T>);

impl<T> TypeOfField<T> {
    #[doc(hidden)]
    pub const NEW: Self = Self(PhantomData);
}

impl<T: Validated> TypeOfField<T> {
    #[doc(hidden)]
    pub fn validation(&self) -> Option<ValidationOf> {
        Some(T::validation)
    }
}

/// The answer for a type without rules, see [`TypeOfField`].
#[doc(hidden)]
pub trait WithoutRules {
    #[doc(hidden)]
    fn validation(&self) -> Option<ValidationOf> {
        None
    }
}

impl<T> WithoutRules for TypeOfField<T> {}
