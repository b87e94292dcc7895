//! Prints the table cells of Pods; the status column sums up phase, conditions and container states.

use jiff::Timestamp;
use serde_json::Value;

use super::{
    super::duration::between,
    format::{NONE, age, count, is_true, items, or},
};
use crate::object::{at, is_deleting, name, number, text};

/// The summary of the containers' states.
struct Seen {
    reason: String,
    ready: usize,
    restarts: i64,
    last_restart: Option<Timestamp>,
}

pub(super) fn pod(object: &Value, now: Timestamp) -> Vec<Value> {
    let seen = Seen::of(object);
    let sidecars = items(object, &["spec", "initContainers"]).iter().filter(|container| is_sidecar(container)).count();
    let total = items(object, &["spec", "containers"]).len() + sidecars;
    let restarts = match seen.last_restart.filter(|_| seen.restarts != 0) {
        Some(last) => format!("{} ({} ago)", seen.restarts, between(last, now)),
        None => seen.restarts.to_string(),
    };
    let ip = items(object, &["status", "podIPs"]).first().map_or("", |ip| text(ip, &["ip"]));
    let ip = if ip.is_empty() { NONE } else { ip };
    vec![
        name(object).into(),
        format!("{}/{total}", seen.ready).into(),
        seen.reason.into(),
        restarts.into(),
        age(object, now),
        ip.into(),
        or(object, &["spec", "nodeName"], NONE),
        or(object, &["status", "nominatedNodeName"], NONE),
        gates(object).into(),
    ]
}

fn is_sidecar(container: &Value) -> bool {
    text(container, &["restartPolicy"]) == "Always"
}

/// Returns the number of true readiness gates and of all.
fn gates(object: &Value) -> String {
    let gates = items(object, &["spec", "readinessGates"]);
    let open = gates.iter().filter(|gate| is_true(object, text(gate, &["conditionType"]))).count();
    if gates.is_empty() { NONE.to_owned() } else { format!("{open}/{}", gates.len()) }
}

impl Seen {
    fn of(object: &Value) -> Self {
        let phase = text(object, &["status", "phase"]);
        let own = text(object, &["status", "reason"]);
        let gated = items(object, &["status", "conditions"]).iter().any(|condition| {
            text(condition, &["type"]) == "PodScheduled" && text(condition, &["reason"]) == "SchedulingGated"
        });
        let reason = if gated {
            "SchedulingGated"
        } else if own.is_empty() {
            phase
        } else {
            own
        };
        let mut seen = Self { reason: reason.to_owned(), ready: 0, restarts: 0, last_restart: None };
        let begins = seen.init_containers(object);
        if !begins || is_true(object, "Initialized") {
            seen.containers(object);
        }
        if is_deleting(object) {
            if own == "NodeLost" {
                seen.reason = "Unknown".into();
            } else if !matches!(phase, "Succeeded" | "Failed") {
                seen.reason = "Terminating".into();
            }
        }
        seen
    }

    /// Adds the init containers; returns whether they are still running.
    fn init_containers(&mut self, object: &Value) -> bool {
        let specs = items(object, &["spec", "initContainers"]);
        let (mut sidecar_restarts, mut sidecar_last) = (0, None);
        let mut begins = false;
        for (index, status) in items(object, &["status", "initContainerStatuses"]).iter().enumerate() {
            let sidecar = specs.iter().any(|spec| spec["name"] == status["name"] && is_sidecar(spec));
            let (restarts, last) = restarted(status);
            self.restarts += restarts;
            self.last_restart = self.last_restart.max(last);
            if sidecar {
                sidecar_restarts += restarts;
                sidecar_last = sidecar_last.max(last);
            }
            let terminated = at(status, &["state", "terminated"]);
            let waits = text(status, &["state", "waiting", "reason"]);
            let state_text = match terminated {
                Some(ended) if count(ended, &["exitCode"]) == 0 && number(ended, &["exitCode"]).is_some() => continue,
                _ if sidecar && status["started"] == true => {
                    self.ready += usize::from(status["ready"] == true);
                    continue;
                }
                Some(ended) => ending(ended),
                None if !waits.is_empty() && waits != "PodInitializing" => waits.to_owned(),
                None => format!("{index}/{}", specs.len()),
            };
            self.reason = format!("Init:{state_text}");
            begins = true;
            break;
        }
        if !begins || is_true(object, "Initialized") {
            (self.restarts, self.last_restart) = (sidecar_restarts, sidecar_last);
        }
        begins
    }

    fn containers(&mut self, object: &Value) {
        let mut running = false;
        for status in items(object, &["status", "containerStatuses"]).iter().rev() {
            let (restarts, last) = restarted(status);
            self.restarts += restarts;
            self.last_restart = self.last_restart.max(last);
            let waits = text(status, &["state", "waiting", "reason"]);
            if !waits.is_empty() {
                self.reason = waits.to_owned();
            } else if let Some(ended) = at(status, &["state", "terminated"]) {
                self.reason = ending(ended);
            } else if status["ready"] == true && at(status, &["state", "running"]).is_some() {
                running = true;
                self.ready += 1;
            }
        }
        if self.reason == "Completed" && running {
            self.reason = if is_true(object, "Ready") { "Running" } else { "NotReady" }.to_owned();
        }
    }
}

/// Returns the restart count of a container, and the time when it last terminated.
fn restarted(status: &Value) -> (i64, Option<Timestamp>) {
    let ended = text(status, &["lastState", "terminated", "finishedAt"]).parse().ok();
    (count(status, &["restartCount"]), ended)
}

fn ending(terminated: &Value) -> String {
    let (reason, signal) = (text(terminated, &["reason"]), count(terminated, &["signal"]));
    match (reason, signal) {
        ("", 0) => format!("ExitCode:{}", count(terminated, &["exitCode"])),
        ("", signal) => format!("Signal:{signal}"),
        _ => reason.to_owned(),
    }
}
