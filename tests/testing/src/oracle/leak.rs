//! Reports objects that still exist after the deletion of the samples.

use serde_json::Value;

use super::case::Case;
use crate::{
    object::{finalizers, is_same_object, text},
    report::Finding,
    schedule::Propagation,
    snapshot::Entry,
};

/// Returns a finding about the objects that should be gone; `None` if there are none, or if the run did not get to the
/// deletion.
pub(crate) fn leaked_objects(case: &Case<'_>) -> Option<Finding> {
    let after_delete = case.outcome.after_delete.as_ref()?;
    let samples = &case.target.manifests.samples;
    let may_stay = |entry: &Entry| {
        let is_sample = samples.iter().any(|sample| is_same_object(sample, &entry.raw));
        entry.may_stay() || case.schedule.propagation == Propagation::Orphan && !is_sample
    };
    let objects = after_delete.objects.iter().filter(|(_, entry)| !may_stay(entry)).map(|(key, _)| key);
    let leaked: Vec<&String> = objects.collect();
    if leaked.is_empty() {
        return None;
    }
    let stuck = samples.iter().filter_map(|sample| after_delete.find(sample)).find_map(|object| {
        let finalizers: Vec<&str> = finalizers(object).collect();
        let (kind, name) = (text(object, "/kind"), text(object, "/metadata/name"));
        let is_stuck = !finalizers.is_empty();
        is_stuck.then(|| format!("{kind} {name} still exists with the finalizers {}", Value::from(finalizers)))
    });
    let (problem, hint) = match stuck {
        Some(stuck) => (
            format!("the deletion does not finish: {stuck}"),
            "check what its teardown waits for; remove the finalizer as soon as the children are gone",
        ),
        None => (
            format!("{} objects are left after the deletion", leaked.len()),
            "give each child an owner reference, or delete it in the teardown and store the finalizer before the first create",
        ),
    };
    Some(case.finding(problem, hint, leaked.into_iter().map(|key| format!("+ {key}")).collect()))
}
