//! The program that writes a project's YAML: only the project's own compiled code knows it.

pub(crate) mod cargo;
pub(crate) mod package;
pub(crate) mod report;
pub(crate) mod rules;
pub(crate) mod stamp;
pub(crate) mod verdict;
