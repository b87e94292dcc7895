use k8s_openapi::api::core::v1::Secret;
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
#[provisioner(access(Secret: gett))]
struct Snapshot;

impl Provision<WebApp> for Snapshot {
    async fn provision(cx: &Context<'_, WebApp, Self>) -> Result<()> {
        // One mistake is one message: this is not reported again.
        cx.get::<Secret>("snapshot-key").await?;
        Ok(())
    }

    async fn deprovision(_: &Teardown<'_, WebApp, Self>) -> Result<()> {
        Ok(())
    }
}

fn main() {}
