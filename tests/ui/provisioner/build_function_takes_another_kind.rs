use k8s_openapi::api::core::v1::{ConfigMap, Secret};
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
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(resource)]
    config: ConfigMap,
    #[provisioner(resource, from(config))]
    note: ConfigMap,
}

impl Tree {
    fn config(_: &WebApp) -> ConfigMap {
        ConfigMap::default()
    }

    fn note(_: &WebApp, _: &Secret) -> ConfigMap {
        ConfigMap::default()
    }
}

fn main() {}
