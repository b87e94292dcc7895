//! Builds and runs the program that generates a project's YAML from the project's compiled code.

pub(crate) mod cargo;
pub(crate) mod package;
pub(crate) mod report;
pub(crate) mod sandbox_check;
pub(crate) mod stamp;
pub(crate) mod validation;
