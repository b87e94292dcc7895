//! A shop: a database, a backend, perhaps a way in from outside, and work that recurs.

use std::collections::BTreeMap;

use kube::CustomResource;
use opgen::Managed;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Runs a backend on a database of its own.
#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[kube(group = "shop.example.com", version = "v1alpha1", kind = "Shop", namespaced, status = "opgen::Status")]
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
    /// What keeps the shop's data.
    pub database: DatabaseSpec,
    /// What answers its customers.
    pub backend: BackendSpec,
    /// The name under which the outside reaches the shop. Without one it is reached from inside the cluster only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// Work that recurs.
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub schedules: Vec<Schedule>,
}

/// The database of a shop.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[serde(rename_all = "camelCase")]
pub struct DatabaseSpec {
    /// The image that runs; it takes its password from the variable `DATABASE_PASSWORD` and keeps its data in `/data`.
    #[schemars(length(min = 1))]
    pub image: String,
    /// How many replicas of it run.
    #[schemars(range(min = 0, max = 9))]
    #[serde(default = "one")]
    pub replicas: i32,
    /// How much room each replica has for its data; it can't be changed.
    #[schemars(length(max = 16), regex(pattern = "^[1-9][0-9]*(Mi|Gi|Ti)$"))]
    #[schemars(extend("x-kubernetes-validations" = [{"rule": "self == oldSelf", "message": "storage can't be changed"}]))]
    #[serde(default = "one_gibibyte")]
    pub storage: String,
}

/// The backend of a shop.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[serde(rename_all = "camelCase")]
pub struct BackendSpec {
    /// The image that runs, also for the work that recurs. It finds the database by the variable `DATABASE_HOST`.
    #[schemars(length(min = 1))]
    pub image: String,
    /// How many replicas of it run. Of more than one, a drain of nodes takes one at a time.
    #[schemars(range(min = 0, max = 50))]
    #[serde(default = "one")]
    pub replicas: i32,
    /// The port that the image listens on.
    #[schemars(range(min = 1, max = 65535))]
    #[serde(default = "http_port")]
    pub port: i32,
    /// Its settings by name; each is a file in `/etc/shop`. A change starts the replicas anew.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, String>,
}

/// Work of a shop that recurs.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[serde(rename_all = "camelCase")]
pub struct Schedule {
    /// Tells it from the others of the shop.
    #[schemars(length(max = 20), regex(pattern = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"))]
    pub name: String,
    /// When it is done, in the five fields of cron.
    #[schemars(length(min = 1))]
    pub cron: String,
    /// What the backend's image runs for it.
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
