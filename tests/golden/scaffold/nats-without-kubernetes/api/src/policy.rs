//! The kind `Policy`: its spec and its schema.

use opgen::prelude::*;

/// A message that the operator stores in a ConfigMap. Each Policy is an entry of a bucket in NATS.
#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[kube(group = "demo.example.com", version = "v1alpha1", kind = "Policy", status = "Status")]
#[managed(nats(bucket = "policies"))]
#[serde(rename_all = "camelCase")]
pub struct PolicySpec {
    /// The namespace of the ConfigMap.
    #[schemars(length(min = 1), extend("example" = "default"))]
    pub namespace: String,
    /// The text of the message.
    #[schemars(length(min = 1))]
    pub message: String,
    /// The number of copies of the message, one per line.
    #[schemars(range(min = 0, max = 50))]
    pub copies: i32,
}
