use k8s_openapi::api::core::v1::Secret;
use kube::CustomResource;
use opgen::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub struct Network;

#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", namespaced, status = "Status")]
pub struct WebAppSpec {
    #[managed(reference = Secret)]
    pub keys: Option<i32>,
    #[managed(reference = Network)]
    pub network: String,
}

fn main() {}
