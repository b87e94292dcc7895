use k8s_openapi::api::core::v1::{ConfigMap, Service};
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
    workload: Workload,
}

impl Tree {
    fn config(_: &WebApp) -> ConfigMap {
        ConfigMap::default()
    }
}

#[derive(Provisioner)]
#[provisioner(serial, owner = WebApp, inputs(config: ConfigMap))]
struct Workload {
    #[provisioner(resource)]
    service: Service,
}

impl Workload {
    fn service(_: &WebApp) -> Service {
        Service::default()
    }
}

fn main() {}
