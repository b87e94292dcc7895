//! Tree nodes whose objects are in another cluster, for example in a cluster that an earlier node of the tree has created.
//!
//! A field with `#[provisioner(remote)]` is such a node. The function of its name returns the [`Kubeconfig`]: the Secret that has the
//! credentials for the cluster, which an earlier node or another controller has made. The objects of all nodes below the field are in
//! that cluster. It may be nested: the Secret of a remote node below another one is in the cluster of the outer one.
//!
//! # Behaviour
//! - While the Secret does not exist, or the cluster can't be reached, the owner waits, with a reason that names the Secret. At most four
//!   passes use a cluster at a time, and after a call without an answer none does for ten seconds.
//! - Before anything is made in the cluster, the node keeps a record of it in a ConfigMap in the namespace of the operator, which the
//!   operator must watch. So the teardown needs neither the function nor the spec of then. If the function returns another Secret, the
//!   nodes are first removed from the old cluster. Another key or URL of the same Secret is the same cluster.
//! - On teardown the Secret decides: without it the cluster is gone, and everything in it. If it exists and the cluster can't be
//!   reached, the teardown waits; [`Kubeconfig::abandon_after`] limits that.
//! - With `remote(background)`, the teardown of the owner leaves the objects in the cluster, as is right for a cluster that ends with the
//!   owner. A part of the tree that is no longer wanted while the owner exists is removed as usual.
//! - Objects there name their owner by an annotation, since an owner reference is possible only within a cluster. An object without a
//!   namespace is in `default`.
//! - Applications are deployed by the CD system in the operator's cluster, or by the operator, see [`cd`](crate::cd#other-clusters).
//! - A changed Secret is read again when the API server of the cluster refuses the old credentials or does not answer.
//! - Credentials that a program has issued, see [`ExecPlugin`], are renewed a minute before they expire.
//! - All writes there need the lead of the operator, as in its own cluster.
//! - The metrics `opgen_remote_cluster_*` show whether each cluster can be used, its requests, those that took too long or had to wait, and
//!   the number of its cached objects and owners. The label `kubeconfig` is the Secret as `namespace/name`. For a nested cluster, it
//!   follows the Secret of the outer cluster. At most 500 clusters have series of their own; further ones are summed as `other`. The series
//!   of a cluster end with its last owner.
//!
//! # Limits
//! - An operator can only remove what it knows of: if its finalizer is removed by force, or with `kubectl delete --cascade=orphan`, the
//!   objects in other clusters remain, with the record of the cluster. A new owner of the same name takes them over.
//! - With `kubectl delete --cascade=foreground` the garbage collector deletes the local children at once, and with them perhaps the
//!   cluster, before the objects in it are removed.
//! - If a field is removed or renamed, keep the old one for one release with `when = |_| false`. Then its objects are removed.
//! - Two remote nodes don't know of each other's objects: no object moves from one to the other.
//! - After a restore of the other cluster from an older backup, restart the operator, as Kubernetes requires it of all clients: objects may
//!   have lower resourceVersions than before.
//! - A trial simulates the cluster of each kubeconfig, its replacement by another one, changed credentials, a loss of the connection to it,
//!   and a restore of an older backup with a restart of the operator.
//! - A node in another cluster can't reference objects, and its children can't be read from outside; give it an output for that.
//!
//! # Security
//! A kubeconfig is never logged, and never part of an error or a condition, except for short names of programs and environment variables
//! that the operator does not allow. It may name neither files nor programs, because these would be those of the operator's container, nor
//! a proxy or a server without `https`. The ClusterRole that the operator needs in the other cluster is in the generated manifest
//! `remote/role.yaml`.
//!
//! [`Operator::exec_plugin`](crate::Operator::exec_plugin) allows a program for the credentials (`exec`), such as `aws eks get-token`. Then
//! whoever writes the Secret chooses the further arguments of that program, which runs in the operator's container and must be in its
//! image: see the security of [`ExecPlugin`].
//!
//! The other cluster is not trusted: its objects concern only owners that use it, and no redirect is followed. A response, and an event of
//! a watch, may have 64 MiB; the lists of one kind of children with all their pages, and the events after them, 256 MiB each. More counts
//! as a failure: of a list the node waits with the reason `ClusterUnreachable`, and after the events it lists again.
//!
//! For applications, the credentials are copied into a Secret in the operator's cluster: for Argo CD in its namespace, for Flux and Helm in
//! the namespace of the owner. So with these, whoever may read Secrets in the namespace of the owner gets at the cluster.
//!
//! # Example
//!
//! ```
//! use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
//! use opgen::{prelude::*, scope::Kubeconfig};
//!
//! #[derive(Provisioner)]
//! #[provisioner(serial, owner = Foreign<Namespace>)]
//! struct Tree {
//!     #[provisioner(remote)]
//!     inside: Inside,
//! }
//!
//! impl Tree {
//!     fn inside(team: &Namespace) -> Kubeconfig {
//!         // The Secret that Cluster API makes for the cluster `team`.
//!         Kubeconfig::cluster_api(&team.name_any()).namespace("clusters")
//!     }
//! }
//!
//! // In the other cluster.
//! #[derive(Provisioner)]
//! #[provisioner(serial, owner = Foreign<Namespace>)]
//! struct Inside {
//!     #[provisioner(resource)]
//!     settings: ConfigMap,
//! }
//!
//! impl Inside {
//!     fn settings(_: &Namespace) -> ConfigMap {
//!         ConfigMap::default()
//!     }
//! }
//! ```

mod client_config;
mod cluster;
mod clusters;
mod connection;
mod connector;
mod events;
mod exec_plugin;
mod exec_runner;
mod kubeconfig;
mod registration_watch;
mod tasks;
mod verified_registrations;
mod watch_budget;

pub use exec_plugin::ExecPlugin;
pub use kubeconfig::Kubeconfig;

pub(crate) use client_config::read_credentials;
pub(crate) use clusters::ConnectedClusters;
pub(crate) use connector::ClusterConnector;
pub(crate) use events::ClusterEvents;
pub(crate) use kubeconfig::{ClusterRecord, KubeconfigSecret, is_record};
