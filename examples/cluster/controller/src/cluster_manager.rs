//! The tree of a `ClusterManager`.

use cluster_api::ClusterManager;
use opgen::{
    cd::{Application, ArgoCd},
    prelude::*,
    scope::Kubeconfig,
};

use crate::charts;

/// A virtual cluster, and Cluster API in it.
#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = ClusterManager)]
pub struct ClusterManagerTree {
    #[provisioner(application(ArgoCd))]
    vcluster: Application,
    #[provisioner(remote(background))]
    inside: ManagerCluster,
}

/// In the virtual cluster.
#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = ClusterManager)]
pub struct ManagerCluster {
    #[provisioner(application(ArgoCd))]
    cert_manager: Application,
    #[provisioner(application(ArgoCd))]
    cluster_api: Application,
}

impl ClusterManagerTree {
    fn vcluster(manager: &ClusterManager) -> Application {
        let release = charts::vcluster_release(&manager.name_any());
        let server = format!("https://{release}.{}.svc:443", manager.namespace().unwrap_or_default());
        charts::vcluster(&release, server)
    }

    fn inside(manager: &ClusterManager) -> Kubeconfig {
        kubeconfig(&manager.name_any())
    }
}

impl ManagerCluster {
    fn cert_manager(_: &ClusterManager) -> Application {
        charts::cert_manager()
    }

    fn cluster_api(manager: &ClusterManager) -> Application {
        charts::cluster_api(&manager.spec.cluster_api)
    }
}

/// Returns where the kubeconfig of a manager's virtual cluster is, in the namespace of the manager.
pub(crate) fn kubeconfig(manager: &str) -> Kubeconfig {
    Kubeconfig::vcluster(&charts::vcluster_release(manager))
}
