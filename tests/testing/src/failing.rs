//! Tells an object that waits from one whose passes fail for ever, or whose status never speaks of its latest spec.

use opgen_sandbox::fault::{Happening, PassPart, PassSeen};
use serde_json::Value;

use crate::{
    install,
    life::{Lived, World, text},
    state::{State, is_waiting},
    writes::Write,
};

/// An object whose status speaks of an earlier generation of it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Lagging {
    /// As it is.
    pub(crate) object: Value,
    /// What is wrong with that, if nothing explains it.
    pub(crate) what: String,
}

/// Whether the status of an object speaks of its generation; `None` if it speaks of none.
pub(crate) fn is_observed(object: &Value) -> Option<bool> {
    let observed = &object["status"]["observedGeneration"];
    (!observed.is_null()).then(|| *observed == object["metadata"]["generation"])
}

/// How the outcome of a pass begins that failed and is tried again.
const FAILED: &str = "failed";

/// Reasons of a failure that somebody else can end.
const BLOCKED: [&str; 4] = ["NotOwned", "Forbidden", "NamespaceTerminating", "NamespaceNotFound"];

impl World<'_> {
    /// Notes what the server refuses of a phase that is over, and which samples nobody brings any further. What may be tried
    /// again is noted where the program still does that at the end, as it does not `rest`, and no sample says so.
    pub(crate) fn note_failures(&self, state: &State, rests: bool, lived: &mut Lived) {
        let user = format!("system:serviceaccount:{}:{}", self.prepared.namespace, self.prepared.name);
        let samples = self.prepared.manifests.samples.iter();
        let says_so = samples.filter_map(|sample| state.sample(sample)).any(is_waiting);
        let is_in_vain = |write: &Write| !rests && !says_so && write.is_in_vain();
        let writes = self.writes.of_phase().into_iter().filter(|write| write.user == user);
        lived.refused.extend(writes.filter(|write| write.is_refused() || is_in_vain(write)));
        for sample in &self.prepared.manifests.samples {
            let Some(now) = state.sample(sample) else { continue };
            let (kind, name) = (text(now, "/kind"), text(now, "/metadata/name"));
            let (condition, generation) = (said(now), &now["metadata"]["generation"]);
            if self.last_pass_failed(sample) && !BLOCKED.iter().any(|reason| condition.starts_with(reason)) {
                lived.failing.push(format!("the pass over {kind} {name} fails and is repeated for ever: {condition}"));
            }
            if is_observed(now) == Some(false) {
                let observed = &now["status"]["observedGeneration"];
                let what = format!(
                    "{kind} {name} has generation {generation}, and its status still speaks of generation {observed}"
                );
                lived.lagging.push(Lagging { object: now.clone(), what });
            }
        }
    }

    /// Whether the last pass over an object in this phase failed, where the program tells of its passes.
    fn last_pass_failed(&self, sample: &Value) -> bool {
        let timeline = self.faults.timeline();
        let of_phase =
            timeline.moments.iter().rev().take_while(|moment| !matches!(moment.what, Happening::Note { .. }));
        let mut passes = of_phase.filter_map(|moment| match &moment.what {
            Happening::Pass(pass) if self.is_over(pass, sample) => Some(&pass.part),
            _ => None,
        });
        passes.find_map(outcome).is_some_and(|outcome| outcome.starts_with(FAILED))
    }

    fn is_over(&self, pass: &PassSeen, sample: &Value) -> bool {
        let plural = install::plural(sample, &self.prepared.manifests.install);
        let group = text(sample, "/apiVersion").split_once('/').map_or("", |(group, _)| group);
        let resource = if group.is_empty() { plural } else { format!("{plural}.{group}") };
        let place = (text(sample, "/metadata/namespace"), text(sample, "/metadata/name"));
        pass.resource == resource && (pass.namespace.as_str(), pass.name.as_str()) == place
    }
}

fn outcome(part: &PassPart) -> Option<&str> {
    match part {
        PassPart::End { outcome } | PassPart::Whole { outcome } => Some(outcome),
        _ => None,
    }
}

/// What an object says of its failure.
fn said(object: &Value) -> String {
    let mut conditions = object["status"]["conditions"].as_array().into_iter().flatten();
    let ready = conditions.find(|condition| matches!(condition["type"].as_str(), Some("Ready" | "Available")));
    let ready = ready.cloned().unwrap_or_default();
    format!("{}: {}", text(&ready, "/reason"), text(&ready, "/message"))
}
