//! Converts a schedule to the faults of a run, and to the actions that other clients take before calls.

use std::time::Duration;

use futures::FutureExt as _;
use opgen_sandbox::{Sandbox, fault::Faults};
use serde_json::Value;

use crate::{
    admin, path::object_path, program::Manifests, schedule::Schedule, target::Target, webhook_schedule::WebhookSchedule,
};

/// More calls in one run are an endless loop.
const MAX_CALLS: u64 = 3_000;

/// How long random faults are injected.
const RANDOM_FAULTS: Duration = Duration::from_secs(120);

/// For how long the calls to a webhook have a fault in an outage.
const WEBHOOK_OUTAGE: Duration = Duration::from_secs(60);

/// How long random faults are injected into the calls to webhooks.
const RANDOM_WEBHOOK_FAULTS: Duration = Duration::from_secs(120);

/// Adds the faults of the calls to webhooks; those at random begin now.
pub(super) fn add_webhook_faults(faults: &Faults, schedule: WebhookSchedule) {
    let faults = faults.clone();
    // The clones of the faults share one plan.
    drop(match schedule {
        WebhookSchedule::Call(number, fault) => faults.at_webhook_call(number, fault),
        WebhookSchedule::Outage(number, fault) => faults.from_webhook_call(number, fault, WEBHOOK_OUTAGE),
        WebhookSchedule::Random(seed) => faults.webhooks_by_chance(seed, RANDOM_WEBHOOK_FAULTS),
    });
}

/// Returns the faults of a schedule, and its actions before certain calls: deletion, recreation, and change of the samples.
pub(super) fn faults(target: &Target, sandbox: &Sandbox, schedule: &Schedule) -> Faults {
    let faults = match &schedule.random_faults {
        Some((seed, classes)) => Faults::by_chance(*seed, classes, RANDOM_FAULTS),
        None => Faults::none(),
    };
    let mut faults = faults.at_most(MAX_CALLS);
    for (call, fault) in &schedule.stops {
        faults = faults.at_call(*call, *fault);
    }
    if let Some(call) = schedule.delete_at {
        let (sandbox, manifests, policy) = (sandbox.clone(), target.manifests.clone(), schedule.propagation);
        let action = move || {
            // The deletion at the end of the run reports a rejection.
            async move { drop(admin::delete_all(&sandbox, &manifests.samples, &manifests.install, policy).await) }
                .boxed()
        };
        faults = faults.before_call(call, Box::new(action));
    }
    if let Some(call) = schedule.recreate_at.filter(|call| *call > 0) {
        let (sandbox, manifests) = (sandbox.clone(), target.manifests.clone());
        let action = move || async move { recreate_samples(&sandbox, &manifests).await }.boxed();
        faults = faults.before_call(call, Box::new(action));
    }
    if let Some((call, variant)) = schedule.change {
        let (sandbox, installed) = (sandbox.clone(), target.manifests.install.clone());
        let variant = target.variants.get(variant).cloned().unwrap_or_default();
        let action = move || async move { replace_specs(&sandbox, &variant, &installed).await }.boxed();
        faults = faults.before_call(call, Box::new(action));
    }
    faults
}

/// Recreates the samples, and ignores a rejection: the final state shows it. A run may need fewer calls than the undisturbed one,
/// so that the call comes during the deletion of the samples: they then stay deleted.
async fn recreate_samples(sandbox: &Sandbox, manifests: &Manifests) {
    for sample in &manifests.samples {
        let current = admin::get(sandbox, &object_path(sample, &manifests.install)).await;
        if current.is_err() || current.is_ok_and(|object| !object["metadata"]["deletionTimestamp"].is_null()) {
            return;
        }
    }
    drop(admin::recreate_all(sandbox, &manifests.samples, &manifests.install).await);
}

/// Replaces the specs of the samples, and ignores a rejection: the run with the variant as a new object reports it.
async fn replace_specs(sandbox: &Sandbox, variant: &[Value], installed: &[Value]) {
    for sample in variant {
        drop(admin::replace_spec(sandbox, sample, installed).await);
    }
}
