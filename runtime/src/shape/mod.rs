//! The tree of an operator as data: nodes, permissions and paths, known before anything runs.

pub(crate) mod builtin;
pub(crate) mod node;
pub(crate) mod path;
pub(crate) mod permission;
pub(crate) mod yaml;
