#![deny(deprecated)]

use kube::CustomResource;
use opgen::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", status = "Status")]
pub struct WebAppSpec {
    pub ratio: f64,
    pub replicas: u32,
    #[managed(allow(float))]
    pub allowed: f64,
}

fn main() {}
