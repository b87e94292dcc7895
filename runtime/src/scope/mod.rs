//! Nodes whose objects are in another cluster, for example in one that an earlier node of the tree has made.
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
//! - Objects there name their owner by an annotation, since an owner reference is possible only within a cluster. An object without a
//!   namespace is in `default`.
//! - A changed Secret is read again when the API server of the cluster refuses the old credentials or does not answer.
//! - All writes there need the lead of the operator, as in its own cluster.
//!
//! # Limits
//! - An operator can only remove what it knows of: if its finalizer is removed by force, or with `kubectl delete --cascade=orphan`, the
//!   objects in other clusters remain. A new owner of the same name takes them over.
//! - With `kubectl delete --cascade=foreground` the garbage collector deletes the local children at once, and with them perhaps the
//!   cluster, before the objects in it are removed.
//! - If a field is removed or renamed, keep the old one for one release with `when = |_| false`. Then its objects are removed.
//! - Two remote nodes don't know of each other's objects: no object moves from one to the other.
//! - A trial simulates the cluster of each kubeconfig, but neither its end nor a loss of the connection to it alone.
//! - A node in another cluster can't reference objects, and its children can't be read from outside; give it an output for that.
//!
//! # Security
//! A kubeconfig is never logged, and never part of an error or a condition. It may name neither files nor programs, because these would
//! be those of the operator's container, nor a proxy or a server without `https`. The ClusterRole that the operator needs in the other
//! cluster is in the generated manifest `remote/role.yaml`.
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
mod kubeconfig;

pub use kubeconfig::Kubeconfig;

pub(crate) use cluster::ClusterEvents;
pub(crate) use clusters::ConnectedClusters;
pub(crate) use connector::ClusterConnector;
pub(crate) use kubeconfig::{ClusterRecord, KubeconfigSecret, is_record};
