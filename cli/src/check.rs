//! Compares the YAML of a project with that of an earlier release.

pub(crate) mod cluster;
pub(crate) mod comparison;
mod permissions;
mod release;
mod sarif;

pub(crate) use release::Release;
pub(crate) use sarif::to_sarif;
