use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::CustomResource;
use opgen::{access, patch::Snapshot, prelude::*};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", namespaced, status = "Status")]
pub struct WebAppSpec {
    pub image: String,
}

opgen::dynamic_kind! {
    Certificate: "cert-manager.io/v1", "certificates", namespaced;
}

#[derive(Provisioner)]
#[provisioner(access(ConfigMap: get, patch))]
struct Copy;

impl Provision<WebApp> for Copy {
    async fn provision(cx: &Context<'_, WebApp, Self>) -> Result<()> {
        let config: ConfigMap = cx.get("settings").await?;
        cx.list::<ConfigMap>("").await?;
        cx.create(&config).await?;
        cx.apply(&config).await?;
        cx.update(&config).await?;
        cx.patch::<Secret>("key", &json!({})).await?;
        cx.delete::<ConfigMap>("settings").await?;
        cx.delete_collection::<ConfigMap>("").await?;
        cx.write(Snapshot::of(&config)?, &config).await?;
        cx.get::<Certificate>("web").await?;
        follows::<ConfigMap, Self>();
        Ok(())
    }

    async fn deprovision(_: &Teardown<'_, WebApp, Self>) -> Result<()> {
        Ok(())
    }
}

fn follows<K: access::Watch<P>, P>() {}

fn main() {}
