//! Replaces the older release by the newer one, and downgrades again.

use crate::{
    simulation::{Cluster, Failure, Outcome},
    target::Target,
    webhook_schedule::WebhookSchedule,
};

/// Replaces the running older release by the newer one and back, and waits each time until the program is at rest, that is, idle. Stores
/// both snapshots, and the number of calls until the newer release was idle, in the outcome. `webhooks` has faults of the calls to
/// webhooks, which begin with the newer release.
pub(super) async fn run<'a>(
    cluster: &mut Cluster<'a>,
    newer: &'a Target,
    webhooks: Option<WebhookSchedule>,
    outcome: &mut Outcome,
) -> Result<(), Failure> {
    let older = cluster.replace_program(newer).await?;
    if let Some(webhooks) = webhooks {
        cluster.disturb_webhooks(webhooks);
    }
    cluster.rest("the newer release started").await?;
    outcome.calls_to_upgrade = cluster.faults.calls();
    outcome.after_edit = Some(Ok(cluster.snapshot()));
    cluster.replace_program(older).await?;
    cluster.rest("the older release restarted").await?;
    outcome.after_recovery = Some(cluster.snapshot());
    Ok(())
}
