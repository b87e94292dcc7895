use kube::CustomResource;
use opgen::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[kube(group = "demo.example.com", version = "v1", kind = "Unit", namespaced, status = "Status")]
#[managed(nats(bucket = "my units", history = 100, max_age = "soon", storage = "tape"))]
pub struct UnitSpec {
    pub image: String,
}

fn needs_a_managed_kind<K: Managed>() {}

fn main() {
    // One mistake is one message: the kind is managed all the same.
    needs_a_managed_kind::<Unit>();
}
