//! Computes the readiness of Pods, and detects containers that waiting alone won't start.

use super::{
    condition::{find_condition, of_condition, with_details},
    verdict::{Readiness, held_up},
};
use crate::{
    kind::Kind,
    shape::{Access, SourceLocation, Verb},
};
use serde_json::Value;
use std::collections::BTreeSet;

/// The permission to list the Pods of a workload, to explain why it is not ready.
pub const PODS: &[Access] = &[Access::to(pods, &[Verb::List], SourceLocation::UNKNOWN)];

/// Returns the kind of Pods.
pub(crate) fn pods() -> Kind {
    Kind { group: "".into(), version: "v1".into(), kind: "Pod".into(), plural: "pods".into(), namespaced: true }
}

/// Reasons of waiting containers that waiting alone does not solve.
const STUCK_REASONS: [&str; 8] = [
    "CrashLoopBackOff",
    "ImagePullBackOff",
    "ErrImagePull",
    "ErrImageNeverPull",
    "InvalidImageName",
    "CreateContainerConfigError",
    "CreateContainerError",
    "RunContainerError",
];

/// Returns the readiness of a Pod: ready if it has succeeded or its condition `Ready` is true; held up, with the reason, if it has failed,
/// a container can't start, or the scheduler finds no node for it.
pub(super) fn pod(status: &Value) -> Readiness {
    match status["phase"].as_str() {
        Some("Succeeded") => return Readiness::Ready,
        Some("Failed") => return held_up(with_details("it has failed", status)),
        _ => {}
    }
    match of_condition(status, "Ready") {
        Readiness::Ready => Readiness::Ready,
        not_ready => stuck_containers([status]).or_else(|| unschedulable(status)).map_or(not_ready, held_up),
    }
}

/// Returns the message for a Pod that the scheduler could not place; `None` for any other Pod.
fn unschedulable(status: &Value) -> Option<String> {
    let scheduled = find_condition(status, "PodScheduled")?;
    (scheduled["reason"] == "Unschedulable").then(|| "no node can run it (Unschedulable)".to_owned())
}

/// Returns a text with the stuck containers in the statuses of Pods, each once and sorted: `container web is in CrashLoopBackOff`. A stuck
/// container can't start, and waiting alone does not help. `None` if no container is stuck.
pub(crate) fn stuck_containers<'a>(statuses: impl IntoIterator<Item = &'a Value>) -> Option<String> {
    let mut states = BTreeSet::new();
    for status in statuses {
        for list in ["initContainerStatuses", "containerStatuses"] {
            for container in status[list].as_array().into_iter().flatten() {
                if let Some(state) = stuck_state(container) {
                    states
                        .insert(format!("container {} is in {state}", container["name"].as_str().unwrap_or_default()));
                }
            }
        }
    }
    (!states.is_empty()).then(|| states.into_iter().collect::<Vec<_>>().join(", "))
}

/// Returns the state in which a container is stuck, from its entry in `containerStatuses`; `None` if it makes progress.
fn stuck_state(container: &Value) -> Option<&'static str> {
    let state = &container["state"];
    if let Some(reason) = state["waiting"]["reason"].as_str() {
        // A failing pull alternates between these two reasons.
        let reason = if reason == "ErrImagePull" { "ImagePullBackOff" } else { reason };
        return STUCK_REASONS.into_iter().find(|stuck| *stuck == reason);
    }
    // Between two back-offs a crashing container runs for a while or has just ended, and has no waiting reason then.
    let restarts = container["restartCount"].as_i64().unwrap_or_default();
    let has_failed = |end: &Value| end["terminated"]["exitCode"].as_i64().is_some_and(|code| code != 0);
    let is_ready = container["ready"].as_bool().unwrap_or_default();
    let is_crash_looping = restarts > 1 && !is_ready && (has_failed(state) || has_failed(&container["lastState"]));
    is_crash_looping.then_some("CrashLoopBackOff")
}
