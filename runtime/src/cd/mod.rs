//! Applications: charts, and manifests in git, that a tree deploys through a CD system or with Helm.
//!
//! A field with `#[provisioner(application(ArgoCd))]` is such a node. The function of its name returns the [`Application`], and the
//! [`Driver`] in the parentheses writes it as objects of the CD system, which the node owns like the objects of any other node: they
//! are written only if they differ, edits of other clients are repaired, and the role of the operator has the permissions for them.
//!
//! | driver | objects of an application |
//! |---|---|
//! | [`ArgoCd`] | an `Application` in the namespace of Argo CD |
//! | those of [`flux`] | a source (`HelmRepository`, `OCIRepository`, `GitRepository`), and a `HelmRelease` or `Kustomization` of it |
//! | [`helm::Helm`] | a `HelmDeployment`, which the operator itself deploys with the program `helm` |
//!
//! The node is done when the CD system reports that the application is in sync and healthy. Until then the conditions of the owner
//! say what the CD system says, for example `Degraded: Deployment web: …`, where Argo CD names the object only if its setting
//! `controller.resource.health.persist` is `true`. On teardown, the CD system removes the objects of the
//! application before the node counts as removed. Work after the deployment, or before the removal, is a hand-written node after the
//! application in a serial group.
//!
//! # Other clusters
//! An application is deployed into the cluster of the CD system, or into the one that [`Application::cluster`] or
//! [`Application::kubeconfig`] names.
//!
//! Below a remote node (see [`scope`](crate::scope)) it is deployed into the cluster of that node, by the CD system in the operator's
//! cluster. The operator registers the cluster with the CD system before, by a Secret:
//! - All applications share it that are deployed into the same cluster, also those of other owners and operators. It is deleted after
//!   the last of them.
//! - It has the credentials of the kubeconfig, and gets changed ones within a minute. A kubeconfig that impersonates another user, or gets
//!   its credentials from a program, can't be used by a CD system.
//! - Kubeconfigs with different credentials for one server share it, since the server is one cluster for a CD system. It keeps the
//!   credentials of one kubeconfig as long as an application of that one exists, and then gets those of another one. So give all of them
//!   the same rights.
//! - Its deletion by another client is repaired.
//! - If the cluster is gone, the applications are deleted without their finalizers.
//!
//! With the driver [`InCluster<ArgoCd>`](InCluster), the CD system in the cluster of the remote node deploys the application.
//!
//! # Changes of a tree
//! A node removes the objects of its own driver only. If a field is removed or renamed, or gets another driver, keep the old field for one
//! release with `when = |_| false`, and give the new one another name: then the old application is removed.
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
//! struct WebValues {
//!     replica_count: u32,
//! }
//!
//! #[derive(Provisioner)]
//! #[provisioner(serial, owner = Foreign<Namespace>)]
//! struct Tree {
//!     #[provisioner(application(ArgoCd))]
//!     web: Application,
//! }
//!
//! impl Tree {
//!     fn web(_: &Namespace) -> Application {
//!         Application::chart("https://stefanprodan.github.io/podinfo", "podinfo", "6.9.2")
//!             .parameter("ui.color", "#34577c")
//!             .values(WebValues { replica_count: 2 })
//!     }
//! }
//! ```

mod application;
mod argo_cd;
mod driver;
pub(crate) mod harness;
mod kubeconfig;
mod registered_cluster;
mod release_name;
mod source;

pub mod catalog;
pub mod flux;
pub mod helm;

pub use application::Application;
pub use argo_cd::{ArgoCd, ArgoCdSettings, DefaultArgoCd};
pub use driver::{
    ApplicationDestination, ApplicationSpec, Driver, IgnoredDifference, InCluster, InvalidApplication, Parameter,
};
pub use source::{ApplicationSource, GitRevision};

pub use crate::shape::{ClusterCredentials, Registration};

pub(crate) use application::ApplicationOwner;
pub(crate) use registered_cluster::{KUBECONFIG_ANNOTATION, REGISTRATION_LABEL, RegisteredCluster};
