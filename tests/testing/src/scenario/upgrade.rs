//! Replaces the older release by the newer one, and downgrades again.

use crate::{
    simulation::{Cluster, Failure, Outcome},
    target::Target,
};

/// Replaces the older release by the newer one and back, and waits each time until the program is at rest. Records both states,
/// and the number of calls until the upgrade was complete.
pub(super) async fn run<'a>(
    cluster: &mut Cluster<'a>,
    newer: &'a Target,
    outcome: &mut Outcome,
) -> Result<(), Failure> {
    let older = cluster.replace_program(newer).await?;
    cluster.rest("the newer release started").await?;
    outcome.calls_to_upgrade = cluster.faults.calls();
    outcome.after_edit = Some(Ok(cluster.snapshot()));
    cluster.replace_program(older).await?;
    cluster.rest("the older release restarted").await?;
    outcome.after_recovery = Some(cluster.snapshot());
    Ok(())
}
