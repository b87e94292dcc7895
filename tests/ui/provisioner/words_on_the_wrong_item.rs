use k8s_openapi::api::core::v1::ConfigMap;
use kube::CustomResource;
use opgen::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", namespaced, status = "Status")]
pub struct WebAppSpec {
    pub image: String,
}

#[derive(Provisioner)]
#[provisioner(serial, concurrent, resource, owner = WebApp)]
struct Tree {
    #[provisioner(serial)]
    config: ConfigMap,
    #[provisioner(when = |app: &WebApp| app.spec.image.is_empty())]
    snapshot: ConfigMap,
}

fn needs_a_tree<T: Provision<WebApp>>() {}

fn tree() {
    // One mistake is one message: the tree is one all the same.
    needs_a_tree::<Tree>();
}

fn main() {}
