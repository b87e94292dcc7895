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
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(resource(grants(ConfigMap: get)))]
    config: ConfigMap,
}

impl Tree {
    fn config(_: &WebApp) -> ConfigMap {
        ConfigMap::default()
    }
}

fn main() {}
