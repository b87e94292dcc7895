use kube::CustomResource;
use opgen::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", namespaced, status = "Status")]
pub struct WebAppSpec {
    pub image: String,
}

type App = WebApp;

#[derive(Provisioner)]
#[provisioner(access())]
struct WebAppTree;

impl Provision<WebApp> for WebAppTree {
    async fn provision(_: &Context<'_, WebApp, Self>) -> Result<()> {
        Ok(())
    }

    async fn deprovision(_: &Teardown<'_, WebApp, Self>) -> Result<()> {
        Ok(())
    }
}

opgen::operator! {
    WebApp => WebAppTree,
    App => WebAppTree,
}
