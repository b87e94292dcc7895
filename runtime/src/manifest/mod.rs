//! Manifests: what an operator needs in the cluster, as YAML that follows from its code.
//!
//! [`files`] turns a [`Project`] into files: definitions, role, Deployment, samples, finalizer policy. The definitions are
//! mended where `kube` derives what the API server refuses or warns about, and linted for the rest, so that a schema
//! that passes here is accepted there. [`write()`], [`compare()`] and [`door()`] bring the files to a folder, a diff or a
//! terminal; whichever way they go, the bytes are the same.

mod crd;
mod deployment;
mod door;
mod doors;
mod finding;
#[cfg(test)]
mod fixture;
mod folder;
mod policy;
mod project;
mod rbac;
mod render;
mod roles;
mod sample;
mod tree;
mod yaml;

pub use deployment::HEALTH_PORT;
pub use door::{DoorArgs, Output, door};
pub use doors::{Described, DoorError, ProjectError, build_script, check, generator};
pub(crate) use doors::{failed, through};
use finding::Findings;
pub use finding::{Finding, ManifestError, Severity};
pub use folder::{Action, Change, Drift, compare, write};
pub use project::{Controlled, Project};
pub use rbac::{AuditError, Comparison, explain, explain_json, verify};
pub(crate) use render::installed;
pub use render::{File, Rendered, files};
#[cfg(test)]
pub(crate) use tree::example::project as every_term;
pub(crate) use tree::{Drawing, Drawn, Found, Sight, State, drawn};
pub use tree::{Picture, mermaid, svg, tree, tree_json};
pub use yaml::HEADER;
