//! Computes the status of a Job.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::{indexes, job_pods::JobPods, pods};
use crate::{
    condition::{self, Condition, Style},
    environment::seconds,
    object,
};

/// The outcome of a Job so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum JobVerdict {
    /// Neither complete nor failed.
    Running,
    /// Enough Pods have succeeded.
    Complete,
    /// More Pods have failed than `backoffLimit` allows.
    BackoffExceeded,
    /// The Job was active longer than `activeDeadlineSeconds`.
    DeadlineExceeded,
}

impl JobVerdict {
    /// Returns the reason and the message of the condition that reports the verdict; empty for a running Job.
    fn reason_and_message(self) -> (&'static str, &'static str) {
        match self {
            Self::Running => ("", ""),
            Self::Complete => ("CompletionsReached", "Reached expected number of succeeded pods"),
            Self::BackoffExceeded => ("BackoffLimitExceeded", "Job has reached the specified backoff limit"),
            Self::DeadlineExceeded => ("DeadlineExceeded", "Job was active longer than specified deadline"),
        }
    }
}

/// Returns whether the Job is complete or failed.
pub(super) fn is_finished(status: &Value) -> bool {
    condition::holds(status, "Complete") || condition::holds(status, "Failed")
}

/// Returns the time at which the Job finished; `None` if it has not.
pub(super) fn finished_at(status: &Value) -> Option<Timestamp> {
    let finished = condition::find(status, "Complete").or_else(|| condition::find(status, "Failed"))?;
    finished["lastTransitionTime"].as_str()?.parse().ok()
}

/// Returns a new status that counts the finished Pods. Each Pod counts once: the status keeps the uids of counted Pods
/// (`uncountedTerminatedPods`) until their tracking finalizer is removed.
pub(super) fn count_finished(job: &Value, job_pods: &JobPods, now: Timestamp) -> Value {
    let old_status = &job["status"];
    let mut status = json!({});
    for field in ["conditions", "startTime", "completedIndexes"] {
        if let Some(value) = object::at(old_status, &[field]) {
            status[field] = value.clone();
        }
    }
    if status["startTime"].is_null() && job["spec"]["suspend"] != true {
        status["startTime"] = seconds(now).into();
    }
    let mut uncounted = json!({});
    for (name, pods) in [("succeeded", &job_pods.succeeded), ("failed", &job_pods.failed)] {
        let counted: BTreeSet<&str> = old_status["uncountedTerminatedPods"][name]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let tracked: Vec<&str> =
            pods.iter().filter(|pod| !object::finalizers(pod).is_empty()).map(object::uid).collect();
        let new = tracked.iter().filter(|uid| !counted.contains(*uid)).count();
        let total = old_status[name].as_i64().unwrap_or(0) + i64::try_from(new).unwrap_or(0);
        if total > 0 {
            status[name] = total.into();
        }
        if !tracked.is_empty() {
            uncounted[name] = json!(tracked);
        }
    }
    status["uncountedTerminatedPods"] = uncounted;
    if job["spec"]["completionMode"] == "Indexed" {
        let mut completed = indexes::parse(object::text(old_status, &["completedIndexes"]));
        completed.extend(job_pods.succeeded.iter().filter_map(indexes::index_of));
        if !completed.is_empty() {
            status["completedIndexes"] = indexes::format_ranges(&completed).into();
            status["succeeded"] = completed.len().into();
        }
    }
    status
}

/// Returns the status `counted` with the numbers of active, ready and terminating Pods of the old status.
pub(super) fn with_running_counts(counted: &Value, old_status: &Value) -> Value {
    let mut status = counted.clone();
    for field in ["active", "ready", "terminating"] {
        if let Some(value) = object::at(old_status, &[field]) {
            status[field] = value.clone();
        }
    }
    status
}

/// Returns the time at which the Job exceeds `activeDeadlineSeconds`; `None` if it has no deadline or has not started.
pub(super) fn deadline(job: &Value, status: &Value) -> Option<Timestamp> {
    let seconds = object::number(job, &["spec", "activeDeadlineSeconds"])?;
    let start: Timestamp = status["startTime"].as_str()?.parse().ok()?;
    start.checked_add(SignedDuration::from_secs(seconds)).ok()
}

/// Returns whether a Job is running, complete or failed, according to the counts in its status. A Job whose status contains the condition
/// `FailureTarget` has failed for the reason of this condition.
pub(super) fn verdict(job: &Value, status: &Value, now: Timestamp) -> JobVerdict {
    if let Some(target) = condition::find(status, "FailureTarget") {
        let is_late = target["reason"] == "DeadlineExceeded";
        return if is_late { JobVerdict::DeadlineExceeded } else { JobVerdict::BackoffExceeded };
    }
    let count = |name: &str| status[name].as_i64().unwrap_or(0);
    if count("failed") > object::number(job, &["spec", "backoffLimit"]).unwrap_or(6) {
        return JobVerdict::BackoffExceeded;
    }
    if job["spec"]["suspend"] != true && deadline(job, status).is_some_and(|deadline| deadline <= now) {
        return JobVerdict::DeadlineExceeded;
    }
    let is_complete = match object::number(job, &["spec", "completions"]) {
        Some(completions) => count("succeeded") >= completions,
        None => count("succeeded") > 0 && count("active") == 0,
    };
    if is_complete { JobVerdict::Complete } else { JobVerdict::Running }
}

/// Sets the numbers of running Pods and the conditions of the verdict in the status. Sets the final condition `Complete` or `Failed` only
/// once no Pod is terminating.
pub(super) fn set_outcome(
    status: &mut Value,
    job: &Value,
    verdict: JobVerdict,
    active: usize,
    job_pods: &JobPods,
    now: Timestamp,
) {
    let ready = job_pods.active.iter().filter(|pod| pods::is_ready(pod)).count();
    let terminating = job_pods.failed.iter().filter(|pod| object::is_deleting(pod) && !pods::is_ended(pod)).count();
    let is_stopping = verdict != JobVerdict::Running || job["spec"]["suspend"] == true;
    // The active Pods of a Job that has ended or is suspended were deleted in this reconcile.
    let terminating = if is_stopping { terminating + job_pods.active.len() } else { terminating };
    status["ready"] = if is_stopping { 0.into() } else { ready.into() };
    status["terminating"] = terminating.into();
    if active > 0 {
        status["active"] = active.into();
    }
    let time = seconds(now);
    match verdict {
        JobVerdict::Running => set_suspended(status, job, &time),
        // A Job without `completions` ends with its last Pod.
        JobVerdict::Complete if job["spec"]["completions"].is_null() && !job_pods.active.is_empty() => {}
        JobVerdict::Complete => {
            set_changed_condition(status, "SuccessCriteriaMet", true, verdict.reason_and_message(), &time);
            if terminating == 0 {
                set_changed_condition(status, "Complete", true, verdict.reason_and_message(), &time);
                status["completionTime"] = time.into();
            }
        }
        JobVerdict::BackoffExceeded | JobVerdict::DeadlineExceeded => {
            set_changed_condition(status, "FailureTarget", true, verdict.reason_and_message(), &time);
            if terminating == 0 {
                set_changed_condition(status, "Failed", true, verdict.reason_and_message(), &time);
            }
        }
    }
}

/// Sets the condition `Suspended` of an unfinished Job when it is suspended or resumed. A suspension removes the start time, and a
/// resumption sets it to the current time.
fn set_suspended(status: &mut Value, job: &Value, time: &str) {
    if job["spec"]["suspend"] == true {
        if let Value::Object(status) = status {
            status.remove("startTime");
        }
        set_changed_condition(status, "Suspended", true, ("JobSuspended", "Job suspended"), time);
    } else if condition::holds(status, "Suspended") {
        set_changed_condition(status, "Suspended", false, ("JobResumed", "Job resumed"), time);
        status["startTime"] = time.into();
    }
}

/// Sets a condition unless the existing one has the same status.
fn set_changed_condition(
    status: &mut Value,
    type_: &'static str,
    holds: bool,
    (reason, message): (&str, &str),
    time: &str,
) {
    let new_condition = Condition::new(type_, holds, reason, message);
    if !condition::find(status, type_).is_some_and(|before| new_condition.matches_status(before)) {
        condition::set(status, &new_condition, time, Style::JOB);
    }
}
