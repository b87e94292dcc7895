//! Stage 1: what is written, with its spans and no decisions.

pub(crate) mod access;
pub(crate) mod field;
pub(crate) mod kube;
pub(crate) mod managed;
pub(crate) mod operator;
pub(crate) mod provisioner;
