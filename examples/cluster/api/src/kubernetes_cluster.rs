//! The kind `KubernetesCluster`: its spec and its schema.

use crate::ClusterManager;
use opgen::prelude::*;

/// A Kubernetes cluster on OpenStack, which a cluster manager makes.
#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[kube(group = "cluster.example.com", version = "v1alpha1", kind = "KubernetesCluster", namespaced, status = "Status")]
#[kube(printcolumn(name = "Version", type_ = "string", json_path = ".spec.version"))]
#[kube(printcolumn(
    name = "Available",
    type_ = "string",
    json_path = r#".status.conditions[?(@.type=="Available")].status"#
))]
#[kube(printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp"))]
#[serde(rename_all = "camelCase")]
#[allow(clippy::duplicated_attributes, reason = "two columns may have the same type")]
pub struct KubernetesClusterSpec {
    /// The manager that makes the cluster. It is immutable.
    #[managed(reference = ClusterManager)]
    #[schemars(length(min = 1, max = 63))]
    #[schemars(extend("x-kubernetes-validations" = [{"rule": "self == oldSelf", "message": "manager can't be changed"}]))]
    pub manager: String,
    /// The version of Kubernetes.
    #[schemars(regex(pattern = "^v[0-9]+\\.[0-9]+\\.[0-9]+$"))]
    pub version: String,
    /// The pools of machines.
    #[schemars(length(max = 50))]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub pools: Vec<Pool>,
}

impl KubernetesClusterSpec {
    /// Returns whether the number of machines follows the load.
    pub fn is_autoscaled(&self) -> bool {
        self.pools.iter().any(|pool| pool.max_replicas.is_some())
    }
}

/// A pool of machines.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[serde(rename_all = "camelCase")]
pub struct Pool {
    /// The name of the pool, unique in the cluster.
    #[schemars(length(max = 20), regex(pattern = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"))]
    pub name: String,
    /// The flavor of the machines, as the region names it.
    #[schemars(length(min = 1))]
    pub flavor: String,
    /// The number of machines.
    #[schemars(range(min = 0, max = 1000))]
    pub replicas: i32,
    /// The maximum number of machines, if it follows the load.
    #[schemars(range(min = 0, max = 1000))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_replicas: Option<i32>,
}

/// The vendor of GPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gpu {
    /// AMD.
    Amd,
    /// NVIDIA.
    Nvidia,
}
