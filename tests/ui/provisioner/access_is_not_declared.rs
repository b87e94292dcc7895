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
#[provisioner(access(Secret: get))]
struct Snapshot;

impl Provision<WebApp> for Snapshot {
    async fn provision(cx: &Context<'_, WebApp, Self>) -> Result<()> {
        let key: Secret = cx.get("snapshot-key").await?;
        cx.delete::<Secret>("snapshot-key").await?;
        cx.get::<ConfigMap>("settings").await?;
        drop(key);
        Ok(())
    }

    async fn deprovision(_: &Teardown<'_, WebApp, Self>) -> Result<()> {
        Ok(())
    }
}

fn main() {}
