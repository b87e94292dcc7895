//! `Case`: a finished test run with its check, schedule and outcome, from which the oracles build findings.

use serde_json::Value;

use super::hint;
use crate::{
    check::Check,
    object::{is_waiting, label},
    report::Finding,
    schedule::Schedule,
    simulation::Outcome,
    snapshot::Snapshot,
    target::Target,
};

/// A finished run: its check, program, schedule and outcome.
#[derive(Clone, Copy)]
pub(crate) struct Case<'a> {
    pub(crate) check: Check,
    pub(crate) target: &'a Target,
    pub(crate) schedule: &'a Schedule,
    pub(crate) outcome: &'a Outcome,
}

impl Case<'_> {
    /// Returns a finding about the run.
    pub(super) fn finding(&self, problem: String, hint: &str, difference: Vec<String>) -> Finding {
        Finding {
            check: self.check,
            problem,
            hint: hint.to_owned(),
            schedule: self.schedule.to_string(),
            difference,
            timeline: self.outcome.timeline.clone(),
        }
    }

    /// Returns a finding about a difference, with the hint that fits the check and the lines.
    pub(super) fn mismatch(&self, problem: &str, lines: Vec<String>) -> Finding {
        let hint = hint::of_mismatch(self.check, self.schedule, &lines);
        self.finding(problem.to_owned(), hint, lines)
    }

    /// Returns a list of the samples that the schedule edits, for a message; of all samples if it edits none.
    pub(super) fn edited_samples(&self) -> String {
        let (schedule, samples) = (self.schedule, &self.target.manifests.samples);
        let variant = schedule.edit.or(schedule.initial_variant).or(schedule.change.map(|(_, variant)| variant));
        let variant = variant.and_then(|variant| self.target.variants.get(variant)).unwrap_or(samples);
        let pairs = samples.iter().zip(variant);
        let edited: Vec<&Value> =
            pairs.filter(|(sample, edited)| sample["spec"] != edited["spec"]).map(|(sample, _)| sample).collect();
        let listed = if edited.is_empty() { samples.iter().collect() } else { edited };
        listed.into_iter().map(label).collect::<Vec<_>>().join(", ")
    }

    /// Returns whether a sample waits for another object both in `fresh`, a run that created it with the edited spec, and in `edited`. Such
    /// states are not compared, since an edited object keeps the children of its earlier spec while it waits.
    pub(super) fn both_wait(&self, fresh: &Snapshot, edited: &Snapshot) -> bool {
        let samples = &self.target.manifests.samples;
        let waits = |snapshot: &Snapshot| samples.iter().filter_map(|sample| snapshot.find(sample)).any(is_waiting);
        waits(fresh) && waits(edited)
    }
}
