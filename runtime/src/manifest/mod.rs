//! Generates, lints, writes and compares the YAML manifests of an operator.
//!
//! [`files`] turns a [`Project`] into files, which install the same objects in three ways:
//!
//! - `install.yaml` for kubectl: CustomResourceDefinitions, RBAC roles, Deployment, PodDisruptionBudget and Service.
//! - `base`, `components` and `overlays` for kustomize.
//! - `chart` for Helm.
//!
//! Beside them are samples, the finalizer policy and a dashboard. For kinds in buckets there is the folder `nats`: the buckets, the
//! permissions of the operator's user, and the JSON Schema and a sample of each kind. These kinds have no definition and need no RBAC
//! rules.
//!
//! It fixes the schemas that `kube` derives where the API server would refuse them or warn about them, and lints the rest: a
//! schema without findings is accepted by the API server. [`write()`] writes the files to a folder, [`compare()`] diffs them
//! with a folder, and [`generate()`] does both for the command line. All three produce the same bytes.
//!
//! A definition is derived from the Rust types of its kind and is checked against them:
//!
//! - Embedded Kubernetes types get what the published OpenAPI declares for them: list types, map types and map keys, the bounds
//!   of `IntOrString`, and open content for `RawExtension` and `JSON`. Only an `Option` is nullable.
//! - The type decodes every value that the schema admits. The check tries each field with null, with the limits of its type and
//!   with texts of no format. A field whose type decodes less needs a rule, for example `#[schemars(regex(pattern = ...))]` on
//!   a `kube::core::Duration`.
//! - The API server prunes nothing that the type keeps. An object of any content needs `x-kubernetes-preserve-unknown-fields`;
//!   an object without fields is accepted where its type is a struct without fields.
//! - A keyword that a definition doesn't have, such as a typo in `#[schemars(extend(...))]`, is an error.

mod admission;
mod build_script;
mod cert_manager;
mod chart;
mod crd;
mod dashboard;
mod decode;
mod deployment;
mod disruption_budget;
mod finalizer_policy;

#[cfg(test)]
mod fixture;
mod folder;
mod json;
mod kustomize;
mod lint;
mod metrics;
mod nats;
mod network_policy;
mod policies;
mod project;
mod rbac;
mod render;
mod roles;
mod rules;
mod sample;
mod target;
mod tree;
mod webhooks;
mod yaml;

pub use build_script::{Describe, GenerateError, ProjectError, build_script, check, generator};
pub(crate) use build_script::{exit_with_error, run_generator};
pub use deployment::HEALTH_PORT;
pub use folder::{Action, Drift, FileChange, compare, write};
use lint::Findings;
pub use lint::{Finding, ManifestError, Severity};
pub use metrics::METRICS_PORT;
#[cfg(feature = "nats")]
pub(crate) use nats::connection::credentials_path as mounted_credentials;
pub(crate) use project::DEFAULT_OBJECTS;
pub use project::{KindDescription, Project, RoundTrip};
pub use rbac::{AuditError, Comparison, documents_without_certificates, explain, explain_json, verify};
pub(crate) use render::installed_objects;
pub use render::{File, Rendered, files};
pub use target::{GenerateArgs, OutputFormat, generate};
#[cfg(test)]
pub(crate) use tree::example::project as example_project;
pub(crate) use tree::{Diagram, DiagramNode, DiagramObject, DiagramOwner, NodeState, render_diagrams};
pub use tree::{TreeFormat, mermaid, svg, tree, tree_json};
pub use yaml::HEADER;
