use k8s_openapi::api::core::v1::Namespace;
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
    namespace: Namespace,
    #[provisioner(deleted_with(namespace))]
    gate: Gate,
}

impl Tree {
    fn namespace(_: &WebApp) -> Namespace {
        Namespace::default()
    }
}

#[derive(Provisioner)]
#[provisioner(access())]
struct Gate;

impl Provision<WebApp> for Gate {
    async fn provision(_: &Context<'_, WebApp, Self>) -> Result<()> {
        Ok(())
    }

    async fn deprovision(_: &Teardown<'_, WebApp, Self>) -> Result<()> {
        Ok(())
    }
}

fn main() {
    Operator::new("demo").controls::<WebApp, Tree>();
}
