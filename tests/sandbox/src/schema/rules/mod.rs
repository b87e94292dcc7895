//! CEL validation rules of custom resources (`x-kubernetes-validations`), compiled once for each schema.

pub(crate) use check::check;
pub(crate) use compile::compile;
pub(crate) use tree::RuleTree;

mod check;
mod compile;
mod rule;
mod tree;
mod type_check;
mod value;
