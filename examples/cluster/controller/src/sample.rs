//! The samples of the kinds.

use cluster_api::{
    ApplicationSet, ApplicationSetSpec, ClusterManager, ClusterManagerSpec, KubernetesCluster, KubernetesClusterSpec,
    Pool, VirtualCluster, VirtualClusterSpec,
};

/// The name of the manager in all samples.
const MANAGER: &str = "europe";

/// A manager.
pub fn cluster_manager() -> ClusterManager {
    ClusterManager::new(MANAGER, ClusterManagerSpec { cluster_api: "v0.2.6".to_owned() })
}

/// A cluster of the manager, whose number of machines follows the load.
pub fn kubernetes_cluster() -> KubernetesCluster {
    let (name, flavor) = ("workers".to_owned(), "large".to_owned());
    let pools = vec![Pool { name, flavor, replicas: 3, max_replicas: Some(9) }];
    KubernetesCluster::new(
        "blue",
        KubernetesClusterSpec { manager: MANAGER.to_owned(), version: "v1.34.1".to_owned(), pools },
    )
}

/// A virtual cluster in the region `north`.
pub fn virtual_cluster() -> VirtualCluster {
    VirtualCluster::new("green", VirtualClusterSpec { region: "north".to_owned() })
}

/// Applications in the cluster.
pub fn application_set() -> ApplicationSet {
    let (manager, cluster) = (MANAGER.to_owned(), "blue".to_owned());
    ApplicationSet::new("blue", ApplicationSetSpec { manager, cluster, applications: Vec::new() })
}
