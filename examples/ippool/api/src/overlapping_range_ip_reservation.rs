//! The kind `OverlappingRangeIPReservation`: an address that is reserved across all ranges that contain it.

use opgen::prelude::*;

/// Reserves an address across all ranges that contain it. Its name is the address.
#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq)]
#[kube(
    group = "whereabouts.cni.cncf.io",
    version = "v1alpha1",
    kind = "OverlappingRangeIPReservation",
    plural = "overlappingrangeipreservations",
    shortname = "orip",
    namespaced,
    status = "Status"
)]
#[kube(printcolumn(name = "PodRef", type_ = "string", json_path = ".spec.podref"))]
#[kube(printcolumn(name = "IfName", type_ = "string", json_path = ".spec.ifname"))]
#[kube(printcolumn(name = "ContainerID", type_ = "string", json_path = ".spec.containerid", priority = 1))]
#[allow(clippy::duplicated_attributes, reason = "two columns may have the same type")]
pub struct OverlappingRangeIPReservationSpec {
    /// The ID of the container that holds the address.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub containerid: String,
    /// The Pod, as `namespace/name`.
    #[schemars(length(min = 1))]
    pub podref: String,
    /// The network interface in the Pod.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub ifname: String,
}
