//! Converts the schedule of a test run to faults of the sandbox, and to actions of other clients before API calls of the operator.

use std::{sync::Arc, time::Duration};

use futures::FutureExt as _;
use opgen_sandbox::fault::{Fault, Faults};
use serde_json::Value;

use super::{bucket_stores::BucketStores, remote_clusters::RemoteClusters};
use crate::{
    admin, api_server::ApiServer, external_service::RunningService, path::object_path, program::Manifests,
    schedule::Schedule, store_disturbance::StoreDisturbance, target::Target, webhook_schedule::WebhookSchedule,
};

/// More calls in one run are an endless loop.
const MAX_CALLS: u64 = 3_000;

/// How long random faults are injected.
const RANDOM_FAULTS: Duration = Duration::from_secs(120);

/// For how long the calls to a webhook have a fault in an outage.
const WEBHOOK_OUTAGE: Duration = Duration::from_secs(60);

/// How long random faults are injected into the calls to webhooks.
const RANDOM_WEBHOOK_FAULTS: Duration = Duration::from_secs(120);

/// Adds the faults of a schedule for the calls to webhooks to the fault plan of a run. The period of random faults begins now.
pub(super) fn add_webhook_faults(faults: &Faults, schedule: WebhookSchedule) {
    let faults = faults.clone();
    // The returned faults can be dropped: all clones share one plan.
    drop(match schedule {
        WebhookSchedule::Call(number, fault) => faults.at_webhook_call(number, fault),
        WebhookSchedule::Outage(number, fault) => faults.from_webhook_call(number, fault, WEBHOOK_OUTAGE),
        WebhookSchedule::Random(seed) => faults.webhooks_by_chance(seed, RANDOM_WEBHOOK_FAULTS),
    });
}

/// What the actions of a schedule change.
pub(super) struct PlanTargets<'a> {
    pub(super) server: &'a ApiServer,
    pub(super) buckets: &'a BucketStores,
    pub(super) remote_clusters: &'a RemoteClusters,
    /// The external service; `None` if the program uses none.
    pub(super) service: Option<&'a Arc<dyn RunningService>>,
}

/// Returns the fault plan of a schedule: faults, and actions of other clients just before certain calls of the program. The actions are the
/// deletion, the recreation and the change of the samples, and the disturbances of other clusters, buckets and external services. Call
/// number 0 stands for the time when the program is idle, for which the plan has no action.
pub(super) fn faults(target: &Target, targets: &PlanTargets<'_>, schedule: &Schedule) -> Faults {
    let server = targets.server;
    let faults = match &schedule.random_faults {
        Some((seed, classes)) => Faults::by_chance(*seed, classes, RANDOM_FAULTS),
        None => Faults::none(),
    };
    let mut faults = faults.at_most(MAX_CALLS);
    for (call, fault) in &schedule.stops {
        faults = faults.at_call(*call, *fault);
    }
    if let Some(call) = schedule.delete_at {
        let (server, manifests, policy) = (server.clone(), target.manifests.clone(), schedule.propagation);
        let action = move || {
            // Ignores a rejection: the deletion at the end of the run reports it.
            async move { drop(admin::delete_all(&server, &manifests.samples, &manifests.install, policy).await) }
                .boxed()
        };
        faults = faults.before_call(call, Box::new(action));
    }
    if let Some(call) = schedule.recreate_at.filter(|call| *call > 0) {
        let (server, manifests) = (server.clone(), target.manifests.clone());
        let action = move || async move { recreate_samples(&server, &manifests).await }.boxed();
        faults = faults.before_call(call, Box::new(action));
    }
    if let Some((call, variant)) = schedule.change {
        let (server, installed) = (server.clone(), target.manifests.install.clone());
        let variant = target.variants.get(variant).cloned().unwrap_or_default();
        let action = move || async move { replace_specs(&server, &variant, &installed).await }.boxed();
        faults = faults.before_call(call, Box::new(action));
    }
    if let Some((call, disturbance)) = schedule.cluster.filter(|(call, _)| *call > 0) {
        let clusters = targets.remote_clusters.clone();
        let action = move || async move { clusters.disturb(disturbance).await }.boxed();
        faults = faults.before_call(call, Box::new(action));
    }
    let faults = add_bucket_disturbance(faults, target, targets.buckets, schedule);
    add_service_event(faults, targets.service, schedule)
}

/// Adds the schedule's disturbance of the buckets (key-value stores) before a call to the fault plan. For a disturbance that needs a
/// stopped program, adds only a stop after the call: the disturbance then happens before the next process starts.
fn add_bucket_disturbance(faults: Faults, target: &Target, buckets: &BucketStores, schedule: &Schedule) -> Faults {
    match schedule.bucket.filter(|(call, _)| *call > 0) {
        None => faults,
        Some((call, StoreDisturbance::PurgeWhileStopped)) => faults.at_call(call, Fault::StopAfter),
        Some((call, disturbance)) => {
            let (buckets, samples) = (buckets.clone(), target.manifests.samples.clone());
            let action = move || async move { buckets.disturb(&samples, disturbance) }.boxed();
            faults.before_call(call, Box::new(action))
        }
    }
}

/// Adds the schedule's event of an external service at a call to the fault plan: a fault of the call, or just before it a change of all
/// things in the service.
fn add_service_event(faults: Faults, service: Option<&Arc<dyn RunningService>>, schedule: &Schedule) -> Faults {
    let (Some((call, event)), Some(service)) = (schedule.service.filter(|(call, _)| *call > 0), service) else {
        return faults;
    };
    if let Some(fault) = event.fault() {
        return faults.at_call(call, fault);
    }
    let service = service.clone();
    faults.before_call(call, Box::new(move || async move { service.disturb(event) }.boxed()))
}

/// Deletes and recreates the samples, and ignores a rejection, which the final state shows. Does nothing if a sample is missing or being
/// deleted: the run may need fewer calls than the undisturbed one, so that the planned call comes during the final deletion.
async fn recreate_samples(server: &ApiServer, manifests: &Manifests) {
    for sample in &manifests.samples {
        let current = admin::get(server, &object_path(sample, &manifests.install)).await;
        if current.is_err() || current.is_ok_and(|object| !object["metadata"]["deletionTimestamp"].is_null()) {
            return;
        }
    }
    drop(admin::recreate_all(server, &manifests.samples, &manifests.install).await);
}

/// Replaces the specs of the samples by those of a variant. Ignores a rejection: then the run is not compared with one that creates the
/// variant.
async fn replace_specs(server: &ApiServer, variant: &[Value], installed: &[Value]) {
    for sample in variant {
        drop(admin::replace_spec(server, sample, installed).await);
    }
}
