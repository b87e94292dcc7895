//! The kind `Tier`: its spec and its schema.

use opgen::prelude::*;

/// What the workloads of a tier get. The owner of the platform writes the tiers; the operator reads them.
#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq)]
#[kube(group = "platform.example.com", version = "v1alpha1", kind = "Tier", status = "Status")]
#[managed(nats(bucket = "tiers"))]
#[serde(rename_all = "camelCase")]
pub struct TierSpec {
    /// The share of a processor that each replica requests, as a quantity.
    #[schemars(length(min = 1), extend("example" = "100m"))]
    pub cpu: String,
    /// The memory of each replica, as a quantity.
    #[schemars(length(min = 1), extend("example" = "64Mi"))]
    pub memory: String,
    /// The largest number of replicas of a workload.
    #[schemars(range(min = 1, max = 1000), extend("example" = 5))]
    pub max_replicas: i32,
}
