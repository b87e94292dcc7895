//! The kind `IPPool`: a range of addresses and its allocations.

use std::collections::BTreeMap;

use opgen::prelude::*;

/// A range of addresses. The CNI plugin on each node writes the allocations; the operator frees those whose Pods are gone.
#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq)]
#[kube(
    group = "whereabouts.cni.cncf.io",
    version = "v1alpha1",
    kind = "IPPool",
    plural = "ippools",
    shortname = "ipp",
    namespaced,
    status = "IPPoolStatus"
)]
#[kube(printcolumn(name = "Range", type_ = "string", json_path = ".spec.range"))]
#[kube(printcolumn(name = "Total", type_ = "integer", json_path = ".status.totalIPs"))]
#[kube(printcolumn(name = "Used", type_ = "integer", json_path = ".status.usedIPs"))]
#[kube(printcolumn(name = "Free", type_ = "integer", json_path = ".status.freeIPs"))]
#[kube(printcolumn(name = "Ready", type_ = "string", json_path = r#".status.conditions[?(@.type=="Ready")].status"#))]
#[managed(finalizer = "whereabouts.cni.cncf.io/ippool-cleanup")]
#[serde(rename_all = "camelCase")]
#[allow(clippy::duplicated_attributes, reason = "two columns may have the same type")]
pub struct IPPoolSpec {
    /// The range in CIDR notation.
    #[schemars(length(min = 1))]
    pub range: String,
    /// The allocated addresses by their offset from the network address, as decimal numbers.
    pub allocations: BTreeMap<String, IpAllocation>,
}

/// The holder of an address.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
pub struct IpAllocation {
    /// The ID of the container.
    pub id: String,
    /// The Pod, as `namespace/name`.
    pub podref: String,
    /// The network interface in the Pod.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub ifname: String,
}

/// The status of a range.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct IPPoolStatus {
    #[serde(flatten)]
    pub standard: Status,
    /// The first address that can be used.
    #[serde(rename = "firstIP", default, skip_serializing_if = "String::is_empty")]
    pub first_ip: String,
    /// The last address that can be used.
    #[serde(rename = "lastIP", default, skip_serializing_if = "String::is_empty")]
    pub last_ip: String,
    /// The number of usable addresses, limited to the maximum of the field.
    #[serde(rename = "totalIPs", default)]
    pub total_ips: i32,
    /// The number of allocated addresses.
    #[serde(rename = "usedIPs", default)]
    pub used_ips: i32,
    /// The number of free addresses.
    #[serde(rename = "freeIPs", default)]
    pub free_ips: i32,
    /// The number of orphaned allocations that the last pass found.
    #[serde(rename = "orphanedIPs", default)]
    pub orphaned_ips: i32,
    /// The number of allocations of Pods that don't run yet.
    #[serde(default)]
    pub pending_pods: i32,
    /// The number of reservations across ranges for allocations of this range.
    #[serde(default)]
    pub overlapping_reservations: i32,
    /// The allocations by address.
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    #[serde(rename = "allocatedIPs", default, skip_serializing_if = "Vec::is_empty")]
    pub allocated_ips: Vec<AllocatedIp>,
}

/// An allocated address.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct AllocatedIp {
    /// The address, or its offset if that is outside the range.
    pub ip: String,
    /// The Pod that holds it, as `namespace/name`.
    pub pod_ref: String,
    /// The network interface in the Pod.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub if_name: String,
}
