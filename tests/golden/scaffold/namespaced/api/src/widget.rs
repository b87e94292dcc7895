//! The kind `Widget`: its spec and its schema.

use opgen::prelude::*;

/// A message that the operator stores in a ConfigMap.
#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[kube(group = "demo.example.com", version = "v1alpha1", kind = "Widget", namespaced, status = "Status")]
#[kube(printcolumn(
    name = "Available",
    type_ = "string",
    json_path = r#".status.conditions[?(@.type=="Available")].status"#
))]
#[kube(printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp"))]
#[serde(rename_all = "camelCase")]
pub struct WidgetSpec {
    /// The text of the message.
    #[schemars(length(min = 1))]
    pub message: String,
    /// The number of copies of the message, one per line.
    #[schemars(range(min = 0, max = 50))]
    pub copies: i32,
}
