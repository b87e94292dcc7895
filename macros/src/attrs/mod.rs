//! Stage 1 parses the input into structs that keep every span and validate nothing.

pub(crate) mod access;
pub(crate) mod field;
pub(crate) mod kube;
mod list;
pub(crate) mod managed;
pub(crate) mod operator;
pub(crate) mod provisioner;
