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

/// The finalizer that holds a Pod until the Job has counted it.
const TRACKING: &str = "batch.kubernetes.io/job-tracking";

/// The delay of the next Pod after the first failure, in seconds; each further failure doubles it.
const FIRST_WAIT: i64 = 10;
const LONGEST_WAIT: i64 = 600;

#[derive(Debug, Default)]
pub(super) struct Jobs {
    /// The number of failed Pods of each Job, and the time of the last failure.
    failures: BTreeMap<ObjectKey, (i64, Timestamp)>,
}

impl Controller for Jobs {
    type Key = ObjectKey;

    fn sources(&self) -> EventSources {
        EventSources::Resources(&[JOBS, PODS])
    }

    fn keys_for(&mut self, _: &ControllerClient, group_resource: &str, event: &ChangeEvent) -> Vec<ObjectKey> {
        if group_resource == JOBS { vec![pods::key(event)] } else { pods::controller_keys(event, "Job") }
    }

    async fn reconcile(&mut self, client: &ControllerClient, key: &ObjectKey) -> ReconcileResult {
        let (namespace, name) = key;
        let kind = client.served_kind(JOBS)?;
        let Some(job) = client.get(&kind, namespace, name) else {
            self.failures.remove(key);
            release_orphans(client, namespace, name).await?;
            return Ok(Action::AwaitChange);
        };
        if job_status::is_finished(&job["status"]) {
            release(client, JobPods::of(client, &job)?.ended()).await?;
            return expire(client, &kind, &job).await;
        }
        if object::is_deleting(&job) {
            release(client, JobPods::of(client, &job)?.ended()).await?;
            return Ok(Action::AwaitChange);
        }
        self.run(client, &kind, key, job).await
    }
}

impl Jobs {
    async fn run(
        &mut self,
        client: &ControllerClient,
        kind: &Kind,
        key: &ObjectKey,
        mut job: Value,
    ) -> ReconcileResult {
        let now = client.server.environment.now();
        let own = JobPods::of(client, &job)?;
        let mut status = job_status::count(&job, &own, now);
        let failed = status["failed"].as_i64().unwrap_or(0);
        let last = self.failures.entry(key.clone()).or_insert((0, now));
        if failed > last.0 {
            *last = (failed, now);
        }
        let wait = FIRST_WAIT.saturating_mul(1 << (failed - 1).clamp(0, 16)).min(LONGEST_WAIT);
        let from = last.1.checked_add(SignedDuration::from_secs(if failed > 0 { wait } else { 0 })).unwrap_or(now);
        let verdict = job_status::verdict(&job, &status, now);
        if verdict != JobVerdict::Runs && status["uncountedTerminatedPods"] != json!({}) {
            // Finished Pods are counted and released before the status reports the end of the Job.
            job["status"] = job_status::with_counts_of(&status, &job["status"]);
            job = client.replace(kind, "status", &job).await?;
            release(client, own.ended()).await?;
            status["uncountedTerminatedPods"] = json!({});
        }
        let suspended = job["spec"]["suspend"] == true;
        let mut next = job_status::deadline(&job, &status);
        let mut active = own.active.len();
        if verdict != JobVerdict::Runs || suspended {
            for pod in &own.active {
                delete(client, &job, pod).await?;
            }
            active = 0;
        } else if now < from {
            next = Some(next.map_or(from, |next| next.min(from)));
        } else {
            active = scale(client, kind, &job, &own, &status).await?;
        }
        job_status::conclude(&mut status, &job, verdict, active, &own, now);
        if job["status"] != status {
            report(client, &job, &status).await;
            job["status"] = status;
            job = client.replace(kind, "status", &job).await?;
        }
        release(client, own.ended()).await?;
        let done = job_status::is_finished(&job["status"]);
        // Times that have passed were handled in this reconcile.
        let next = next.filter(|next| !done && *next > now);
        Ok(next.map_or(Action::AwaitChange, |next| Action::RequeueAt(pods::instant(&client.server.environment, next))))
    }
}

/// Records Events for new conditions of the Job.
async fn report(client: &ControllerClient, job: &Value, status: &Value) {
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

/// Creates or deletes Pods until the allowed number is active; returns that number.
async fn scale(
    client: &ControllerClient,
    kind: &Kind,
    job: &Value,
    own: &JobPods,
    status: &Value,
) -> Result<usize, ApiError> {
    let number = |name: &str| object::number(job, &["spec", name]);
    let succeeded = status["succeeded"].as_i64().unwrap_or(0);
    let parallel = number("parallelism").unwrap_or(1);
    let wanted = match number("completions") {
        Some(completions) => parallel.min(completions - succeeded),
        None if succeeded > 0 => parallel.min(i64::try_from(own.active.len()).unwrap_or(0)),
        None => parallel,
    };
    let wanted = usize::try_from(wanted).unwrap_or(0);
    let surplus = own.active.len().saturating_sub(wanted);
    for pod in own.active.iter().rev().take(surplus) {
        delete(client, job, pod).await?;
    }
    let missing = wanted.saturating_sub(own.active.len());
    let indexes: Vec<Option<i64>> = if job["spec"]["completionMode"] == "Indexed" {
        let done = indexes::parse(object::text(status, &["completedIndexes"]));
        let running: BTreeSet<i64> = own.active.iter().filter_map(indexes::index_of).collect();
        let free = (0..number("completions").unwrap_or(0)).filter(|at| !done.contains(at) && !running.contains(at));
        free.take(missing).map(Some).collect()
    } else {
        vec![None; missing]
    };
    for index in &indexes {
        let created = client.create(&*client.served_kind(PODS)?, &pod(kind, job, *index)).await?;
        let message = format!("Created pod: {}", object::name(&created));
        event::record(client, COMPONENT, job, "Normal", "SuccessfulCreate", &message).await;
    }
    Ok(own.active.len() - surplus + indexes.len())
}

fn pod(kind: &Kind, job: &Value, index: Option<i64>) -> Value {
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

async fn delete(client: &ControllerClient, job: &Value, pod: &Value) -> Result<(), ApiError> {
    let (kind, at) = (client.served_kind(PODS)?, (object::namespace(pod), object::name(pod)));
    match client.delete(&kind, at, &json!({"preconditions": {"uid": object::uid(pod)}})).await {
        Err(refused) if !refused.is_not_found() => return Err(refused),
        _ => {}
    }
    let message = format!("Deleted pod: {}", object::name(pod));
    event::record(client, COMPONENT, job, "Normal", "SuccessfulDelete", &message).await;
    Ok(())
}

/// Removes the tracking finalizer from counted Pods.
async fn release(client: &ControllerClient, pods: impl Iterator<Item = &Value>) -> Result<(), ApiError> {
    let kind = client.served_kind(PODS)?;
    for pod in pods {
        if object::finalizers(pod).contains(&TRACKING) {
            client.remove_finalizer(&kind, pod, TRACKING).await?;
        }
    }
    Ok(())
}

/// Removes the tracking finalizer from the Pods of a deleted Job, which nobody counts.
async fn release_orphans(client: &ControllerClient, namespace: &str, job: &str) -> Result<(), ApiError> {
    let all = client.list(&*client.served_kind(PODS)?, Some(namespace));
    let of_job = |pod: &&Value| {
        object::owners(pod).iter().any(|owner| owner.controller && owner.kind == "Job" && owner.name == job)
    };
    release(client, all.iter().filter(of_job)).await
}

/// Deletes a finished Job when `ttlSecondsAfterFinished` is over.
async fn expire(client: &ControllerClient, kind: &Kind, job: &Value) -> ReconcileResult {
    let Some(seconds) = object::number(job, &["spec", "ttlSecondsAfterFinished"]) else {
        return Ok(Action::AwaitChange);
    };
    if object::is_deleting(job) {
        return Ok(Action::AwaitChange);
    }
    let ended = job_status::finished_at(&job["status"]);
    let Some(due) = ended.and_then(|ended| ended.checked_add(SignedDuration::from_secs(seconds)).ok()) else {
        return Ok(Action::AwaitChange);
    };
    if client.server.environment.now() < due {
        return Ok(Action::RequeueAt(pods::instant(&client.server.environment, due)));
    }
    let options = json!({"propagationPolicy": "Foreground", "preconditions": {"uid": object::uid(job)}});
    match client.delete(kind, (object::namespace(job), object::name(job)), &options).await {
        Err(refused) if !refused.is_not_found() => Err(refused),
        _ => Ok(Action::AwaitChange),
    }
}
