//! Manifests: what an operator needs in the cluster, as YAML that follows from its code.
//!
//! [`files`] turns a [`Project`] into files: definitions, role, Deployment, samples, finalizer policy. The definitions are
//! mended where `kube` derives what the API server refuses or warns about, and linted for the rest, so that a schema
//! that passes here is accepted there. [`write()`], [`compare()`] and [`door()`] bring the files to a folder, a diff or a
//! terminal; whichever way they go, the bytes are the same.
//!
//! A definition follows from the Rust types of its kind, and is checked against them:
//!
//! - Types of Kubernetes keep what the published OpenAPI says of them: list types, map types and map keys, the bounds of
//!   `IntOrString`, and the content of `RawExtension` and `JSON`. Only an `Option` is nullable.
//! - Every value that the schema admits decodes: each field is tried with null, with the limits of its type and with texts of
//!   no form. A field whose type takes less needs a rule that says so, for example `#[schemars(regex(pattern = ...))]` on a
//!   `kube::core::Duration`.
//! - Nothing is pruned that the type keeps. An object of any content needs `x-kubernetes-preserve-unknown-fields`; an object
//!   without fields is accepted where its type is a struct without fields.
//! - A keyword that a definition doesn't have, such as a typo in `#[schemars(extend(...))]`, is an error.

mod crd;
mod decode;
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

pub(crate) use crd::schema_by_names;
pub use deployment::HEALTH_PORT;
pub use door::{DoorArgs, Output, door};
pub use doors::{Described, DoorError, ProjectError, build_script, check, generator};
pub(crate) use doors::{failed, through};
use finding::Findings;
pub use finding::{Finding, ManifestError, Severity};
pub use folder::{Action, Drift, FileChange, compare, write};
pub(crate) use project::DEFAULT_OBJECTS;
pub use project::{Controlled, Project, RoundTrip};
pub use rbac::{AuditError, Comparison, explain, explain_json, verify};
pub(crate) use render::installed;
pub use render::{File, Rendered, files};
#[cfg(test)]
pub(crate) use tree::example::project as every_term;
pub(crate) use tree::{Drawing, Drawn, Found, NodeState, Sight, drawn};
pub use tree::{Picture, mermaid, svg, tree, tree_json};
pub use yaml::HEADER;
