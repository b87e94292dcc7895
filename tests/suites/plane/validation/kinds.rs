//! A kind with each rule: of its fields, of a nested object, of the items of lists and of the values of a map.

use std::collections::BTreeMap;

use kube::CustomResource;
use opgen::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The texts of all rules.
pub(crate) const MESSAGES: [&str; 17] = [
    "class is immutable",
    "zone is immutable",
    "create another object for another address",
    "hostName is required if mode is Public",
    "insecurePort is not allowed if tls is set",
    "namespace is required if size is 3",
    "minReplicas must be at most maxReplicas",
    "low must be less than high",
    "the items of hosts must be unique",
    "the items of pools must have a unique port",
    "exactly one of git, image is required",
    "at most one of cpu, memory is allowed",
    "at least one of cpu, disk is required",
    "engine is immutable",
    "from must be at most to",
    "first must be less than last",
    "token can't be changed once it is set",
];

#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[kube(group = "rules.example.com", version = "v1", kind = "Ruled", namespaced, status = "Status")]
#[serde(rename_all = "camelCase")]
pub(crate) struct RuledSpec {
    #[valid(immutable)]
    #[schemars(length(max = 10))]
    pub(crate) class: String,
    #[valid(immutable)]
    #[schemars(length(max = 10))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) zone: Option<String>,
    #[valid(set_once(message = "create another object for another address"))]
    #[schemars(length(max = 10))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) address: Option<String>,
    pub(crate) mode: Mode,
    #[valid(required_if(mode = "Public"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) host_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tls: Option<bool>,
    #[valid(forbidden_if(tls))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) insecure_port: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) size: Option<i32>,
    /// A word that CEL reserves.
    #[valid(required_if(size = 3))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) namespace: Option<String>,
    #[valid(at_most(max_replicas))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) min_replicas: Option<i32>,
    pub(crate) max_replicas: i32,
    #[valid(less_than(high))]
    #[managed(allow(float))]
    pub(crate) low: f64,
    #[managed(allow(float))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) high: Option<f64>,
    #[valid(unique)]
    #[serde(default)]
    #[schemars(length(max = 4), inner(length(max = 10)), extend("x-kubernetes-list-type" = "atomic"))]
    pub(crate) hosts: Vec<String>,
    #[valid(unique(port))]
    #[serde(default)]
    #[schemars(
        length(max = 4),
        extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"])
    )]
    pub(crate) pools: Vec<Pool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) source: Option<Source>,
    #[serde(default)]
    #[schemars(extend("maxProperties" = 4))]
    pub(crate) limits: BTreeMap<String, Limits>,
    #[serde(default)]
    #[schemars(length(max = 4), extend("x-kubernetes-list-type" = "atomic"))]
    pub(crate) ranges: Vec<Range>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) target: Option<Target>,
    #[serde(flatten)]
    pub(crate) credentials: Credentials,
}

#[derive(Serialize, Deserialize, JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Mode {
    #[default]
    Private,
    Public,
}

/// An item with an identity.
#[derive(Validated, Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
pub(crate) struct Pool {
    #[schemars(length(max = 10))]
    pub(crate) name: String,
    pub(crate) port: u16,
    #[valid(immutable)]
    #[schemars(length(max = 10))]
    pub(crate) engine: String,
}

#[derive(Validated, Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[valid(one_of(git, image))]
pub(crate) struct Source {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) git: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) image: Option<String>,
}

#[derive(Validated, Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[valid(at_most_one_of(cpu, memory), at_least_one_of(cpu, disk))]
pub(crate) struct Limits {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cpu: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) memory: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) disk: Option<i32>,
}

/// An item without an identity.
#[derive(Validated, Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
pub(crate) struct Range {
    #[valid(at_most(to))]
    pub(crate) from: i32,
    pub(crate) to: i32,
}

/// A choice whose variants contain types with rules.
#[derive(Validated, Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Target {
    PortRange(Ports),
    Everything {},
}

#[derive(Validated, Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
pub(crate) struct Ports {
    #[valid(less_than(last))]
    pub(crate) first: i32,
    pub(crate) last: i32,
}

/// Fields of the spec itself in JSON.
#[derive(Validated, Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
pub(crate) struct Credentials {
    #[valid(set_once)]
    #[schemars(length(max = 10))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) token: Option<String>,
}
