//! Stage 4: checked models to code; nothing else builds tokens.

pub(crate) mod access;
mod child;
mod data;
pub(crate) mod managed;
pub(crate) mod operator;
pub(crate) mod provisioner;
pub(crate) mod warning;
