//! The kind `WebApp`: its spec and its schema.

use opgen::prelude::*;

/// A web application that runs an image behind one Service.
#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[kube(group = "demo.example.com", version = "v1alpha1", kind = "WebApp", namespaced, status = "Status")]
#[kube(shortname = "wa")]
#[kube(printcolumn(name = "Image", type_ = "string", json_path = ".spec.image"))]
#[kube(printcolumn(
    name = "Available",
    type_ = "string",
    json_path = r#".status.conditions[?(@.type=="Available")].status"#
))]
#[kube(printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp"))]
#[serde(rename_all = "camelCase")]
#[allow(clippy::duplicated_attributes, reason = "two columns may have the same type")]
pub struct WebAppSpec {
    /// The container image.
    #[schemars(length(min = 1))]
    pub image: String,
    /// The number of replicas.
    #[schemars(range(min = 0, max = 50))]
    pub replicas: i32,
    /// The port that the image listens on.
    #[schemars(range(min = 1, max = 65535))]
    #[serde(default = "http_port")]
    pub port: i32,
    /// The text of the page; the image reads it from the file `/etc/webapp/greeting`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub greeting: Option<String>,
}

fn http_port() -> i32 {
    8080
}
