//! The kind `Workload`: its spec and its schema.

use crate::Tier;
use opgen::prelude::*;

/// A program that the platform runs.
#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[kube(group = "platform.example.com", version = "v1alpha1", kind = "Workload", namespaced, status = "Status")]
#[managed(nats(bucket = "workloads", history = 10))]
#[serde(rename_all = "camelCase")]
pub struct WorkloadSpec {
    /// The container image.
    #[schemars(length(min = 1))]
    pub image: String,
    /// The number of replicas; at most the limit of the tier.
    #[schemars(range(min = 0, max = 1000))]
    #[serde(default = "one")]
    pub replicas: i32,
    /// The port that the image listens on.
    #[schemars(range(min = 1, max = 65535))]
    #[serde(default = "http_port")]
    pub port: i32,
    /// The host of the route to the workload. Without a host there is no route.
    #[schemars(length(min = 1, max = 253))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// The tier, which can't be deleted while this workload is in it.
    #[managed(reference = Tier)]
    #[schemars(length(min = 1, max = 63))]
    pub tier: String,
}

fn one() -> i32 {
    1
}

fn http_port() -> i32 {
    8080
}
