//! The kinds of cluster: clusters that are made of applications.

mod application_set;
mod cluster_manager;
mod kubernetes_cluster;
mod virtual_cluster;

pub use application_set::{ApplicationSet, ApplicationSetSpec, SelectedApplication};
pub use cluster_manager::{ClusterManager, ClusterManagerSpec};
pub use kubernetes_cluster::{Gpu, KubernetesCluster, KubernetesClusterSpec, Pool};
pub use virtual_cluster::{VirtualCluster, VirtualClusterSpec};
