//! Prints the table cells of Pods. The status column summarizes phase, conditions and container states.

use jiff::Timestamp;
use serde_json::Value;

use super::{
    super::duration::between,
    format::{NONE, age, count, is_condition_true, items, text_or},
};
use crate::object::{at, is_deleting, name, number, text};

/// The summary of the container states, which the columns `READY`, `STATUS` and `RESTARTS` show.
struct ContainerSummary {
    /// The status column: a reason, or the phase.
    reason: String,
    /// The number of ready containers, sidecars included.
    ready: usize,
    restarts: i64,
    /// The time when a container last terminated; `None` if none did.
    last_restart: Option<Timestamp>,
}

/// Prints the row of a Pod.
pub(super) fn pod(object: &Value, now: Timestamp) -> Vec<Value> {
    let summary = ContainerSummary::new(object);
    let sidecars = items(object, &["spec", "initContainers"]).iter().filter(|container| is_sidecar(container)).count();
    let total = items(object, &["spec", "containers"]).len() + sidecars;
    let restarts = match summary.last_restart.filter(|_| summary.restarts != 0) {
        Some(last) => format!("{} ({} ago)", summary.restarts, between(last, now)),
        None => summary.restarts.to_string(),
    };
    let ip = items(object, &["status", "podIPs"]).first().map_or("", |ip| text(ip, &["ip"]));
    let ip = if ip.is_empty() { NONE } else { ip };
    vec![
        name(object).into(),
        format!("{}/{total}", summary.ready).into(),
        summary.reason.into(),
        restarts.into(),
        age(object, now),
        ip.into(),
        text_or(object, &["spec", "nodeName"], NONE),
        text_or(object, &["status", "nominatedNodeName"], NONE),
        readiness_gates(object).into(),
    ]
}

/// Returns whether an init container is a sidecar, which is always restarted.
fn is_sidecar(container: &Value) -> bool {
    text(container, &["restartPolicy"]) == "Always"
}

/// Returns the number of readiness gates whose condition is true, and of all, as `1/2`; `<none>` if the Pod has no readiness gates.
fn readiness_gates(object: &Value) -> String {
    let gates = items(object, &["spec", "readinessGates"]);
    let passed = gates.iter().filter(|gate| is_condition_true(object, text(gate, &["conditionType"]))).count();
    if gates.is_empty() { NONE.to_owned() } else { format!("{passed}/{}", gates.len()) }
}

impl ContainerSummary {
    /// Summarizes the containers of a Pod in the order of kubectl's printer: init containers, containers, deletion.
    fn new(object: &Value) -> Self {
        let phase = text(object, &["status", "phase"]);
        let status_reason = text(object, &["status", "reason"]);
        let is_gated = items(object, &["status", "conditions"]).iter().any(|condition| {
            text(condition, &["type"]) == "PodScheduled" && text(condition, &["reason"]) == "SchedulingGated"
        });
        let reason = if is_gated {
            "SchedulingGated"
        } else if status_reason.is_empty() {
            phase
        } else {
            status_reason
        };
        let mut summary = Self { reason: reason.to_owned(), ready: 0, restarts: 0, last_restart: None };
        let is_initializing = summary.add_init_containers(object);
        if !is_initializing || is_condition_true(object, "Initialized") {
            summary.add_containers(object);
        }
        if is_deleting(object) {
            if status_reason == "NodeLost" {
                summary.reason = "Unknown".into();
            } else if !matches!(phase, "Succeeded" | "Failed") {
                summary.reason = "Terminating".into();
            }
        }
        summary
    }

    /// Returns whether the Pod is still initializing: whether an init container has neither succeeded nor is a started sidecar. The first
    /// such container determines the status. Adds the restarts of the init containers up to this one or, after the
    /// initialization, those of sidecars only.
    fn add_init_containers(&mut self, object: &Value) -> bool {
        let specs = items(object, &["spec", "initContainers"]);
        let (mut sidecar_restarts, mut sidecar_last) = (0, None);
        let mut is_initializing = false;
        for (index, status) in items(object, &["status", "initContainerStatuses"]).iter().enumerate() {
            let sidecar = specs.iter().any(|spec| spec["name"] == status["name"] && is_sidecar(spec));
            let (restarts, last) = restarts_of(status);
            self.restarts += restarts;
            self.last_restart = self.last_restart.max(last);
            if sidecar {
                sidecar_restarts += restarts;
                sidecar_last = sidecar_last.max(last);
            }
            let terminated = at(status, &["state", "terminated"]);
            let waiting_reason = text(status, &["state", "waiting", "reason"]);
            let state_text = match terminated {
                Some(ended) if count(ended, &["exitCode"]) == 0 && number(ended, &["exitCode"]).is_some() => continue,
                _ if sidecar && status["started"] == true => {
                    self.ready += usize::from(status["ready"] == true);
                    continue;
                }
                Some(ended) => termination_reason(ended),
                None if !waiting_reason.is_empty() && waiting_reason != "PodInitializing" => waiting_reason.to_owned(),
                None => format!("{index}/{}", specs.len()),
            };
            self.reason = format!("Init:{state_text}");
            is_initializing = true;
            break;
        }
        if !is_initializing || is_condition_true(object, "Initialized") {
            (self.restarts, self.last_restart) = (sidecar_restarts, sidecar_last);
        }
        is_initializing
    }

    /// Adds the restarts and the number of ready containers, without init containers. The first container that waits or has terminated
    /// determines the status; it is visited last, so that its reason replaces those of later containers.
    fn add_containers(&mut self, object: &Value) {
        let mut running = false;
        for status in items(object, &["status", "containerStatuses"]).iter().rev() {
            let (restarts, last) = restarts_of(status);
            self.restarts += restarts;
            self.last_restart = self.last_restart.max(last);
            let waiting_reason = text(status, &["state", "waiting", "reason"]);
            if !waiting_reason.is_empty() {
                self.reason = waiting_reason.to_owned();
            } else if let Some(ended) = at(status, &["state", "terminated"]) {
                self.reason = termination_reason(ended);
            } else if status["ready"] == true && at(status, &["state", "running"]).is_some() {
                running = true;
                self.ready += 1;
            }
        }
        // A Pod with both completed and running containers is not completed.
        if self.reason == "Completed" && running {
            self.reason = if is_condition_true(object, "Ready") { "Running" } else { "NotReady" }.to_owned();
        }
    }
}

/// Returns the restart count of a container, and the time when it last terminated.
fn restarts_of(status: &Value) -> (i64, Option<Timestamp>) {
    let ended = text(status, &["lastState", "terminated", "finishedAt"]).parse().ok();
    (count(status, &["restartCount"]), ended)
}

/// Returns the reason of a terminated container, or its signal or exit code if it has no reason.
fn termination_reason(terminated: &Value) -> String {
    let (reason, signal) = (text(terminated, &["reason"]), count(terminated, &["signal"]));
    match (reason, signal) {
        ("", 0) => format!("ExitCode:{}", count(terminated, &["exitCode"])),
        ("", signal) => format!("Signal:{signal}"),
        _ => reason.to_owned(),
    }
}
