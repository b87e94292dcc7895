//! The kind `Widget`: its spec and its schema.

use opgen::prelude::*;

/// A message that the operator stores in a ConfigMap. Each Widget is an entry of a bucket in NATS.
#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[kube(group = "demo.example.com", version = "v1alpha1", kind = "Widget", namespaced, status = "Status")]
#[managed(nats(bucket = "widgets"))]
#[serde(rename_all = "camelCase")]
pub struct WidgetSpec {
    /// The text of the message.
    #[schemars(length(min = 1))]
    pub message: String,
    /// The number of copies of the message, one per line.
    #[schemars(range(min = 0, max = 50))]
    pub copies: i32,
}
