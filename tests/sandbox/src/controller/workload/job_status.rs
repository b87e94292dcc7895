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
    Runs,
    Complete,
    BackoffExceeded,
    DeadlineExceeded,
}

impl JobVerdict {
    /// Returns reason and message of the condition.
    fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Runs => ("", ""),
            Self::Complete => ("CompletionsReached", "Reached expected number of succeeded pods"),
            Self::BackoffExceeded => ("BackoffLimitExceeded", "Job has reached the specified backoff limit"),
            Self::DeadlineExceeded => ("DeadlineExceeded", "Job was active longer than specified deadline"),
        }
    }
}

pub(super) fn is_finished(status: &Value) -> bool {
    condition::holds(status, "Complete") || condition::holds(status, "Failed")
}

/// Returns the time at which the Job finished.
pub(super) fn finished_at(status: &Value) -> Option<Timestamp> {
    let ended = condition::find(status, "Complete").or_else(|| condition::find(status, "Failed"))?;
    ended["lastTransitionTime"].as_str()?.parse().ok()
}

/// Returns the status with finished Pods counted; each counts once, by the uids that the status keeps until the Pods
/// are released.
pub(super) fn count(job: &Value, own: &JobPods, now: Timestamp) -> Value {
    let held = &job["status"];
    let mut status = json!({});
    for kept in ["conditions", "startTime", "completedIndexes"] {
        if let Some(value) = object::at(held, &[kept]) {
            status[kept] = value.clone();
        }
    }
    if status["startTime"].is_null() && job["spec"]["suspend"] != true {
        status["startTime"] = seconds(now).into();
    }
    let mut uncounted = json!({});
    for (name, pods) in [("succeeded", &own.succeeded), ("failed", &own.failed)] {
        let before: BTreeSet<&str> =
            held["uncountedTerminatedPods"][name].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let tracked: Vec<&str> =
            pods.iter().filter(|pod| !object::finalizers(pod).is_empty()).map(object::uid).collect();
        let new = tracked.iter().filter(|uid| !before.contains(*uid)).count();
        let total = held[name].as_i64().unwrap_or(0) + i64::try_from(new).unwrap_or(0);
        if total > 0 {
            status[name] = total.into();
        }
        if !tracked.is_empty() {
            uncounted[name] = json!(tracked);
        }
    }
    status["uncountedTerminatedPods"] = uncounted;
    if job["spec"]["completionMode"] == "Indexed" {
        let mut done = indexes::parse(object::text(held, &["completedIndexes"]));
        done.extend(own.succeeded.iter().filter_map(indexes::index_of));
        if !done.is_empty() {
            status["completedIndexes"] = indexes::format_ranges(&done).into();
            status["succeeded"] = done.len().into();
        }
    }
    status
}

/// Returns the counted status with the numbers of running Pods from the previous status.
pub(super) fn with_counts_of(counted: &Value, held: &Value) -> Value {
    let mut status = counted.clone();
    for kept in ["active", "ready", "terminating"] {
        if let Some(value) = object::at(held, &[kept]) {
            status[kept] = value.clone();
        }
    }
    status
}

/// Returns the time at which the Job exceeds `activeDeadlineSeconds`.
pub(super) fn deadline(job: &Value, status: &Value) -> Option<Timestamp> {
    let seconds = object::number(job, &["spec", "activeDeadlineSeconds"])?;
    let start: Timestamp = status["startTime"].as_str()?.parse().ok()?;
    start.checked_add(SignedDuration::from_secs(seconds)).ok()
}

pub(super) fn verdict(job: &Value, status: &Value, now: Timestamp) -> JobVerdict {
    if let Some(target) = condition::find(status, "FailureTarget") {
        let late = target["reason"] == "DeadlineExceeded";
        return if late { JobVerdict::DeadlineExceeded } else { JobVerdict::BackoffExceeded };
    }
    let count = |name: &str| status[name].as_i64().unwrap_or(0);
    if count("failed") > object::number(job, &["spec", "backoffLimit"]).unwrap_or(6) {
        return JobVerdict::BackoffExceeded;
    }
    if job["spec"]["suspend"] != true && deadline(job, status).is_some_and(|deadline| deadline <= now) {
        return JobVerdict::DeadlineExceeded;
    }
    let enough = match object::number(job, &["spec", "completions"]) {
        Some(completions) => count("succeeded") >= completions,
        None => count("succeeded") > 0 && count("active") == 0,
    };
    if enough { JobVerdict::Complete } else { JobVerdict::Runs }
}

/// Writes the numbers of running Pods and the conditions of the verdict.
pub(super) fn conclude(
    status: &mut Value,
    job: &Value,
    verdict: JobVerdict,
    active: usize,
    own: &JobPods,
    now: Timestamp,
) {
    let ready = own.active.iter().filter(|pod| pods::is_ready(pod)).count();
    let terminating = own.failed.iter().filter(|pod| object::is_deleting(pod) && !pods::is_ended(pod)).count();
    let stopping = verdict != JobVerdict::Runs || job["spec"]["suspend"] == true;
    let terminating = if stopping { terminating + own.active.len() } else { terminating };
    status["ready"] = if stopping { 0.into() } else { ready.into() };
    status["terminating"] = terminating.into();
    if active > 0 {
        status["active"] = active.into();
    }
    let time = seconds(now);
    match verdict {
        JobVerdict::Runs => suspend(status, job, &time),
        // A Job without `completions` ends with its last Pod.
        JobVerdict::Complete if job["spec"]["completions"].is_null() && !own.active.is_empty() => {}
        JobVerdict::Complete => {
            set(status, "SuccessCriteriaMet", true, verdict.words(), &time);
            if terminating == 0 {
                set(status, "Complete", true, verdict.words(), &time);
                status["completionTime"] = time.into();
            }
        }
        JobVerdict::BackoffExceeded | JobVerdict::DeadlineExceeded => {
            set(status, "FailureTarget", true, verdict.words(), &time);
            if terminating == 0 {
                set(status, "Failed", true, verdict.words(), &time);
            }
        }
    }
}

fn suspend(status: &mut Value, job: &Value, time: &str) {
    if job["spec"]["suspend"] == true {
        if let Value::Object(status) = status {
            status.remove("startTime");
        }
        set(status, "Suspended", true, ("JobSuspended", "Job suspended"), time);
    } else if condition::holds(status, "Suspended") {
        set(status, "Suspended", false, ("JobResumed", "Job resumed"), time);
        status["startTime"] = time.into();
    }
}

/// Sets a condition unless the status already contains it.
fn set(status: &mut Value, type_: &'static str, holds: bool, (reason, message): (&str, &str), time: &str) {
    let new_condition = Condition::new(type_, holds, reason, message);
    if !condition::find(status, type_).is_some_and(|before| new_condition.matches_status(before)) {
        condition::set(status, &new_condition, time, Style::JOB);
    }
}
