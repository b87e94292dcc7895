//! Compiles and evaluates the CEL expressions of admission policies and match conditions.

pub(super) use authorizer::AccessCheck;
pub(super) use program::Expression;
pub(super) use scope::Scope;
pub(super) use type_check::{Declarations, ResultType, check};

mod authorizer;
mod program;
mod rewrite;
mod scope;
mod type_check;
pub(super) mod value;
