//! Parses the input of a macro into structs that keep every span and validate nothing (stage 1).

pub(crate) mod access;
pub(crate) mod bucket;
pub(crate) mod field;
pub(crate) mod kube;
mod list;
pub(crate) mod managed;
pub(crate) mod operator;
pub(crate) mod provisioner;
pub(crate) mod validated;
pub(crate) mod versions;
