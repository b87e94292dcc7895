use kube::CustomResource;
use opgen::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[kube(
    group = "demo",
    version = "one",
    kind = "WebApp",
    status = "Status",
    printcolumn(name = "Image", type_ = "text", json_path = ".spec.imgae")
)]
#[managed(finalizer = "webapp", pause = halted)]
pub struct WebAppSpec {
    pub image: String,
    pub range: (i32, i32),
}

fn needs_a_managed_kind<K: Managed>() {}

fn main() {
    // One mistake is one message: the kind is managed all the same.
    needs_a_managed_kind::<WebApp>();
}
