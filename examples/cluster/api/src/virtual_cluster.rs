//! The kind `VirtualCluster`: its spec and its schema.

use opgen::prelude::*;

/// A virtual cluster in a region.
#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[kube(group = "cluster.example.com", version = "v1alpha1", kind = "VirtualCluster", namespaced, status = "Status")]
#[kube(printcolumn(name = "Region", type_ = "string", json_path = ".spec.region"))]
#[kube(printcolumn(
    name = "Available",
    type_ = "string",
    json_path = r#".status.conditions[?(@.type=="Available")].status"#
))]
#[kube(printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp"))]
#[serde(rename_all = "camelCase")]
#[allow(clippy::duplicated_attributes, reason = "two columns may have the same type")]
pub struct VirtualClusterSpec {
    /// The region, whose kubeconfig is in the Secret `<region>-kubeconfig`. A change moves the virtual cluster.
    #[schemars(length(min = 1, max = 50), regex(pattern = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"))]
    pub region: String,
}
