//! The kind `ClusterManager`: its spec and its schema.

use opgen::prelude::*;

/// A virtual cluster with Cluster API, which manages Kubernetes clusters.
#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[kube(group = "cluster.example.com", version = "v1alpha1", kind = "ClusterManager", namespaced, status = "Status")]
#[kube(printcolumn(
    name = "Available",
    type_ = "string",
    json_path = r#".status.conditions[?(@.type=="Available")].status"#
))]
#[kube(printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp"))]
#[serde(rename_all = "camelCase")]
#[allow(clippy::duplicated_attributes, reason = "two columns may have the same type")]
pub struct ClusterManagerSpec {
    /// The version of the chart of Cluster API.
    #[schemars(length(min = 1))]
    #[serde(default = "cluster_api")]
    pub cluster_api: String,
}

fn cluster_api() -> String {
    "v0.2.6".to_owned()
}
