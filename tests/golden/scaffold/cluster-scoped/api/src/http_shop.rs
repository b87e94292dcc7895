//! The kind `HTTPShop`: its spec and its schema.

use opgen::prelude::*;

/// A message that the operator stores in a ConfigMap.
#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[kube(group = "shop.example.com", version = "v1beta2", kind = "HTTPShop", status = "Status")]
#[kube(printcolumn(
    name = "Available",
    type_ = "string",
    json_path = r#".status.conditions[?(@.type=="Available")].status"#
))]
#[kube(printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp"))]
#[serde(rename_all = "camelCase")]
pub struct HTTPShopSpec {
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
