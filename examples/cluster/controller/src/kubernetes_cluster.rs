//! The tree of a `KubernetesCluster`.

mod flavors;
mod load_balancers;

use cluster_api::{Gpu, KubernetesCluster};
use opgen::{
    cd::{Application, ArgoCd},
    prelude::*,
    scope::Kubeconfig,
};

use crate::{
    charts::{self, CiliumValues, MachineValues, PoolValues},
    cluster_manager,
};
use flavors::{Flavors, Gpus};
use load_balancers::LoadBalancers;

/// The cluster is made in the virtual cluster of its manager.
#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = KubernetesCluster)]
pub struct KubernetesClusterTree {
    flavors: Flavors,
    #[provisioner(remote, from(flavors))]
    manager: InManager,
}

/// In the virtual cluster of the manager.
#[derive(Debug, Provisioner)]
#[provisioner(serial, owner = KubernetesCluster, inputs(gpus: Gpus))]
pub struct InManager {
    cluster: Cluster,
    #[provisioner(when = |cluster| cluster.spec.is_autoscaled())]
    autoscaler: Autoscaler,
    #[provisioner(remote(background), from(gpus))]
    add_ons: AddOns,
}

/// The machines become ready with their network, so both are provisioned at the same time.
#[derive(Debug, Provisioner)]
#[provisioner(up = concurrent, down = serial, owner = KubernetesCluster)]
pub struct Cluster {
    #[provisioner(application(ArgoCd))]
    machines: Application,
    #[provisioner(remote)]
    bootstrap: Bootstrap,
}

/// In the cluster: what makes it work.
#[derive(Debug, Provisioner)]
#[provisioner(up = concurrent, down = serial, owner = KubernetesCluster)]
pub struct Bootstrap {
    #[provisioner(application(ArgoCd))]
    cilium: Application,
    #[provisioner(application(ArgoCd))]
    cloud_provider: Application,
    /// On deletion, the first of these.
    load_balancers: LoadBalancers,
}

/// In the virtual cluster of the manager, since it scales the machines.
#[derive(Debug, Provisioner)]
#[provisioner(concurrent, owner = KubernetesCluster)]
pub struct Autoscaler {
    #[provisioner(application(ArgoCd))]
    cluster_autoscaler: Application,
    #[provisioner(application(ArgoCd))]
    openstack: Application,
}

/// In the cluster.
#[derive(Debug, Provisioner)]
#[provisioner(concurrent, owner = KubernetesCluster, inputs(gpus: Gpus))]
pub struct AddOns {
    #[provisioner(application(ArgoCd))]
    cinder_csi: Application,
    #[provisioner(application(ArgoCd))]
    metrics_server: Application,
    #[provisioner(application(ArgoCd), when = |_, gpus| gpus.contains(Gpu::Nvidia), from(gpus))]
    nvidia_gpu_operator: Application,
    #[provisioner(application(ArgoCd), when = |_, gpus| gpus.contains(Gpu::Amd), from(gpus))]
    cert_manager: Application,
    #[provisioner(application(ArgoCd), when = |_, gpus| gpus.contains(Gpu::Amd), from(gpus))]
    amd_gpu_operator: Application,
}

impl KubernetesClusterTree {
    fn manager(cluster: &KubernetesCluster) -> Kubeconfig {
        cluster_manager::kubeconfig(&cluster.spec.manager)
    }
}

impl InManager {
    fn add_ons(cluster: &KubernetesCluster) -> Kubeconfig {
        kubeconfig(&cluster.name_any())
    }
}

impl Cluster {
    fn machines(cluster: &KubernetesCluster) -> Application {
        let pools = cluster.spec.pools.iter().cloned().map(|pool| PoolValues {
            name: pool.name,
            flavor: pool.flavor,
            replicas: pool.replicas,
            max_replicas: pool.max_replicas,
        });
        let values = MachineValues { kubernetes_version: cluster.spec.version.clone(), pools: pools.collect() };
        charts::machines(&cluster.name_any(), values)
    }

    fn bootstrap(cluster: &KubernetesCluster) -> Kubeconfig {
        kubeconfig(&cluster.name_any())
    }
}

impl Bootstrap {
    fn cilium(cluster: &Draft<'_, KubernetesCluster>) -> Application {
        // Cilium replaces kube-proxy, so it can't use the Service of the API server.
        let server = cluster.server();
        charts::cilium(CiliumValues {
            kube_proxy_replacement: true,
            k8s_service_host: server.as_ref().and_then(|server| Some(server.host()?.to_owned())),
            k8s_service_port: server.as_ref().map(|server| server.port_u16().unwrap_or(443)),
        })
    }

    fn cloud_provider(_: &KubernetesCluster) -> Application {
        charts::cloud_provider()
    }
}

impl Autoscaler {
    fn cluster_autoscaler(cluster: &KubernetesCluster) -> Application {
        charts::cluster_autoscaler(&cluster.name_any())
    }

    fn openstack(cluster: &KubernetesCluster) -> Application {
        charts::cluster_autoscaler_openstack(&cluster.name_any())
    }
}

impl AddOns {
    fn cinder_csi(_: &KubernetesCluster) -> Application {
        charts::cinder_csi()
    }

    fn metrics_server(_: &KubernetesCluster) -> Application {
        charts::metrics_server()
    }

    fn nvidia_gpu_operator(_: &KubernetesCluster, _: &Gpus) -> Application {
        charts::nvidia_gpu_operator()
    }

    fn cert_manager(_: &KubernetesCluster, _: &Gpus) -> Application {
        charts::cert_manager()
    }

    fn amd_gpu_operator(_: &KubernetesCluster, _: &Gpus) -> Application {
        charts::amd_gpu_operator()
    }
}

/// Returns where the kubeconfig of a cluster is: in the virtual cluster of its manager, in the namespace of its machines.
pub(crate) fn kubeconfig(cluster: &str) -> Kubeconfig {
    Kubeconfig::cluster_api(cluster).namespace(cluster)
}
