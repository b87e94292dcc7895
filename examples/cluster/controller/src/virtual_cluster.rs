//! The tree of a `VirtualCluster`.

use cluster_api::VirtualCluster;
use opgen::{
    cd::{Application, ArgoCd},
    prelude::*,
    scope::Kubeconfig,
};

use crate::{Options, charts};

type Owner = For<VirtualCluster, Options>;

/// A virtual cluster in the cluster of a region.
#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Owner)]
pub struct VirtualClusterTree {
    #[provisioner(remote)]
    region: InRegion,
}

/// In the cluster of the region.
#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = Owner)]
pub struct InRegion {
    #[provisioner(application(ArgoCd))]
    vcluster: Application,
}

impl VirtualClusterTree {
    fn region(cluster: &VirtualCluster) -> Kubeconfig {
        Kubeconfig::cluster_api(&cluster.spec.region)
    }
}

impl InRegion {
    fn vcluster(cluster: &Draft<'_, Owner>) -> Application {
        let name = cluster.name_any();
        let server = format!("https://{name}.{}", cluster.options().domain);
        charts::vcluster(&name, server).namespace(&name).create_namespace()
    }
}
