//! Implements the Job controller: runs Pods until enough of them have succeeded.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::{
    Action, ApiError, ChangeEvent, Controller, ControllerClient, EventSources, ObjectKey, ReconcileResult, event,
    indexes::{self, INDEX},
    job_pods::JobPods,
    job_status::{self, JobVerdict},
    pods::{self, PODS},
};
use crate::{condition, kind::Kind, object};

pub(super) const JOBS: &str = "jobs.batch";
pub(super) const COMPONENT: &str = "job-controller";

/// The finalizer that keeps a Pod until the Job has counted it.
const TRACKING: &str = "batch.kubernetes.io/job-tracking";

/// The delay of the next Pod after the first failure, in seconds; each further failure doubles it, up to `MAX_BACKOFF`.
const BASE_BACKOFF: i64 = 10;
const MAX_BACKOFF: i64 = 600;

/// Reconciles Jobs.
#[derive(Debug, Default)]
pub(super) struct Jobs {
    /// The failures of each Job that exists.
    failures: BTreeMap<ObjectKey, FailureBackoff>,
}

/// The failures of a Job, which delay its next Pod.
#[derive(Debug)]
struct FailureBackoff {
    /// The number of failed Pods.
    failed: i64,
    /// The time of the last failure.
    since: Timestamp,
}

impl Controller for Jobs {
    type Key = ObjectKey;

    fn sources(&self) -> EventSources {
        EventSources::Resources(&[JOBS, PODS])
    }

    fn keys_for(&mut self, _: &ControllerClient, group_resource: &str, event: &ChangeEvent) -> Vec<ObjectKey> {
        if group_resource == JOBS { vec![pods::key(event)] } else { pods::controller_keys(event, "Job") }
    }

    /// Reconciles a Job. Counts, creates and deletes the Pods of an unfinished Job. Removes the tracking finalizer from the finished Pods
    /// of a finished or terminating Job, and from all Pods of a deleted Job. Deletes a finished Job after its `ttlSecondsAfterFinished`.
    async fn reconcile(&mut self, client: &ControllerClient, key: &ObjectKey) -> ReconcileResult {
        let (namespace, name) = key;
        let kind = client.served_kind(JOBS)?;
        let Some(job) = client.get(&kind, namespace, name) else {
            self.failures.remove(key);
            untrack_orphans(client, namespace, name).await?;
            return Ok(Action::AwaitChange);
        };
        if job_status::is_finished(&job["status"]) {
            untrack(client, JobPods::list(client, &job)?.finished()).await?;
            return delete_expired(client, &kind, &job).await;
        }
        if object::is_deleting(&job) {
            untrack(client, JobPods::list(client, &job)?.finished()).await?;
            return Ok(Action::AwaitChange);
        }
        self.sync_job(client, &kind, key, job).await
    }
}

impl Jobs {
    /// Records the number of failed Pods of a Job, and returns the time from which its next Pod may be created: a delay after the last
    /// failure that doubles with each failure.
    fn backoff_until(&mut self, key: &ObjectKey, failed: i64, now: Timestamp) -> Timestamp {
        let backoff = self.failures.entry(key.clone()).or_insert(FailureBackoff { failed: 0, since: now });
        if failed > backoff.failed {
            *backoff = FailureBackoff { failed, since: now };
        }
        // The clamp keeps the shift within the range of the type.
        let seconds = BASE_BACKOFF.saturating_mul(1 << (failed - 1).clamp(0, 16)).min(MAX_BACKOFF);
        let delay = SignedDuration::from_secs(if failed > 0 { seconds } else { 0 });
        backoff.since.checked_add(delay).unwrap_or(now)
    }

    /// Reconciles an unfinished Job: counts its finished Pods, creates or deletes active Pods, with a backoff after failures, and writes
    /// the status.
    async fn sync_job(
        &mut self,
        client: &ControllerClient,
        kind: &Kind,
        key: &ObjectKey,
        mut job: Value,
    ) -> ReconcileResult {
        let now = client.server.environment.now();
        let job_pods = JobPods::list(client, &job)?;
        let mut status = job_status::count_finished(&job, &job_pods, now);
        let failed = status["failed"].as_i64().unwrap_or(0);
        let backoff_until = self.backoff_until(key, failed, now);
        let verdict = job_status::verdict(&job, &status, now);
        if verdict != JobVerdict::Running && status["uncountedTerminatedPods"] != json!({}) {
            // The finished Pods are counted and lose their finalizer before the status reports the end of the Job.
            job["status"] = job_status::with_running_counts(&status, &job["status"]);
            job = client.replace(kind, "status", &job).await?;
            untrack(client, job_pods.finished()).await?;
            status["uncountedTerminatedPods"] = json!({});
        }
        let suspended = job["spec"]["suspend"] == true;
        let mut next = job_status::deadline(&job, &status);
        let mut active = job_pods.active.len();
        if verdict != JobVerdict::Running || suspended {
            for pod in &job_pods.active {
                delete_pod(client, &job, pod).await?;
            }
            active = 0;
        } else if now < backoff_until {
            next = Some(next.map_or(backoff_until, |next| next.min(backoff_until)));
        } else {
            active = scale(client, kind, &job, &job_pods, &status).await?;
        }
        job_status::set_outcome(&mut status, &job, verdict, active, &job_pods, now);
        if job["status"] != status {
            record_conditions(client, &job, &status).await;
            job["status"] = status;
            job = client.replace(kind, "status", &job).await?;
        }
        untrack(client, job_pods.finished()).await?;
        let is_finished = job_status::is_finished(&job["status"]);
        // Times that have passed were handled in this reconcile.
        let next = next.filter(|next| !is_finished && *next > now);
        Ok(next
            .map_or(Action::AwaitChange, |next| Action::RequeueAt(pods::to_instant(&client.server.environment, next))))
    }
}

/// Records an Event for each of the conditions `Complete`, `Failed` and `Suspended` that becomes true in the new status, and for the end of
/// a suspension.
async fn record_conditions(client: &ControllerClient, job: &Value, status: &Value) {
    let is_new = |type_: &str| condition::holds(status, type_) && !condition::holds(&job["status"], type_);
    if is_new("Complete") {
        event::record(client, COMPONENT, job, "Normal", "Completed", "Job completed").await;
    }
    if is_new("Failed")
        && let Some(failed) = condition::find(status, "Failed")
    {
        let (reason, message) = (object::text(failed, &["reason"]), object::text(failed, &["message"]));
        event::record(client, COMPONENT, job, "Warning", reason, message).await;
    }
    if is_new("Suspended") {
        event::record(client, COMPONENT, job, "Normal", "Suspended", "Job suspended").await;
    }
    if condition::holds(&job["status"], "Suspended") && !condition::holds(status, "Suspended") {
        event::record(client, COMPONENT, job, "Normal", "Resumed", "Job resumed").await;
    }
}

/// Creates or deletes Pods until the allowed number is active, and returns the number of active Pods. Mirrors `manageJob` of
/// kube-controller-manager.
async fn scale(
    client: &ControllerClient,
    kind: &Kind,
    job: &Value,
    job_pods: &JobPods,
    status: &Value,
) -> Result<usize, ApiError> {
    let number = |name: &str| object::number(job, &["spec", name]);
    let succeeded = status["succeeded"].as_i64().unwrap_or(0);
    let parallelism = number("parallelism").unwrap_or(1);
    // A Job without `completions` gets no new Pods after the first success, and keeps the active ones.
    let desired = match number("completions") {
        Some(completions) => parallelism.min(completions - succeeded),
        None if succeeded > 0 => parallelism.min(i64::try_from(job_pods.active.len()).unwrap_or(0)),
        None => parallelism,
    };
    let desired = usize::try_from(desired).unwrap_or(0);
    let surplus = job_pods.active.len().saturating_sub(desired);
    for pod in job_pods.active.iter().rev().take(surplus) {
        delete_pod(client, job, pod).await?;
    }
    let missing = desired.saturating_sub(job_pods.active.len());
    let indexes: Vec<Option<i64>> = if job["spec"]["completionMode"] == "Indexed" {
        let completed = indexes::parse(object::text(status, &["completedIndexes"]));
        let running: BTreeSet<i64> = job_pods.active.iter().filter_map(indexes::index_of).collect();
        let missing_indexes = (0..number("completions").unwrap_or(0))
            .filter(|index| !completed.contains(index) && !running.contains(index));
        missing_indexes.take(missing).map(Some).collect()
    } else {
        vec![None; missing]
    };
    for index in &indexes {
        let created = client.create(&*client.served_kind(PODS)?, &build_pod(kind, job, *index)).await?;
        let message = format!("Created pod: {}", object::name(&created));
        event::record(client, COMPONENT, job, "Normal", "SuccessfulCreate", &message).await;
    }
    Ok(job_pods.active.len() - surplus + indexes.len())
}

/// Returns a Pod of the Job with the tracking finalizer, and for an indexed Job with its completion index as label,
/// annotation, hostname and environment variable.
fn build_pod(kind: &Kind, job: &Value, index: Option<i64>) -> Value {
    let mut pod = pods::from_template(&job["spec"]["template"], kind, job);
    let finalizers = object::map_at(&mut pod, &["metadata"]).entry("finalizers").or_insert_with(|| json!([]));
    if let Some(finalizers) = finalizers.as_array_mut() {
        finalizers.push(TRACKING.into());
    }
    let Some(index) = index else { return pod };
    let name = format!("{}-{index}", object::name(job));
    object::map_at(&mut pod, &["metadata", "labels"]).insert(INDEX.into(), index.to_string().into());
    object::map_at(&mut pod, &["metadata", "annotations"]).insert(INDEX.into(), index.to_string().into());
    pod["metadata"]["generateName"] = format!("{name}-").into();
    pod["spec"]["hostname"] = name.into();
    let path = format!("metadata.labels['{INDEX}']");
    let variable = json!({"name": "JOB_COMPLETION_INDEX", "valueFrom": {"fieldRef": {"fieldPath": path}}});
    for container in pod["spec"]["containers"].as_array_mut().into_iter().flatten() {
        match container["env"].as_array_mut() {
            Some(variables) => variables.push(variable.clone()),
            None => container["env"] = json!([variable]),
        }
    }
    pod
}

/// Deletes a Pod and records an Event about it.
async fn delete_pod(client: &ControllerClient, job: &Value, pod: &Value) -> Result<(), ApiError> {
    let (kind, key) = (client.served_kind(PODS)?, (object::namespace(pod), object::name(pod)));
    match client.delete(&kind, key, &json!({"preconditions": {"uid": object::uid(pod)}})).await {
        Err(refused) if !refused.is_not_found() => return Err(refused),
        _ => {}
    }
    let message = format!("Deleted pod: {}", object::name(pod));
    event::record(client, COMPONENT, job, "Normal", "SuccessfulDelete", &message).await;
    Ok(())
}

/// Removes the tracking finalizer from Pods that the status has counted.
async fn untrack(client: &ControllerClient, pods: impl Iterator<Item = &Value>) -> Result<(), ApiError> {
    let kind = client.served_kind(PODS)?;
    for pod in pods {
        if object::finalizers(pod).contains(&TRACKING) {
            client.remove_finalizer(&kind, pod, TRACKING).await?;
        }
    }
    Ok(())
}

/// Removes the tracking finalizer from the Pods of a deleted Job, whose status no longer counts them.
async fn untrack_orphans(client: &ControllerClient, namespace: &str, job: &str) -> Result<(), ApiError> {
    let all = client.list(&*client.served_kind(PODS)?, Some(namespace));
    let is_of_job = |pod: &&Value| {
        object::owners(pod).iter().any(|owner| owner.controller && owner.kind == "Job" && owner.name == job)
    };
    untrack(client, all.iter().filter(is_of_job)).await
}

/// Deletes a finished Job once its `ttlSecondsAfterFinished` is over; until then, requeues it at that time.
async fn delete_expired(client: &ControllerClient, kind: &Kind, job: &Value) -> ReconcileResult {
    let Some(seconds) = object::number(job, &["spec", "ttlSecondsAfterFinished"]) else {
        return Ok(Action::AwaitChange);
    };
    if object::is_deleting(job) {
        return Ok(Action::AwaitChange);
    }
    let finished_at = job_status::finished_at(&job["status"]);
    let Some(due) = finished_at.and_then(|time| time.checked_add(SignedDuration::from_secs(seconds)).ok()) else {
        return Ok(Action::AwaitChange);
    };
    if client.server.environment.now() < due {
        return Ok(Action::RequeueAt(pods::to_instant(&client.server.environment, due)));
    }
    let options = json!({"propagationPolicy": "Foreground", "preconditions": {"uid": object::uid(job)}});
    match client.delete(kind, (object::namespace(job), object::name(job)), &options).await {
        Err(refused) if !refused.is_not_found() => Err(refused),
        _ => Ok(Action::AwaitChange),
    }
}
