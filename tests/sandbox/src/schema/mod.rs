//! Provides the schemas of built-in kinds and custom resources, and validates custom resources.

pub(crate) use opgen_schema::{
    Definition, Fields, List, ListKind, Merge, OtherFields, Scalar, Schema, Shape, default, prune,
    whole_numbers_to_integers,
};

pub(crate) use custom::{check_definition, structural, validate};

pub(crate) mod builtin;
mod custom;
mod parse;
pub(crate) mod rules;
