//! `EditFailures`: failures that persist after an edit of the sample objects, such as rejected writes, failing reconciles and stale
//! statuses.

use opgen_sandbox::fault::{ObservedPass, PassPhase, Timeline, TimelineEvent};
use serde_json::Value;

use super::write_log::{RepeatedWrite, WriteLog};
use crate::{
    object::{conditions, group, is_observed, is_waiting, text},
    path::plural,
    snapshot::Snapshot,
    target::Target,
};

/// The prefix of the outcome of a pass that failed and is retried.
const FAILED_PREFIX: &str = "failed";

/// Condition reasons of failures that another client can resolve.
const BLOCKED_REASONS: [&str; 4] = ["NotOwned", "Forbidden", "NamespaceTerminating", "NamespaceNotFound"];

/// The failures at the end of a phase in which the samples were edited.
#[derive(Clone, Debug, Default)]
pub(crate) struct EditFailures {
    /// The invalid and the futile writes of the operator, by the last response to each.
    pub(crate) rejected: Vec<RepeatedWrite>,
    /// The samples whose last pass failed, each with the message of its condition.
    pub(crate) failing: Vec<String>,
    /// The samples whose status is that of an older generation.
    pub(crate) stale: Vec<StaleStatus>,
}

/// An object whose `observedGeneration` is not its generation.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct StaleStatus {
    /// The object.
    pub(crate) object: Value,
    /// The message of a finding, unless the object waits for another one.
    pub(crate) problem: String,
}

impl EditFailures {
    /// Adds the failures at the end of a phase in which the samples were edited: rejected writes, samples whose last pass failed, and stale
    /// statuses.
    ///
    /// [Futile](RepeatedWrite::is_futile) writes, such as forbidden ones, count only while the operator still writes and no sample
    /// reports that it is not ready: otherwise another client may resolve them.
    pub(super) fn record(
        &mut self,
        target: &Target,
        log: &WriteLog,
        timeline: &Timeline,
        now: &Snapshot,
        is_at_rest: bool,
    ) {
        let user = format!("system:serviceaccount:{}:{}", target.namespace, target.name);
        let samples = &target.manifests.samples;
        let is_any_waiting = samples.iter().filter_map(|sample| now.find(sample)).any(is_waiting);
        let counts_as_futile = |write: &RepeatedWrite| !is_at_rest && !is_any_waiting && write.is_futile();
        let writes = log.current_phase().into_iter().filter(|write| write.user == user);
        self.rejected.extend(writes.filter(|write| write.is_invalid() || counts_as_futile(write)));
        for sample in samples {
            let Some(object) = now.find(sample) else { continue };
            let (kind, name) = (text(object, "/kind"), text(object, "/metadata/name"));
            let condition = ready_condition(object);
            // Another client can resolve some failures, so the program has to retry them.
            if last_pass_failed(target, timeline, sample)
                && !BLOCKED_REASONS.iter().any(|reason| condition.starts_with(reason))
            {
                self.failing.push(format!("the pass over {kind} {name} fails and is retried forever: {condition}"));
            }
            if is_observed(object) == Some(false) {
                let (generation, observed) =
                    (&object["metadata"]["generation"], &object["status"]["observedGeneration"]);
                let problem = format!(
                    "{kind} {name} has generation {generation}, but its status has observedGeneration {observed}"
                );
                self.stale.push(StaleStatus { object: object.clone(), problem });
            }
        }
    }
}

/// Returns whether the last complete reconcile pass over a sample in the current phase failed. A phase begins with a `Note` in the
/// timeline. Returns `false` for a program that does not report its passes.
fn last_pass_failed(target: &Target, timeline: &Timeline, sample: &Value) -> bool {
    let phase = timeline.entries.iter().rev().take_while(|entry| !matches!(entry.event, TimelineEvent::Note { .. }));
    let mut passes = phase.filter_map(|entry| match &entry.event {
        TimelineEvent::Pass(pass) if is_pass_of(target, pass, sample) => Some(&pass.part),
        _ => None,
    });
    passes.find_map(pass_outcome).is_some_and(|outcome| outcome.starts_with(FAILED_PREFIX))
}

/// Returns whether a reconcile pass in the timeline is one over a sample.
fn is_pass_of(target: &Target, pass: &ObservedPass, sample: &Value) -> bool {
    let (plural, group) = (plural(sample, &target.manifests.install), group(sample));
    let resource = if group.is_empty() { plural } else { format!("{plural}.{group}") };
    let name = (text(sample, "/metadata/namespace"), text(sample, "/metadata/name"));
    pass.resource == resource && (pass.namespace.as_str(), pass.name.as_str()) == name
}

/// Returns the outcome of a pass that has ended; `None` for its other phases.
fn pass_outcome(part: &PassPhase) -> Option<&str> {
    match part {
        PassPhase::End { outcome } | PassPhase::Whole { outcome } => Some(outcome),
        _ => None,
    }
}

/// Returns the reason and the message of an object's `Ready` or `Available` condition.
fn ready_condition(object: &Value) -> String {
    let mut conditions = conditions(object);
    let ready = conditions.find(|condition| matches!(condition["type"].as_str(), Some("Ready" | "Available")));
    let ready = ready.cloned().unwrap_or_default();
    format!("{}: {}", text(&ready, "/reason"), text(&ready, "/message"))
}
