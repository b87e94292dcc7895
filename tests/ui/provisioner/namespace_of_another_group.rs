use k8s_openapi::api::core::v1::ConfigMap;
use kube::CustomResource;
use opgen::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

opgen::dynamic_kind! {
    Namespace: "demo.example.com/v1", "namespaces", cluster;
}

#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", namespaced, status = "Status")]
pub struct WebAppSpec {
    pub image: String,
}

#[derive(Provisioner)]
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(resource)]
    namespace: Namespace,
    #[provisioner(resource, deleted_with(namespace))]
    config: ConfigMap,
}

impl Tree {
    fn namespace(_: &WebApp) -> Namespace {
        Namespace::default()
    }

    fn config(_: &WebApp) -> ConfigMap {
        ConfigMap::default()
    }
}

fn main() {}
