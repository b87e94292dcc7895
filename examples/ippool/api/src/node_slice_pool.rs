//! The kind `NodeSlicePool`: a range of addresses that is divided among the nodes.

use opgen::prelude::*;

/// A range that is divided into slices of equal size, one per node.
#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq)]
#[kube(
    group = "whereabouts.cni.cncf.io",
    version = "v1alpha1",
    kind = "NodeSlicePool",
    plural = "nodeslicepools",
    shortname = "nsp",
    namespaced,
    status = "NodeSlicePoolStatus",
    derive = "PartialEq"
)]
#[kube(printcolumn(name = "Range", type_ = "string", json_path = ".spec.range"))]
#[kube(printcolumn(name = "SliceSize", type_ = "string", json_path = ".spec.sliceSize"))]
#[kube(printcolumn(name = "Ready", type_ = "string", json_path = r#".status.conditions[?(@.type=="Ready")].status"#))]
#[serde(rename_all = "camelCase")]
#[allow(clippy::duplicated_attributes, reason = "two columns may have the same type")]
pub struct NodeSlicePoolSpec {
    /// The whole range in CIDR notation.
    #[schemars(length(min = 1))]
    pub range: String,
    /// The prefix length of a slice, with or without a slash in front.
    #[schemars(length(min = 1), regex(pattern = "^/?[0-9]+$"))]
    pub slice_size: String,
}

/// The assignment of slices to nodes.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct NodeSlicePoolStatus {
    #[serde(flatten)]
    pub standard: Status,
    /// The slices in the order of their addresses.
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allocations: Vec<NodeSliceAllocation>,
    /// The number of slices.
    #[serde(default)]
    pub total_slices: i32,
    /// The number of assigned slices.
    #[serde(default)]
    pub assigned_slices: i32,
    /// The number of free slices.
    #[serde(default)]
    pub free_slices: i32,
}

/// A slice.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct NodeSliceAllocation {
    /// The assigned node; empty if the slice is free.
    pub node_name: String,
    /// The slice in CIDR notation.
    pub slice_range: String,
}
