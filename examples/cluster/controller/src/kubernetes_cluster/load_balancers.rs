//! Removes the load balancers of a cluster before the cloud provider, which would leave them in the cloud.

use cluster_api::KubernetesCluster;
use k8s_openapi::api::core::v1::Service;
use opgen::prelude::*;

/// Deletes all Services of type `LoadBalancer` on teardown, and waits until they are gone.
#[derive(Debug, Provisioner)]
#[provisioner(access(Service: list, delete))]
pub struct LoadBalancers;

impl Provision<KubernetesCluster> for LoadBalancers {
    async fn provision(_: &Context<'_, KubernetesCluster, Self>) -> Result<()> {
        Ok(())
    }

    async fn deprovision(cx: &Teardown<'_, KubernetesCluster, Self>) -> Result<()> {
        let services = cx.list_all::<Service>("").await?;
        let mut remaining = Vec::new();
        for service in services {
            let spec = service.spec.as_ref();
            if spec.and_then(|spec| spec.type_.as_deref()) == Some("LoadBalancer") {
                let (namespace, name) = (service.namespace().unwrap_or_default(), service.name_any());
                cx.in_namespace(&namespace).delete::<Service>(&name).await?;
                remaining.push(format!("{namespace}/{name}"));
            }
        }
        match remaining.first() {
            Some(first) => yield_because("LoadBalancers", format!("waiting for the deletion of Service {first}")),
            None => Ok(()),
        }
    }
}
