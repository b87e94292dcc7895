//! Applications: charts, and manifests in git, that a tree deploys through a CD system.
//!
//! A field with `#[provisioner(application(ArgoCd))]` is such a node. The function of its name returns the [`Application`], and the
//! [`Driver`] in the parentheses writes it as objects of the CD system, which the node owns like the objects of any other node: they
//! are written only if they differ, edits of other clients are repaired, and the role of the operator has the permissions for them.
//!
//! | driver | objects of an application |
//! |---|---|
//! | [`ArgoCd`] | an `Application` in the namespace of Argo CD |
//! | those of [`flux`] | a source (`HelmRepository`, `OCIRepository`, `GitRepository`), and a `HelmRelease` or `Kustomization` of it |
//!
//! The node is done when the CD system reports that the application is in sync and healthy. Until then the conditions of the owner
//! say what the CD system says, for example `Degraded: Deployment web: …`. On teardown, the CD system removes the objects of the
//! application before the node counts as removed. Work after the deployment, or before the removal, is a hand-written node after the
//! application in a serial group.
//!
//! # Example
//!
//! ```
//! use k8s_openapi::api::core::v1::Namespace;
//! use opgen::cd::{Application, ArgoCd};
//! use opgen::prelude::*;
//! use serde::Serialize;
//!
//! #[derive(Serialize)]
//! #[serde(rename_all = "camelCase")]
//! struct CertManagerValues {
//!     replica_count: u32,
//! }
//!
//! #[derive(Provisioner)]
//! #[provisioner(serial, owner = Foreign<Namespace>)]
//! struct Tree {
//!     #[provisioner(application(ArgoCd))]
//!     cert_manager: Application,
//! }
//!
//! impl Tree {
//!     fn cert_manager(_: &Namespace) -> Application {
//!         Application::chart("https://charts.jetstack.io", "cert-manager", "v1.19.1")
//!             .namespace("cert-manager")
//!             .create_namespace()
//!             .parameter("crds.enabled", "true")
//!             .values(CertManagerValues { replica_count: 2 })
//!     }
//! }
//! ```

mod application;
mod argo_cd;
mod driver;
mod source;

pub mod catalog;
pub mod flux;

pub use application::Application;
pub use argo_cd::{ArgoCd, ArgoCdSettings, DefaultArgoCd};
pub use driver::{ApplicationSpec, Driver, IgnoredDifference, InvalidApplication, Parameter};
pub use source::{ApplicationSource, GitRevision};

pub(crate) use application::ApplicationOwner;
