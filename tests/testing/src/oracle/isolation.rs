//! Checks that a sample object and a second object of its kind don't share, change or delete each other's children.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{baseline::Baseline, case::Case};
use crate::{
    diff::diff,
    object::{conditions, is_same_object, label_with_node},
    report::Finding,
    snapshot::Snapshot,
    target::Target,
};

/// Returns a finding about the first violation of isolation between a sample and a second object of its kind: both want the same children,
/// the second object changes children of the first, or the deletion of one affects the children of the other. In a schedule with an even
/// case number, the second object was deleted, and the children of the first must not change; with an odd number, the first was deleted,
/// and no child of the second may be missing. `None` if there is no violation.
pub(super) fn violation(case: &Case<'_>, baseline: &Baseline) -> Option<Finding> {
    let number = case.schedule.second_object?;
    let (target, outcome) = (case.target, case.outcome);
    let created = outcome.after_create.as_ref()?;
    let (with_second, after) = (outcome.with_second.as_ref()?, outcome.after_recovery.as_ref()?);
    let first_children = |snapshot: &Snapshot| {
        let mut children = snapshot.desired(&target.name);
        let is_sample = |object: &Value| target.manifests.samples.iter().any(|sample| is_same_object(sample, object));
        children.objects.retain(|key, entry| created.objects.contains_key(key) && !is_sample(&entry.raw));
        children
    };
    let mismatch = |problem: &str, actual: &Snapshot| {
        let lines = diff(&first_children(created), &first_children(actual), &baseline.noise);
        (!lines.is_empty()).then(|| case.mismatch(problem, lines))
    };
    if let Some(finding) = name_conflict(case, created, with_second) {
        return Some(finding);
    }
    if let Some(finding) = mismatch("a second object changes the children of the first", with_second) {
        return Some(finding);
    }
    if number.is_multiple_of(2) {
        return mismatch("the deletion of a second object changes the children of the first", after);
    }
    let lines = missing_children(&children_by_kind(target, created), &children_by_kind(target, after));
    let problem = "the deletion of an object deletes children of a second object";
    (!lines.is_empty()).then(|| case.mismatch(problem, lines))
}

/// Returns a finding about a second object that can't create its children because the first object owns objects of the same names: a
/// condition of the second one has the reason `NotOwned`. `None` if there is no such object.
fn name_conflict(case: &Case<'_>, created: &Snapshot, with_second: &Snapshot) -> Option<Finding> {
    let mut new = with_second.objects.iter().filter(|(key, _)| !created.objects.contains_key(*key));
    let (object, message) = new.find_map(|(_, entry)| {
        let condition = conditions(&entry.raw).find(|condition| condition["reason"] == "NotOwned")?;
        Some((&entry.raw, condition["message"].as_str().unwrap_or_default()))
    })?;
    let problem = format!("{} can't create its children: {message}", label_with_node(object));
    let hint = "give each child a name that is unique to its owner";
    Some(case.finding(problem, hint, Vec::new()))
}

/// Counts the children of a program by kind.
fn children_by_kind(target: &Target, snapshot: &Snapshot) -> BTreeMap<String, usize> {
    let mut kinds = BTreeMap::new();
    for child in snapshot.children(&target.name, &target.manifests.samples) {
        *kinds.entry(child.raw["kind"].as_str().unwrap_or_default().to_owned()).or_default() += 1;
    }
    kinds
}

/// Returns a line for each kind that has fewer children than expected; the maps have the number of children by kind.
fn missing_children(expected: &BTreeMap<String, usize>, actual: &BTreeMap<String, usize>) -> Vec<String> {
    let count = |kind: &String| actual.get(kind).copied().unwrap_or_default();
    let fewer = expected.iter().filter(|(kind, expected)| count(kind) < **expected);
    fewer.map(|(kind, expected)| format!("- {kind}: {} of {expected}", count(kind))).collect()
}
