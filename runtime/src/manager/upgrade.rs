//! `UpgradeRunner`: runs the upgrade hook of a controller before its workers start, until it succeeds.

use crate::{
    controller::worker::RunningController, manager::upgrade_record::UpgradeRecord, provisioner::schedule::catch_panic,
    queue::Backoff,
};
use std::time::Duration;

/// The delay after a failed hook: it doubles from a second to a minute.
const RETRY: Backoff = Backoff::Exponential { base: Duration::from_secs(1), cap: Duration::from_secs(60) };

/// Runs upgrade hooks for one version of an operator.
pub(super) struct UpgradeRunner {
    pub(super) client: kube::Client,
    pub(super) operator: String,
    pub(super) version: String,
    /// The namespace of the operator, which has the record of upgrades.
    pub(super) namespace: String,
}

impl UpgradeRunner {
    /// Runs the upgrade hook of a controller until it succeeds, with growing delays after failures. A hook that has succeeded for this
    /// version in an earlier run is skipped. Meanwhile, `/readyz` and the verb `why` show the state that this function sets.
    pub(super) async fn run(self, controller: &RunningController) {
        let Some(hook) = &controller.settings().upgrade else { return };
        let kind = controller.control_loop.source.kind();
        let Self { client, operator, version, namespace } = self;
        let record = UpgradeRecord { client: client.clone(), operator, namespace, kind: kind.clone() };
        controller.set_upgrade_state(Some(format!("its upgrade hook for version {version} runs")));
        let mut failures = 0;
        loop {
            match catch_panic(hook.run_once(&client, &record, &version)).await {
                Ok(has_run) => {
                    if has_run {
                        tracing::info!(%kind, version, "upgraded the objects of earlier releases");
                    }
                    return controller.set_upgrade_state(None);
                }
                Err(error) => {
                    let delay = RETRY.after(failures);
                    tracing::error!(%kind, version, %error, ?delay, "the upgrade hook failed and runs again");
                    controller
                        .set_upgrade_state(Some(format!("its upgrade hook for version {version} failed: {error}")));
                    tokio::time::sleep(delay).await;
                    failures = failures.saturating_add(1);
                }
            }
        }
    }
}
