//! Stage 2 resolves the parsed input into models with defaults filled in.

pub(crate) mod access;
pub(crate) mod child;
mod key;
pub(crate) mod kube;
pub(crate) mod managed;
pub(crate) mod operator;
pub(crate) mod provisioner;
pub(crate) mod type_path;
