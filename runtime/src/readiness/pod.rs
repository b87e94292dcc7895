//! What keeps Pods from getting ready, where waiting alone won't help.

use super::{
    condition::{find, of_condition, said},
    verdict::{Readiness, held_up},
};
use crate::{
    kind::Kind,
    shape::{Access, Place, Verb},
};
use serde_json::Value;
use std::collections::BTreeSet;

/// The permission to look at the Pods behind a workload.
pub const PODS: &[Access] = &[Access::to(pods, &[Verb::List], Place::UNKNOWN)];

/// The kind of Pods.
pub(crate) fn pods() -> Kind {
    Kind { group: "".into(), version: "v1".into(), kind: "Pod".into(), plural: "pods".into(), namespaced: true }
}

/// Why a container waits for something that it won't get by waiting.
const STUCK: [&str; 8] = [
    "CrashLoopBackOff",
    "ImagePullBackOff",
    "ErrImagePull",
    "ErrImageNeverPull",
    "InvalidImageName",
    "CreateContainerConfigError",
    "CreateContainerError",
    "RunContainerError",
];

pub(super) fn pod(status: &Value) -> Readiness {
    match status["phase"].as_str() {
        Some("Succeeded") => return Readiness::Ready,
        Some("Failed") => return held_up(said("it has failed", status)),
        _ => {}
    }
    match of_condition(status, "Ready") {
        Readiness::Ready => Readiness::Ready,
        other => stuck([status]).or_else(|| unschedulable(status)).map_or(other, held_up),
    }
}

fn unschedulable(status: &Value) -> Option<String> {
    let scheduled = find(status, "PodScheduled")?;
    (scheduled["reason"] == "Unschedulable").then(|| "no node takes it (Unschedulable)".to_owned())
}

/// What the containers of Pods are stuck in, said once for all Pods and sorted: `container web is in CrashLoopBackOff`.
pub(crate) fn stuck<'a>(statuses: impl IntoIterator<Item = &'a Value>) -> Option<String> {
    let mut found = BTreeSet::new();
    for status in statuses {
        for list in ["initContainerStatuses", "containerStatuses"] {
            for container in status[list].as_array().into_iter().flatten() {
                if let Some(state) = stuck_in(container) {
                    found.insert(format!("container {} is in {state}", container["name"].as_str().unwrap_or_default()));
                }
            }
        }
    }
    (!found.is_empty()).then(|| found.into_iter().collect::<Vec<_>>().join(", "))
}

fn stuck_in(container: &Value) -> Option<&'static str> {
    let state = &container["state"];
    if let Some(reason) = state["waiting"]["reason"].as_str() {
        // Pulling fails and waits in turns; both are one state.
        let reason = if reason == "ErrImagePull" { "ImagePullBackOff" } else { reason };
        return STUCK.into_iter().find(|stuck| *stuck == reason);
    }
    // Between two waits it runs for a while, or has just ended.
    let restarts = container["restartCount"].as_i64().unwrap_or_default();
    let failed = |end: &Value| end["terminated"]["exitCode"].as_i64().is_some_and(|code| code != 0);
    let is_ready = container["ready"].as_bool().unwrap_or_default();
    let loops = restarts > 1 && !is_ready && (failed(state) || failed(&container["lastState"]));
    loops.then_some("CrashLoopBackOff")
}
