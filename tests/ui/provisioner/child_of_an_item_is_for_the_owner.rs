use k8s_openapi::api::core::v1::ConfigMap;
use kube::CustomResource;
use opgen::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", namespaced, status = "Status")]
pub struct WebAppSpec {
    pub image: String,
    #[managed(allow(list))]
    pub pools: Vec<Pool>,
}

#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug)]
pub struct Pool {
    pub name: String,
}

#[derive(Provisioner)]
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(each = |app| &app.spec.pools, key = |pool| &pool.name)]
    pools: PoolTree,
}

#[derive(Provisioner)]
#[provisioner(serial, owner = WebApp)]
struct PoolTree {
    #[provisioner(resource)]
    config: ConfigMap,
}

impl PoolTree {
    fn config(_: &WebApp) -> ConfigMap {
        ConfigMap::default()
    }
}

fn main() {}
