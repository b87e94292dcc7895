//! Schemas of objects: their shape, defaulting, pruning and validation.

pub(crate) use default::{default, whole_numbers};
pub(crate) use part::{default_part, prune_part, validate_part};
pub(crate) use prune::prune;
pub(crate) use shape::{Definition, Fields, List, ListKind, Merge, Others, Scalar, Schema, Shape};
pub(crate) use structural::structural;
pub(crate) use validate::validate;

pub(crate) mod builtin;
mod default;
mod format;
pub(crate) mod keywords;
mod parse;
mod part;
pub(crate) mod pattern;
mod prune;
pub(crate) mod rules;
mod shape;
mod structural;
pub(crate) mod validate;
