//! Scaffolds a project from templates: plans and renders it in memory, then writes it.

pub(crate) mod answers;
pub(crate) mod plan;
pub(crate) mod render;
pub(crate) mod write;
