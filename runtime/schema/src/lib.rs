//! Implements structural schemas of custom resources: rules, defaults, pruning and validation as kube-apiserver applies them.
//!
//! The linter of `opgen` and the sandbox share this crate, so that a definition that `opgen generate` accepts is one that an API
//! server accepts. Its types are no interface for users: both crates pin its exact version.
//!
//! [`compare_definitions`] compares two releases of a definition, and says for whom each change is breaking.
//!
//! CEL is not part of it. The caller of [`check`] compiles a rule ([`CompileRule`]), and evaluates the rules of an object.

pub use accessor::{entries, flag, list, text};
pub use cause::Cause;
pub use compare::{Breaks, Change, compare_definitions};
pub use default::{default, whole_numbers_to_integers};
pub use definition::{CheckOptions, CompileRule, CompiledRule, at_path, check};
pub use format::is_known_format;
pub use keywords::Keywords;
pub use prune::prune;
pub use shape::{Definition, Fields, List, ListKind, Merge, OtherFields, Scalar, Schema, Shape};
pub use step::Step;
pub use structural::{Metadata, parse_schema};
pub use validate::{OldValue, ScalePaths, format_value, validate};
pub use violation::{Rule, Violation};

mod accessor;
mod cause;
mod compare;
mod default;
mod definition;
mod format;
pub mod keyword;
mod keywords;
mod part;
mod pattern;
mod prune;
mod schema_path;
mod shape;
mod step;
mod structural;
mod validate;
mod violation;
