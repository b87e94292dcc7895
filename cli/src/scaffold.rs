//! A project from templates: planned and rendered in memory, then written.

pub(crate) mod answers;
pub(crate) mod plan;
pub(crate) mod render;
pub(crate) mod write;
