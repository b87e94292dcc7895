//! Reads the tier of a workload.

use opgen::prelude::*;
use platform_api::{Tier, TierSpec, Workload};

/// Reads the tier that the spec names. An edit of a tier is a pass of all its workloads, since the field is a reference.
#[derive(Debug, Provisioner)]
#[provisioner(access(Tier: get), output = TierSpec)]
pub struct CurrentTier;

impl Provision<Workload> for CurrentTier {
    async fn provision(cx: &Context<'_, Workload, Self>) -> Result<()> {
        let spec = &cx.object().spec;
        let tier: Tier = cx.get(&spec.tier).await?;
        check_replicas(spec.replicas, &tier.spec)?;
        cx.set_output(tier.spec);
        Ok(())
    }

    async fn deprovision(_: &Teardown<'_, Workload, Self>) -> Result<()> {
        Ok(())
    }
}

/// Fails with a yield if the tier has a lower limit: an edit of the tier can raise it.
fn check_replicas(replicas: i32, tier: &TierSpec) -> Result<()> {
    if replicas <= tier.max_replicas {
        return Ok(());
    }
    let message = format!("spec.replicas is {replicas}, and the tier allows {}", tier.max_replicas);
    yield_because("TooManyReplicas", message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn a_workload_has_at_most_the_replicas_of_its_tier() {
        let tier = sample::tier().spec;
        assert!(check_replicas(tier.max_replicas, &tier).is_ok());
        let refused = check_replicas(tier.max_replicas + 1, &tier);
        assert!(matches!(refused, Err(Error::Yield { .. })), "{refused:?}");
    }
}
