use k8s_openapi::api::core::v1::ConfigMap;
use kube::CustomResource;
use opgen::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", namespaced, status = "Status")]
pub struct WebAppSpec {
    pub network: String,
}

#[derive(Provisioner)]
#[provisioner(access(ConfigMap: get))]
struct Join;

impl Provision<WebApp> for Join {
    async fn provision(cx: &Context<'_, WebApp, Self>) -> Result<()> {
        cx.references::<ConfigMap>().add(&cx.object().spec.network).await
    }

    async fn deprovision(cx: &Teardown<'_, WebApp, Self>) -> Result<()> {
        cx.references::<ConfigMap>().clear().await
    }
}

fn main() {}
