//! Compiles and evaluates the CEL rules of custom resources (`x-kubernetes-validations`).

pub(crate) use check::check;
pub(crate) use compile::compile;
pub(crate) use tree::RuleTree;

mod check;
mod compile;
mod rule;
mod tree;
mod type_check;
mod value;
