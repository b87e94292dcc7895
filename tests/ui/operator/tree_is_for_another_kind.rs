use kube::CustomResource;
use opgen::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", namespaced, status = "Status")]
pub struct WebAppSpec {
    pub image: String,
}

#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[kube(group = "demo.example.com", version = "v1", kind = "Network", status = "Status")]
pub struct NetworkSpec {
    pub range: String,
}

#[derive(Provisioner)]
#[provisioner(access())]
struct NetworkTree;

impl Provision<Network> for NetworkTree {
    async fn provision(_: &Context<'_, Network, Self>) -> Result<()> {
        Ok(())
    }

    async fn deprovision(_: &Teardown<'_, Network, Self>) -> Result<()> {
        Ok(())
    }
}

opgen::operator! {
    WebApp => NetworkTree,
}
