//! Expands checked models into code (stage 4); no other stage builds tokens.

pub(crate) mod access;
mod child;
mod dependency;
pub(crate) mod managed;
pub(crate) mod operator;
pub(crate) mod provisioner;
pub(crate) mod validated;
pub(crate) mod versions;
pub(crate) mod warning;
