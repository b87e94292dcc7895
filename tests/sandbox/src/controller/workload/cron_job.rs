//! Implements the CronJob controller: creates a Job at each time of the schedule.

use jiff::{SignedDuration, Timestamp, tz::TimeZone};
use serde_json::{Value, json};

use super::{
    Action, ApiError, ChangeEvent, Controller, ControllerClient, EventSources, ObjectKey, ReconcileResult, event,
    job::JOBS, job_status, pods,
};
use crate::{condition, environment::seconds, kind::Kind, object, schedule::Schedule};

const CRON_JOBS: &str = "cronjobs.batch";
const COMPONENT: &str = "cronjob-controller";

/// Reconciles CronJobs.
#[derive(Debug)]
pub(super) struct CronJobs;

impl Controller for CronJobs {
    type Key = ObjectKey;

    fn sources(&self) -> EventSources {
        EventSources::Resources(&[CRON_JOBS, JOBS])
    }

    fn keys_for(&mut self, _: &ControllerClient, group_resource: &str, event: &ChangeEvent) -> Vec<ObjectKey> {
        if group_resource == CRON_JOBS { vec![pods::key(event)] } else { pods::controller_keys(event, "CronJob") }
    }

    /// Creates the due Job of a CronJob, deletes old finished Jobs, and writes the status. Requeues the CronJob at the next time of its
    /// schedule.
    async fn reconcile(&mut self, client: &ControllerClient, (namespace, name): &ObjectKey) -> ReconcileResult {
        let (kind, jobs) = (client.served_kind(CRON_JOBS)?, client.served_kind(JOBS)?);
        let Some(mut cron) = client.get(&kind, namespace, name) else { return Ok(Action::AwaitChange) };
        if object::is_deleting(&cron) {
            return Ok(Action::AwaitChange);
        }
        let (finished, active): (Vec<_>, Vec<_>) =
            pods::controlled_objects(client, &jobs, namespace, object::uid(&cron))
                .into_iter()
                .partition(|job| job_status::is_finished(&job["status"]));
        let mut status = base_status(&cron, &active, &finished);
        record_finished_jobs(client, &cron, &finished).await;
        delete_old_jobs(client, &cron, &finished).await?;
        let next = create_due_job(client, &kind, &mut cron, &active, &mut status).await?;
        if cron["status"] != status {
            cron["status"] = status;
            client.replace(&kind, "status", &cron).await?;
        }
        Ok(next
            .map_or(Action::AwaitChange, |next| Action::RequeueAt(pods::to_instant(&client.server.environment, next))))
    }
}

/// Records an Event for each finished Job that the status still lists as active.
async fn record_finished_jobs(client: &ControllerClient, cron: &Value, finished: &[Value]) {
    let old_references = cron["status"]["active"].as_array();
    let was_active = |job: &&Value| {
        old_references.is_some_and(|list| list.iter().any(|other| other["uid"] == job["metadata"]["uid"]))
    };
    for job in finished.iter().filter(was_active) {
        let condition = if condition::holds(&job["status"], "Complete") { "Complete" } else { "Failed" };
        let message = format!("Saw completed job: {}, condition: {condition}", object::name(job));
        event::record(client, COMPONENT, cron, "Normal", "SawCompletedJob", &message).await;
    }
}

/// Returns the new status of a CronJob: `lastScheduleTime`, `lastSuccessfulTime` and the references to the active Jobs. A Job that this
/// reconcile creates is added later.
fn base_status(cron: &Value, active: &[Value], finished: &[Value]) -> Value {
    let mut status = json!({});
    if let Some(last) = object::at(cron, &["status", "lastScheduleTime"]) {
        status["lastScheduleTime"] = last.clone();
    }
    let completion_times = finished.iter().filter(|job| condition::holds(&job["status"], "Complete"));
    let completion_times = completion_times.filter_map(|job| job["status"]["completionTime"].as_str());
    let last = completion_times.chain(cron["status"]["lastSuccessfulTime"].as_str()).max();
    if let Some(last) = last {
        status["lastSuccessfulTime"] = last.into();
    }
    let old_references = cron["status"]["active"].as_array();
    // An existing reference stays unchanged.
    let reference = |job: &Value| {
        let existing = old_references.and_then(|list| list.iter().find(|other| other["uid"] == job["metadata"]["uid"]));
        existing.cloned().unwrap_or_else(|| job_reference(job))
    };
    if !active.is_empty() {
        status["active"] = active.iter().map(reference).collect();
    }
    status
}

/// Returns the reference to an active Job in the status.
fn job_reference(job: &Value) -> Value {
    let metadata = &job["metadata"];
    json!({
        "kind": "Job", "apiVersion": "batch/v1", "namespace": metadata["namespace"], "name": metadata["name"],
        "uid": metadata["uid"], "resourceVersion": metadata["resourceVersion"],
    })
}

/// Creates the Job for the last scheduled time that has passed since the previous Job, unless the concurrency policy forbids it, and adds
/// the Job to the status. Returns the next scheduled time; `None` if the CronJob is suspended or its schedule has no further time.
async fn create_due_job(
    client: &ControllerClient,
    kind: &Kind,
    cron: &mut Value,
    active: &[Value],
    status: &mut Value,
) -> Result<Option<Timestamp>, ApiError> {
    let spec = &cron["spec"];
    let now = client.server.environment.now();
    // Validation refuses invalid schedules and time zones on write.
    let Ok(schedule) = Schedule::parse(object::text(spec, &["schedule"])) else { return Ok(None) };
    let zone = spec["timeZone"].as_str().map_or(Some(TimeZone::UTC), |zone| TimeZone::get(zone).ok());
    let Some(zone) = zone.filter(|_| spec["suspend"] != true) else { return Ok(None) };
    // Looks back to the last scheduled time, or else to the creation, but not further than the starting deadline.
    let since = [status["lastScheduleTime"].as_str(), cron["metadata"]["creationTimestamp"].as_str()];
    let since: Option<Timestamp> = since.into_iter().flatten().find_map(|since| since.parse().ok());
    let deadline = object::number(spec, &["startingDeadlineSeconds"]);
    let earliest = deadline.and_then(|seconds| now.checked_sub(SignedDuration::from_secs(seconds)).ok());
    let since = since.into_iter().chain(earliest).max().unwrap_or(now);
    let due = schedule.last_between(since, now, &zone);
    let next = schedule.after(due.unwrap_or(since), &zone);
    // No scheduled time has passed.
    let Some(due) = due else { return Ok(next) };
    match object::text(spec, &["concurrencyPolicy"]) {
        "Forbid" if !active.is_empty() => return Ok(next),
        "Replace" => {
            for job in active {
                delete_job(client, job).await?;
            }
            if let Value::Object(status) = status {
                status.remove("active");
            }
        }
        _ => {}
    }
    let jobs = client.served_kind(JOBS)?;
    match client.create(&jobs, &build_job(kind, cron, due)).await {
        // An earlier reconcile has created the Job.
        Err(refused) if refused.is_already_exists() => {}
        Err(refused) => return Err(refused),
        Ok(created) => {
            let message = format!("Created job {}", object::name(&created));
            event::record(client, COMPONENT, cron, "Normal", "SuccessfulCreate", &message).await;
            match status["active"].as_array_mut() {
                Some(active) => active.push(job_reference(&created)),
                None => status["active"] = json!([job_reference(&created)]),
            }
        }
    }
    status["lastScheduleTime"] = seconds(due).into();
    Ok(next)
}

/// Returns the Job of a CronJob for a scheduled time. The name of the Job contains the time in minutes, so that each time has at most one
/// Job.
fn build_job(kind: &Kind, cron: &Value, due: Timestamp) -> Value {
    let template = &cron["spec"]["jobTemplate"];
    let mut annotations = object::at(template, &["metadata", "annotations"]).cloned().unwrap_or_else(|| json!({}));
    annotations["batch.kubernetes.io/cronjob-scheduled-timestamp"] = seconds(due).into();
    let name = format!("{}-{}", object::name(cron), due.as_second() / 60);
    let mut metadata = json!({
        "name": name, "namespace": object::namespace(cron), "annotations": annotations,
        "ownerReferences": [pods::controller_reference(kind, cron)],
    });
    if let Some(labels) = object::at(template, &["metadata", "labels"]) {
        metadata["labels"] = labels.clone();
    }
    json!({"metadata": metadata, "spec": template["spec"]})
}

/// Deletes the oldest finished Jobs beyond the history limits. Successful and failed Jobs have separate limits.
async fn delete_old_jobs(client: &ControllerClient, cron: &Value, finished: &[Value]) -> Result<(), ApiError> {
    for (type_, limit_field, default) in
        [("Complete", "successfulJobsHistoryLimit", 3), ("Failed", "failedJobsHistoryLimit", 1)]
    {
        let limit = object::number(cron, &["spec", limit_field]).unwrap_or(default);
        let mut jobs: Vec<_> = finished.iter().filter(|job| condition::holds(&job["status"], type_)).collect();
        jobs.sort_by_key(|job| object::text(job, &["status", "startTime"]));
        let surplus = jobs.len().saturating_sub(usize::try_from(limit).unwrap_or(0));
        for job in &jobs[..surplus] {
            delete_job(client, job).await?;
        }
    }
    Ok(())
}

/// Deletes a Job and its Pods (propagation policy `Background`).
async fn delete_job(client: &ControllerClient, job: &Value) -> Result<(), ApiError> {
    let options = json!({"propagationPolicy": "Background", "preconditions": {"uid": object::uid(job)}});
    let key = (object::namespace(job), object::name(job));
    match client.delete(&*client.served_kind(JOBS)?, key, &options).await {
        Err(refused) if !refused.is_not_found() => Err(refused),
        _ => Ok(()),
    }
}
