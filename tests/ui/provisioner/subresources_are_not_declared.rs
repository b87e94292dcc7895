use k8s_openapi::api::{
    apps::v1::Deployment,
    authentication::v1::TokenRequest,
    core::v1::{Pod, ServiceAccount},
};
use kube::CustomResource;
use opgen::{Subresource, access::subresource, prelude::*};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", namespaced, status = "Status")]
pub struct WebAppSpec {
    pub image: String,
}

struct Pause;

impl Subresource for Pause {
    const NAME: &'static str = "pause";
    type Body = Value;
    type Response = Value;
}

#[derive(Provisioner)]
#[provisioner(access(Deployment: get))]
struct Copy;

impl Provision<WebApp> for Copy {
    async fn provision(cx: &Context<'_, WebApp, Self>) -> Result<()> {
        let deployment: Deployment = cx.get_status("web").await?;
        cx.patch_status::<Deployment>("web", &json!({})).await?;
        cx.update_status(&deployment).await?;
        let scale = cx.get_scale::<Deployment>("web").await?;
        cx.patch_scale::<Deployment>("web", 3).await?;
        cx.update_scale::<Deployment>(&scale).await?;
        cx.subresource::<Pod, subresource::Log>("web-0").text().await?;
        cx.subresource::<Pod, subresource::Resize>("web-0").get().await?;
        cx.subresource::<Pod, subresource::Resize>("web-0").patch(&json!({})).await?;
        cx.subresource::<ServiceAccount, subresource::Token>("web").create(&TokenRequest::default()).await?;
        cx.subresource::<Deployment, Pause>("web").update(&json!({})).await?;
        Ok(())
    }

    async fn deprovision(_: &Teardown<'_, WebApp, Self>) -> Result<()> {
        Ok(())
    }
}

fn main() {}
