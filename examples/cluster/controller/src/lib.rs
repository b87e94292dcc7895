//! The controllers of cluster: clusters that are made of applications, in clusters that earlier applications have made.

mod application_set;
mod charts;
mod cluster_manager;
mod kubernetes_cluster;
mod options;
pub mod sample;
mod virtual_cluster;

use cluster_api::{ApplicationSet, ClusterManager, KubernetesCluster, VirtualCluster};
use opgen::{
    cd::catalog::{Catalog, HelmApplication},
    prelude::*,
};

pub use application_set::ApplicationSetTree;
pub use cluster_manager::ClusterManagerTree;
pub use kubernetes_cluster::KubernetesClusterTree;
pub use options::Options;
pub use virtual_cluster::VirtualClusterTree;

/// The operator that the binary runs without flags. The manifests in `deploy/` are generated from it.
pub fn operator() -> Operator {
    operator_for(Options::default())
}

/// The operator with the options of the caller.
pub fn operator_for(options: Options) -> Operator {
    let catalog = Catalog::new(&options.catalog);
    Operator::new("cluster")
        .version(env!("CARGO_PKG_VERSION"))
        .defines::<HelmApplication>()
        .controls_with::<ClusterManager, ClusterManagerTree>(|c| c.sample(&sample::cluster_manager()))
        .controls_with::<KubernetesCluster, KubernetesClusterTree>(|c| c.sample(&sample::kubernetes_cluster()))
        .controls_with::<For<VirtualCluster, Options>, VirtualClusterTree>(|c| {
            c.options(options).sample(&sample::virtual_cluster())
        })
        .controls_with::<For<ApplicationSet, Catalog>, ApplicationSetTree>(|c| {
            c.catalog(&catalog).options(catalog.clone()).sample(&sample::application_set())
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_yaml_in_deploy_is_up_to_date() {
        let drift = opgen::manifest::check(&operator(), "../deploy").map_err(|drift| drift.to_string());
        assert!(drift.is_ok(), "{}", drift.unwrap_err());
    }
}
