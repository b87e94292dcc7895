//! The kind `ApplicationSet`: its spec and its schema.

use crate::{ClusterManager, KubernetesCluster};
use opgen::prelude::*;

/// Applications of the catalog, in a Kubernetes cluster.
#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[kube(group = "cluster.example.com", version = "v1alpha1", kind = "ApplicationSet", namespaced, status = "Status")]
#[kube(printcolumn(name = "Cluster", type_ = "string", json_path = ".spec.cluster"))]
#[kube(printcolumn(
    name = "Available",
    type_ = "string",
    json_path = r#".status.conditions[?(@.type=="Available")].status"#
))]
#[kube(printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp"))]
#[serde(rename_all = "camelCase")]
#[allow(clippy::duplicated_attributes, reason = "two columns may have the same type")]
pub struct ApplicationSetSpec {
    /// The manager of the cluster.
    #[managed(reference = ClusterManager)]
    #[schemars(length(min = 1, max = 63))]
    #[schemars(extend("x-kubernetes-validations" = [{"rule": "self == oldSelf", "message": "manager can't be changed"}]))]
    pub manager: String,
    /// The cluster.
    #[managed(reference = KubernetesCluster)]
    #[schemars(length(min = 1, max = 63))]
    #[schemars(extend("x-kubernetes-validations" = [{"rule": "self == oldSelf", "message": "cluster can't be changed"}]))]
    pub cluster: String,
    /// The applications, with all that they depend on.
    #[schemars(length(max = 50))]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub applications: Vec<SelectedApplication>,
}

/// An application of the catalog.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[serde(rename_all = "camelCase")]
pub struct SelectedApplication {
    /// The name of the application in the catalog.
    #[schemars(length(min = 1, max = 63))]
    pub name: String,
    /// The version, as the catalog has it.
    #[schemars(length(min = 1))]
    pub version: String,
}
