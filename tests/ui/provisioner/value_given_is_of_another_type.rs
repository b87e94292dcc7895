use kube::CustomResource;
use opgen::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", namespaced, status = "Status")]
pub struct WebAppSpec {
    pub image: String,
}

struct Plan;

#[derive(Provisioner)]
#[provisioner(access(), output = Plan)]
struct Solve;

impl Provision<WebApp> for Solve {
    async fn provision(cx: &Context<'_, WebApp, Self>) -> Result<()> {
        cx.set_output("three nodes");
        Ok(())
    }

    async fn deprovision(_: &Teardown<'_, WebApp, Self>) -> Result<()> {
        Ok(())
    }
}

fn main() {}
