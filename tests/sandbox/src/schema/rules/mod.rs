//! CEL validation rules of custom resources (`x-kubernetes-validations`), compiled once for each schema.

pub(crate) use check::check;
pub(crate) use rule::ValidationRule;
pub(crate) use type_check::{is_not_string, type_errors, unknown_names};

mod check;
mod rule;
mod type_check;
mod value;
