//! Stage 4 expands checked models into code; no other stage builds tokens.

pub(crate) mod access;
mod child;
mod dependency;
pub(crate) mod managed;
pub(crate) mod operator;
pub(crate) mod provisioner;
pub(crate) mod warning;
