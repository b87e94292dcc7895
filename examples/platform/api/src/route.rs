//! The kind `Route`: its spec and its schema.

use opgen::prelude::*;

/// Where the proxies of the platform send the requests for a host. The operator writes the routes, and the proxies watch their bucket.
#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[kube(group = "platform.example.com", version = "v1alpha1", kind = "Route", namespaced, status = "Status")]
#[managed(nats(bucket = "routes"))]
#[serde(rename_all = "camelCase")]
pub struct RouteSpec {
    /// The host in the requests.
    #[schemars(length(min = 1, max = 253))]
    pub host: String,
    /// The name of the Service that answers them, in the namespace of the route.
    #[schemars(length(min = 1, max = 63))]
    pub service: String,
    /// The port of the Service.
    #[schemars(range(min = 1, max = 65535))]
    pub port: i32,
}
