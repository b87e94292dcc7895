//! Implements the admission policies MutatingAdmissionPolicy and ValidatingAdmissionPolicy.

pub(super) use definition::{MutatingPolicy, PolicyBinding, ValidatingPolicy};
pub(super) use mutating::mutate;
pub(super) use type_check::validate_expressions;
pub(super) use validating::validate;

mod apply;
mod definition;
mod invocation;
mod json_patch;
mod mutating;
mod params;
mod type_check;
mod validating;
