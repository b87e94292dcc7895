//! Finds the GPUs of a cluster's machines.

use cluster_api::{Gpu, KubernetesCluster};
use k8s_openapi::api::core::v1::ConfigMap;
use opgen::prelude::*;

/// The ConfigMap with the flavors of the region, in the namespace of the cluster: the vendor of its GPUs by flavor.
const FLAVORS: &str = "flavors";

/// The vendors of the GPUs in a cluster.
#[derive(Debug, Default)]
pub struct Gpus(Vec<Gpu>);

impl Gpus {
    pub(crate) fn contains(&self, gpu: Gpu) -> bool {
        self.0.contains(&gpu)
    }
}

/// Reads the flavors of the region. A region without the ConfigMap has no GPUs.
#[derive(Debug, Provisioner)]
#[provisioner(access(ConfigMap("flavors"): get), output = Gpus)]
pub struct Flavors;

impl Provision<KubernetesCluster> for Flavors {
    async fn provision(cx: &Context<'_, KubernetesCluster, Self>) -> Result<()> {
        let flavors = cx.find::<ConfigMap>(FLAVORS).await?.and_then(|flavors| flavors.data).unwrap_or_default();
        let gpus = cx.object().spec.pools.iter().filter_map(|pool| match flavors.get(&pool.flavor)?.as_str() {
            "amd" => Some(Gpu::Amd),
            "nvidia" => Some(Gpu::Nvidia),
            _ => None,
        });
        cx.set_output(Gpus(gpus.collect()));
        Ok(())
    }

    async fn deprovision(_: &Teardown<'_, KubernetesCluster, Self>) -> Result<()> {
        Ok(())
    }
}
