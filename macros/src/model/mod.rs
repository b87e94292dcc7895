//! Resolves the parsed input of a macro into models with defaults filled in (stage 2).

pub(crate) mod access;
pub(crate) mod bucket;
pub(crate) mod child;
mod duration;
mod json_name;
mod key;
pub(crate) mod kube;
pub(crate) mod managed;
pub(crate) mod operator;
pub(crate) mod provisioner;
pub(crate) mod type_path;
pub(crate) mod validated;
pub(crate) mod versions;
