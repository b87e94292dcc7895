//! Reports problems with samples in buckets (key-value stores): a removed sample that is back, objects that remain after the removal, and
//! children lost while entries had invalid values.

use super::{baseline::Baseline, case::Case};
use crate::{diff::diff, object::is_same_object, report::Finding, snapshot::Snapshot, stored_kind::StoredKind};

/// Returns a finding about the samples that exist again although another client has removed them from their buckets, the key-value stores
/// in which they are kept; `None` if there are none.
pub(super) fn undone_removal(case: &Case<'_>) -> Option<Finding> {
    let samples = &case.outcome.undone_removals;
    let problem = format!("{} still exists after another client removed it from its bucket", samples.first()?);
    let hint =
        "write an entry only on the condition of the revision that was read, and create one only for a new object";
    Some(case.finding(problem, hint, samples.iter().map(|sample| format!("+ {sample}")).collect()))
}

/// Returns a finding about the objects and bucket entries that are left after another client deleted or purged all samples in their
/// buckets; `None` if nothing is left, or if a sample is in Kubernetes, which a client of buckets does not delete.
pub(super) fn remaining_objects(case: &Case<'_>) -> Option<Finding> {
    let without_samples = case.outcome.without_samples.as_ref()?;
    let manifests = &case.target.manifests;
    let kinds = StoredKind::all(&manifests.install);
    if !manifests.samples.iter().all(|sample| kinds.iter().any(|kind| kind.is_kind_of(sample))) {
        return None;
    }
    let objects = without_samples.objects.iter().filter(|(_, entry)| !entry.may_stay());
    let lines: Vec<String> = objects.map(|(key, _)| format!("+ {key}")).collect();
    let problem =
        format!("{} objects are left after another client removed the samples from their buckets", lines.len());
    let hint = "store a claim of each object before its children, and find the claims without an object at each start: a deletion leaves nothing behind in a bucket";
    (!lines.is_empty()).then(|| case.finding(problem, hint, lines))
}

/// Returns a finding about the children that are lost or changed while the bucket entries of the samples have invalid values, which another
/// client has put: the program must keep the children until the entries are deleted. `None` if all are as in the undisturbed run.
pub(super) fn lost_children(case: &Case<'_>, baseline: &Baseline) -> Option<Finding> {
    let while_invalid = case.outcome.while_invalid.as_ref()?;
    let samples = &case.target.manifests.samples;
    let children = |snapshot: &Snapshot| {
        let mut children = snapshot.desired(&case.target.name);
        children.objects.retain(|_, entry| !samples.iter().any(|sample| is_same_object(sample, &entry.raw)));
        children
    };
    let lines = diff(&children(&baseline.after_create), &children(while_invalid), &baseline.noise);
    let problem = "children are lost while the entry of their owner is no object".to_owned();
    let hint = "keep the last valid object of an entry until the entry is deleted: an invalid value is a mistake of another client, and no deletion";
    (!lines.is_empty()).then(|| case.finding(problem, hint, lines))
}
