//! The charts of the trees, and their values. A wrong name of a value is a compile error.

use opgen::cd::Application;
use serde::Serialize;
use sha2::{Digest, Sha256};

const NVIDIA: &str = "https://helm.ngc.nvidia.com/nvidia";
const OPENSTACK: &str = "https://kubernetes.github.io/cloud-provider-openstack";
const AUTOSCALER: &str = "https://kubernetes.github.io/autoscaler";

/// The namespace of the services of a cluster.
const SYSTEM: &str = "kube-system";

/// Returns the release of the virtual cluster of a manager. It begins with a letter and is short, whatever the name of the manager is.
pub(crate) fn vcluster_release(manager: &str) -> String {
    let hash: String = Sha256::digest(manager).iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    format!("vcluster-{hash}")
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct VclusterValues {
    pub(crate) export_kube_config: ExportedKubeconfig,
}

#[derive(Serialize)]
pub(crate) struct ExportedKubeconfig {
    pub(crate) server: String,
}

pub(crate) fn vcluster(release: &str, server: String) -> Application {
    let values = VclusterValues { export_kube_config: ExportedKubeconfig { server } };
    Application::chart("https://charts.loft.sh", "vcluster", "0.29.1").release(release).values(values)
}

pub(crate) fn cert_manager() -> Application {
    Application::chart("https://charts.jetstack.io", "cert-manager", "v1.19.1")
        .namespace("cert-manager")
        .create_namespace()
        .parameter("crds.enabled", "true")
}

pub(crate) fn cluster_api(version: &str) -> Application {
    Application::chart("https://eschercloudai.github.io/helm-cluster-api", "cluster-api", version)
        .namespace("cluster-api")
        .create_namespace()
        .server_side_apply()
        // The controllers aggregate the roles, and cert-manager sets the authorities.
        .ignore_difference("rbac.authorization.k8s.io", "ClusterRole", ["/rules"])
        .ignore_difference(
            "apiextensions.k8s.io",
            "CustomResourceDefinition",
            ["/spec/conversion/webhook/clientConfig/caBundle"],
        )
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MachineValues {
    pub(crate) kubernetes_version: String,
    pub(crate) pools: Vec<PoolValues>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PoolValues {
    pub(crate) name: String,
    pub(crate) flavor: String,
    pub(crate) replicas: i32,
    pub(crate) max_replicas: Option<i32>,
}

pub(crate) fn machines(cluster: &str, values: MachineValues) -> Application {
    Application::chart("https://eschercloudai.github.io/helm-cluster-api", "cluster-api-cluster-openstack", "v0.5.3")
        .release(cluster)
        .namespace(cluster)
        .create_namespace()
        .values(values)
        // The machines are ready only with a network, which comes later.
        .allow_degraded()
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CiliumValues {
    pub(crate) kube_proxy_replacement: bool,
    pub(crate) k8s_service_host: Option<String>,
    pub(crate) k8s_service_port: Option<u16>,
}

pub(crate) fn cilium(values: CiliumValues) -> Application {
    Application::chart("https://helm.cilium.io", "cilium", "1.18.2").namespace(SYSTEM).values(values)
}

pub(crate) fn cloud_provider() -> Application {
    Application::chart(OPENSTACK, "openstack-cloud-controller-manager", "2.34.0").namespace(SYSTEM)
}

pub(crate) fn cinder_csi() -> Application {
    Application::chart(OPENSTACK, "openstack-cinder-csi", "2.34.0").namespace(SYSTEM)
}

pub(crate) fn metrics_server() -> Application {
    Application::chart("https://kubernetes-sigs.github.io/metrics-server", "metrics-server", "3.13.0").namespace(SYSTEM)
}

pub(crate) fn nvidia_gpu_operator() -> Application {
    Application::chart(NVIDIA, "gpu-operator", "v25.3.4").namespace("gpu-operator").create_namespace()
}

pub(crate) fn amd_gpu_operator() -> Application {
    Application::chart("https://rocm.github.io/gpu-operator", "gpu-operator-charts", "v1.4.0")
        .namespace("gpu-operator")
        .create_namespace()
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AutoscalerValues {
    pub(crate) cloud_provider: &'static str,
    pub(crate) auto_discovery: AutoDiscovery,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AutoDiscovery {
    pub(crate) cluster_name: String,
}

pub(crate) fn cluster_autoscaler(cluster: &str) -> Application {
    let auto_discovery = AutoDiscovery { cluster_name: cluster.to_owned() };
    Application::chart(AUTOSCALER, "cluster-autoscaler", "9.51.0")
        .namespace(cluster)
        .values(AutoscalerValues { cloud_provider: "clusterapi", auto_discovery })
}

pub(crate) fn cluster_autoscaler_openstack(cluster: &str) -> Application {
    Application::chart("https://eschercloudai.github.io/helm-cluster-api", "cluster-api-autoscaler-openstack", "v0.1.0")
        .namespace(cluster)
        .parameter("clusterName", cluster)
}
