//! Creates the sample objects of a test run, disturbs the operator as the schedule says, and deletes the sample objects.

use serde_json::json;

use super::{bucket, edit, external_service, finalizer, idle, isolation, loss, recreate, remote, upgrade};
use crate::{
    admin,
    schedule::Schedule,
    service_event::ServiceEvent,
    simulation::{Cluster, Failure, Outcome, WAIT_PAUSES},
    snapshot::FOREIGN_FINALIZER,
    target::Target,
    watchdog::{REAL_TIME_LIMIT, limit_real_time},
};

const CREATED: &str = "the samples were created";
const DELETED: &str = "the samples were deleted";

/// Runs a schedule for a program in a new simulated cluster, within the limit of real time, and returns the outcome. `older` is its older
/// release, for a schedule with an upgrade.
pub(super) async fn run(target: &Target, older: Option<&Target>, schedule: &Schedule) -> Outcome {
    let mut outcome = Outcome::default();
    let mut cluster = Cluster::new(target, schedule);
    let phases = run_phases(&mut cluster, older, schedule, &mut outcome);
    let result = limit_real_time(REAL_TIME_LIMIT, phases).await;
    cluster.finish(result, &mut outcome).await;
    outcome
}

/// Runs the phases of a schedule: installs the program, creates the samples, disturbs the idle program, and deletes the samples. Waits
/// after each phase until the program is at rest, that is, idle, and stores a snapshot in the outcome.
///
/// # Errors
/// The failure that ends the run early.
async fn run_phases<'a>(
    cluster: &mut Cluster<'a>,
    older: Option<&'a Target>,
    schedule: &Schedule,
    outcome: &mut Outcome,
) -> Result<(), Failure> {
    let newer = cluster.target;
    if let Some(older) = older.filter(|_| schedule.upgrade) {
        cluster.target = older;
    }
    cluster.install().await?;
    if let Some(number) = schedule.second_object {
        isolation::prepare(cluster, number).await?;
    }
    cluster.add_foreign_objects().await?;
    // A variant is a form of the samples with another spec.
    let samples = match schedule.initial_variant {
        Some(index) => newer.variants.get(index).cloned().unwrap_or_default(),
        None => cluster.target.manifests.samples.clone(),
    };
    cluster.set_base_version(schedule.has_stale_list);
    outcome.webhook_calls_to_set_up = cluster.faults.webhook_calls();
    if let Some(webhooks) = schedule.webhooks.filter(|_| !schedule.upgrade) {
        cluster.disturb_webhooks(webhooks);
    }
    let is_over_quota = schedule.service == Some((0, ServiceEvent::Quota));
    if let Some(service) = cluster.service.as_ref().filter(|_| is_over_quota) {
        service.disturb(ServiceEvent::Quota);
    }
    for sample in &samples {
        let mut sample = sample.clone();
        if schedule.foreign_finalizers.is_some() {
            sample["metadata"]["finalizers"] = json!([FOREIGN_FINALIZER]);
        }
        let (server, installed) = (&cluster.server, &cluster.target.manifests.install);
        let created = cluster.write(async || admin::create(server, &sample, installed).await.map(drop)).await;
        if let Err(error) = created {
            // The server may reject a variant, which is generated from the schema; a sample must be valid.
            outcome.after_edit = schedule.initial_variant.map(|_| Err(error.to_string()));
            return if schedule.initial_variant.is_some() {
                Ok(())
            } else {
                Err(Failure::setup("the sample is invalid", error))
            };
        }
    }
    if is_over_quota {
        external_service::outlast_quota(cluster, outcome).await?;
    }
    rest_after_create(cluster, schedule).await?;
    if cluster.service.as_ref().is_some_and(|service| service.unrepaired() > 0) {
        external_service::await_repair(cluster).await?;
    }
    outcome.calls_to_create = cluster.faults.calls();
    let created = cluster.snapshot();
    if schedule.change.is_some() {
        cluster.record_edit_failures(&created, true, outcome);
    }
    outcome.after_create = Some(created);
    disturb(cluster, newer, schedule, outcome).await?;
    match schedule.foreign_finalizers {
        Some(which) => finalizer::run(cluster, which).await?,
        None => cluster.delete(&samples, schedule.propagation).await?,
    }
    cluster.rest(DELETED).await?;
    outcome.after_delete = Some(cluster.snapshot());
    Ok(())
}

/// Waits until the program is at rest, that is, idle, after the creation of the samples. If the schedule creates or changes them as a
/// variant, waits for a limited time only, since they may refer to an object that does not exist.
///
/// # Errors
/// If the program does not become idle, unless the schedule recreates the samples, which may end the wait.
async fn rest_after_create(cluster: &mut Cluster<'_>, schedule: &Schedule) -> Result<(), Failure> {
    if schedule.initial_variant.is_none() && schedule.change.is_none() {
        return cluster.rest(CREATED).await;
    }
    let limit = cluster.target.pause * WAIT_PAUSES;
    if !cluster.rests_within(limit, CREATED).await? && schedule.recreate_at.is_none() {
        return Err(Failure::NotAtRest(CREATED));
    }
    Ok(())
}

/// Runs the disturbances that the schedule has while the program is idle, in this order: upgrade, idle time, other clusters, buckets,
/// external services, deletion of a child, edit, recreation, second object. In a schedule, the call number 0 stands for this time. The
/// fault plan causes disturbances before other calls; of these, only a disturbance of buckets has a further phase here. `newer` is the
/// release to which an upgrade leads.
async fn disturb<'a>(
    cluster: &mut Cluster<'a>,
    newer: &'a Target,
    schedule: &Schedule,
    outcome: &mut Outcome,
) -> Result<(), Failure> {
    if schedule.upgrade {
        upgrade::run(cluster, newer, schedule.webhooks, outcome).await?;
    }
    if schedule.idle {
        idle::run(cluster).await?;
    }
    if let Some((0, disturbance)) = schedule.cluster {
        remote::run(cluster, disturbance, outcome).await?;
    }
    if let Some(disturbance) = schedule.bucket {
        bucket::run(cluster, disturbance, outcome).await?;
    }
    if let Some((0, event)) = schedule.service.filter(|(_, event)| *event != ServiceEvent::Quota) {
        external_service::run(cluster, event, outcome).await?;
    }
    if let Some(index) = schedule.deleted_child {
        loss::run(cluster, index, schedule.hides_events, outcome).await?;
    }
    if let Some(index) = schedule.edit {
        edit::run(cluster, index, outcome).await?;
    }
    if schedule.recreate_at == Some(0) {
        recreate::run(cluster, outcome).await?;
    }
    if let Some(number) = schedule.second_object {
        isolation::run(cluster, number, outcome).await?;
    }
    Ok(())
}
