//! Simulates the kubelet: computes the status of a Pod from the scenario that an annotation of the Pod specifies.
//!
//! The sandbox and any other API server without a kubelet can use it.

use serde_json::{Value, json};

use crate::object;

/// The annotation that sets the [`PodScenario`] of a Pod. It may change while the Pod exists.
pub const ANNOTATION: &str = "opgen.test/pod";

/// The name of the only node.
pub const NODE: &str = "plane";

/// The time of the simulated kubelet: Pods look old, so that `minReadySeconds` never delays a test.
const EPOCH: &str = "2026-01-01T00:00:00Z";

/// The simulated state of a Pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PodScenario {
    /// `ready`: runs and is ready; the default of a Pod whose containers are always restarted.
    Ready,
    /// `unready`: runs and does not get ready.
    Unready,
    /// `crashing`: a container waits in `CrashLoopBackOff`.
    Crashing,
    /// `restarting`: as `crashing`, between two waits: a container runs, after some that have crashed.
    Restarting,
    /// `pulling`: a container waits in `ImagePullBackOff`.
    Pulling,
    /// `pending`: stays in phase `Pending`.
    Pending,
    /// `failed`: has ended with an error.
    Failed,
    /// `succeeded`: has ended successfully; the default of a Pod that is not always restarted, such as that of a Job.
    Succeeded,
}

impl PodScenario {
    /// Returns the scenario of a Pod from its [annotation](ANNOTATION); without the annotation, from its restart policy. An
    /// unknown value of the annotation means `pending`, so that a misspelled value makes the test time out.
    pub fn of(pod: &Value) -> Self {
        match pod["metadata"]["annotations"][ANNOTATION].as_str() {
            None if matches!(object::text(pod, &["spec", "restartPolicy"]), "" | "Always") => Self::Ready,
            None | Some("succeeded") => Self::Succeeded,
            Some("ready") => Self::Ready,
            Some("unready") => Self::Unready,
            Some("crashing") => Self::Crashing,
            Some("restarting") => Self::Restarting,
            Some("pulling") => Self::Pulling,
            Some("failed") => Self::Failed,
            Some(_) => Self::Pending,
        }
    }

    /// Returns the phase of a Pod with this scenario.
    fn phase(self) -> &'static str {
        match self {
            Self::Ready | Self::Unready | Self::Crashing | Self::Restarting => "Running",
            Self::Pulling | Self::Pending => "Pending",
            Self::Failed => "Failed",
            Self::Succeeded => "Succeeded",
        }
    }

    /// Returns the reason of the conditions that report that the containers are not ready.
    fn unready_reason(self) -> &'static str {
        match self {
            Self::Succeeded => "PodCompleted",
            Self::Failed => "PodFailed",
            _ => "ContainersNotReady",
        }
    }

    /// Returns the state of each container with this scenario.
    fn container_state(self) -> Value {
        match self {
            Self::Crashing => json!({"waiting": {"reason": "CrashLoopBackOff"}}),
            Self::Pulling => json!({"waiting": {"reason": "ImagePullBackOff"}}),
            Self::Failed => terminated(1, "Error"),
            Self::Succeeded => terminated(0, "Completed"),
            Self::Pending | Self::Ready | Self::Unready | Self::Restarting => json!({"running": {"startedAt": EPOCH}}),
        }
    }
}

fn terminated(code: i64, reason: &str) -> Value {
    json!({"terminated": {"exitCode": code, "reason": reason, "startedAt": EPOCH, "finishedAt": EPOCH}})
}

/// Returns the status of the node: ready, with room for all Pods.
pub fn node_status() -> Value {
    let ready = json!({
        "type": "Ready", "status": "True", "reason": "KubeletReady",
        "lastTransitionTime": EPOCH, "lastHeartbeatTime": EPOCH,
    });
    let room = json!({"cpu": "64", "memory": "256Gi", "pods": "10000"});
    json!({"conditions": [ready], "capacity": room, "allocatable": room})
}

/// Returns the next status of a Pod according to its scenario; `None` if the scenario never changes it (`Pending`) or it is already
/// reached.
pub fn next_status(pod: &Value) -> Option<Value> {
    let scenario = PodScenario::of(pod);
    let status = &pod["status"];
    let ready = scenario == PodScenario::Ready;
    let listed = |name: &str| status[name].as_array().into_iter().flatten();
    let mut conditions = listed("conditions");
    let same_readiness =
        conditions.any(|condition| condition["type"] == "Ready" && (condition["status"] == "True") == ready);
    let state = scenario.container_state();
    let same_state = listed("containerStatuses").all(|container| includes(&container["state"], &state));
    if scenario == PodScenario::Pending || status["phase"] == scenario.phase() && same_readiness && same_state {
        return None;
    }
    // A container that has crashed shows restarts, and the error of the last run.
    let crashes = matches!(scenario, PodScenario::Crashing | PodScenario::Restarting);
    let (restarts, last_state) = if crashes { (5, PodScenario::Failed.container_state()) } else { (0, json!({})) };
    let containers = pod["spec"]["containers"].as_array().into_iter().flatten().map(|container| {
        json!({"name": container["name"], "image": container["image"], "imageID": container["image"], "ready": ready,
               "started": state["running"].is_object(), "restartCount": restarts, "state": state, "lastState": last_state})
    });
    let condition = |(type_, is_true): (&str, bool)| {
        let status = if is_true { "True" } else { "False" };
        let mut condition =
            json!({"type": type_, "status": status, "lastProbeTime": null, "lastTransitionTime": EPOCH});
        if !is_true {
            condition["reason"] = scenario.unready_reason().into();
        }
        condition
    };
    let conditions = [("PodScheduled", true), ("Initialized", true), ("ContainersReady", ready), ("Ready", ready)];
    let ip = address(object::uid(pod));
    Some(json!({
        "phase": scenario.phase(),
        "conditions": conditions.map(condition),
        "containerStatuses": containers.collect::<Vec<_>>(),
        "hostIP": "127.0.0.1",
        "podIP": ip,
        "podIPs": [{"ip": ip}],
        "startTime": EPOCH,
    }))
}

/// Returns whether `whole` contains all fields of `part`; a null in `part` counts as absent.
fn includes(whole: &Value, part: &Value) -> bool {
    match (whole, part) {
        (Value::Object(whole), Value::Object(part)) => part
            .iter()
            .all(|(key, value)| value.is_null() || whole.get(key).is_some_and(|other| includes(other, value))),
        _ => whole == part,
    }
}

/// Returns a pod IP derived from the uid; Endpoints need one, but nothing listens there.
fn address(uid: &str) -> String {
    let byte = |at: usize| uid.get(at..at + 2).and_then(|hex| u8::from_str_radix(hex, 16).ok()).unwrap_or(1);
    format!("10.{}.{}.{}", byte(0), byte(2), byte(4))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_pod_gets_its_status_once() {
        for scenario in ["ready", "unready", "crashing", "restarting", "pulling", "failed", "succeeded"] {
            let mut pod = json!({
                "metadata": {"uid": "0a0b0c00", "annotations": {ANNOTATION: scenario}},
                "spec": {"containers": [{"name": "a", "image": "a"}]},
            });
            pod["status"] = next_status(&pod).unwrap();
            assert_eq!(pod["status"]["podIP"], "10.10.11.12");
            assert_eq!(next_status(&pod), None, "{scenario}");
        }
    }

    #[test]
    fn an_unknown_scenario_leaves_the_pod_alone() {
        assert_eq!(next_status(&json!({"metadata": {"annotations": {ANNOTATION: "redy"}}})), None);
    }
}
