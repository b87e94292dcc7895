//! Stage 2: plain values with the defaults filled in.

pub(crate) mod access;
pub(crate) mod child;
pub(crate) mod kube;
pub(crate) mod managed;
pub(crate) mod operator;
pub(crate) mod provisioner;
