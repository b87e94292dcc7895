//! The kind `Shop`: its spec and its schema.

use std::collections::BTreeMap;

use opgen::prelude::*;

/// A backend with its own database.
#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[kube(group = "shop.example.com", version = "v1alpha1", kind = "Shop", namespaced, status = "Status")]
#[kube(printcolumn(name = "Host", type_ = "string", json_path = ".spec.host"))]
#[kube(printcolumn(
    name = "Available",
    type_ = "string",
    json_path = r#".status.conditions[?(@.type=="Available")].status"#
))]
#[kube(printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp"))]
#[serde(rename_all = "camelCase")]
#[allow(clippy::duplicated_attributes, reason = "two columns may have the same type")]
pub struct ShopSpec {
    /// The database of the shop.
    pub database: DatabaseSpec,
    /// The backend of the shop.
    pub backend: BackendSpec,
    /// The host name of the shop outside the cluster. Without a host name, the shop has no Ingress.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// The periodic jobs of the shop.
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub schedules: Vec<Schedule>,
}

/// The database of a shop.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[serde(rename_all = "camelCase")]
pub struct DatabaseSpec {
    /// The container image; it reads its password from the variable `DATABASE_PASSWORD` and stores its data in `/data`.
    #[schemars(length(min = 1))]
    pub image: String,
    /// The number of replicas.
    #[schemars(range(min = 0, max = 9))]
    #[serde(default = "one")]
    pub replicas: i32,
    /// The storage size of each replica. It is immutable.
    #[schemars(length(max = 16), regex(pattern = "^[1-9][0-9]*(Mi|Gi|Ti)$"))]
    #[schemars(extend("x-kubernetes-validations" = [{"rule": "self == oldSelf", "message": "storage can't be changed"}]))]
    #[serde(default = "one_gibibyte")]
    pub storage: String,
}

/// The backend of a shop.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[serde(rename_all = "camelCase")]
pub struct BackendSpec {
    /// The container image, also of the jobs. It finds the database by the variable `DATABASE_HOST`.
    #[schemars(length(min = 1))]
    pub image: String,
    /// The number of replicas. With more than one, a node drain evicts one at a time.
    #[schemars(range(min = 0, max = 50))]
    #[serde(default = "one")]
    pub replicas: i32,
    /// The port that the image listens on.
    #[schemars(range(min = 1, max = 65535))]
    #[serde(default = "http_port")]
    pub port: i32,
    /// The settings by name; each is a file in `/etc/shop`. A change restarts the replicas.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, String>,
}

/// A periodic job of a shop.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[serde(rename_all = "camelCase")]
pub struct Schedule {
    /// The name of the job, unique in the shop.
    #[schemars(length(max = 20), regex(pattern = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"))]
    pub name: String,
    /// The schedule in cron format.
    #[schemars(length(min = 1))]
    pub cron: String,
    /// The command that the backend's image runs.
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub command: Vec<String>,
}

fn one() -> i32 {
    1
}

fn one_gibibyte() -> String {
    "1Gi".to_owned()
}

fn http_port() -> i32 {
    8080
}
