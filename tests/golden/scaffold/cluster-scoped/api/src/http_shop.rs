//! A message, and how often it is said.

use kube::CustomResource;
use opgen::Managed;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Keeps a message in a config map, as often as asked.
#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[kube(group = "shop.example.com", version = "v1beta2", kind = "HTTPShop", status = "opgen::Status")]
#[kube(printcolumn(
    name = "Available",
    type_ = "string",
    json_path = r#".status.conditions[?(@.type=="Available")].status"#
))]
#[kube(printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp"))]
#[serde(rename_all = "camelCase")]
pub struct HTTPShopSpec {
    /// The namespace of the config map.
    #[schemars(length(min = 1), extend("example" = "default"))]
    pub namespace: String,
    /// What the config map says.
    #[schemars(length(min = 1))]
    pub message: String,
    /// How many times it says so, a line each.
    #[schemars(range(min = 0, max = 50))]
    pub copies: i32,
}
