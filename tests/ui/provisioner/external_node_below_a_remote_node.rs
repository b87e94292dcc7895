use kube::CustomResource;
use opgen::external::{External, ExternalContext, ExternalKey, ExternalResource, Observed, UpdateOutcome};
use opgen::prelude::*;
use opgen::scope::Kubeconfig;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Managed, Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[kube(group = "demo.example.com", version = "v1", kind = "WebApp", namespaced, status = "Status")]
pub struct WebAppSpec {
    pub host: String,
}

#[derive(Debug, Provisioner)]
#[provisioner(access())]
struct DnsRecord;

impl ExternalResource for DnsRecord {
    type Owner = WebApp;
    type Spec = String;
    const NAME: &'static str = "DNS record";

    fn spec(app: &Draft<'_, WebApp>) -> Result<String> {
        Ok(app.spec.host.clone())
    }

    async fn observe(_: &ExternalContext<'_, Self>, _: ExternalKey<'_>) -> Result<Option<Observed<()>>> {
        Ok(None)
    }

    fn is_up_to_date(_: &String, _: &()) -> bool {
        true
    }

    async fn create(_: &ExternalContext<'_, Self>, _: &String, token: &str) -> Result<String> {
        Ok(token.to_owned())
    }

    async fn update(_: &ExternalContext<'_, Self>, _: &str, _: &String) -> Result<UpdateOutcome> {
        Ok(UpdateOutcome::Updated)
    }

    async fn delete(_: &ExternalContext<'_, Self>, _: &str) -> Result<()> {
        Ok(())
    }
}

#[derive(Provisioner)]
#[provisioner(serial, owner = WebApp)]
struct Below {
    record: External<DnsRecord>,
}

#[derive(Provisioner)]
#[provisioner(serial, owner = WebApp)]
struct Tree {
    #[provisioner(remote)]
    below: Below,
}

impl Tree {
    fn below(app: &WebApp) -> Kubeconfig {
        Kubeconfig::cluster_api(&app.name_any())
    }
}

fn main() {
    Operator::new("demo").controls::<WebApp, Tree>();
}
