//! Reports children that are lost, or keep references to their owner, after a deletion with the propagation policy `Orphan`.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{baseline::Baseline, case::Case};
use crate::{
    object::{NODE, cluster_of, is_cluster_record, owner_references, text},
    path::object_path,
    report::Finding,
    snapshot::Snapshot,
    target::Target,
};

/// The annotations by which an opgen operator marks its children.
const OWNER_MARKS: [&str; 3] = [NODE, "opgen.dev/applied", "opgen.dev/owner"];

/// Returns a finding about the children after a deletion of the samples with the propagation policy `Orphan`: children that are gone, or
/// else children that still name a deleted sample as their owner. `None` if there are none.
pub(super) fn orphaned_children(case: &Case<'_>, baseline: &Baseline) -> Option<Finding> {
    let after_delete = case.outcome.after_delete.as_ref()?;
    let lost = lost_children(case, baseline, after_delete);
    if !lost.is_empty() {
        let problem = "objects were deleted by a deletion with `propagationPolicy: Orphan`".to_owned();
        let hint = "after a deletion with `propagationPolicy: Orphan`, keep the children and remove only the finalizer; remember the policy, since the finalizer `orphan` may be gone before";
        return Some(case.finding(problem, hint, lost.into_iter().map(|path| format!("- {path}")).collect()));
    }
    // A child in another cluster keeps the annotations that name its owner: `Orphan` applies to the cluster of the owner only.
    let here = after_delete.objects.iter().filter(|(_, entry)| cluster_of(&entry.raw).is_none());
    let owned = here.filter(|(_, entry)| names_a_sample(case.target, &entry.raw));
    let lines: Vec<String> = owned.map(|(key, _)| format!("+ {key}")).collect();
    let problem =
        "objects still reference their deleted owner after a deletion with `propagationPolicy: Orphan`".to_owned();
    let hint = "remove the owner references and marks of each child before the finalizer; otherwise the child is garbage collected";
    (!lines.is_empty()).then(|| case.finding(problem, hint, lines))
}

/// Returns the paths of the children that the run created and that no longer exist, although the program keeps them in an undisturbed run.
fn lost_children(case: &Case<'_>, baseline: &Baseline, after_delete: &Snapshot) -> BTreeSet<String> {
    let (name, manifests, outcome) = (&case.target.name, &case.target.manifests, case.outcome);
    let path = |object: &Value| object_path(object, &manifests.install);
    // An apply that creates an object has the name of the object in its path.
    let creations = outcome.timeline.calls().filter(|call| call.method == "PATCH" && call.code == Some(201));
    let mut created: BTreeSet<String> = creations.map(|call| call.path().to_owned()).collect();
    if case.schedule.delete_at.is_none() {
        let children = outcome.after_create.iter().flat_map(|snapshot| snapshot.children(name, &manifests.samples));
        created.extend(children.map(|entry| path(&entry.raw)));
    }
    // The records of other clusters, ConfigMaps that name the Secret of a kubeconfig, are deleted with their owner also in this case.
    let snapshots = outcome.after_create.iter().chain([&baseline.after_create]);
    let records =
        snapshots.flat_map(|snapshot| snapshot.objects.values()).filter(|entry| is_cluster_record(&entry.raw));
    for record in records {
        created.remove(&path(&record.raw));
    }
    let existing: BTreeSet<String> = after_delete.objects.values().map(|entry| path(&entry.raw)).collect();
    let samples: BTreeSet<String> = manifests.samples.iter().map(path).collect();
    // The baseline has neither events and leases, nor the objects that the program deletes for other reasons.
    let stays = |created: &String| baseline.after_create.objects.values().any(|entry| path(&entry.raw) == *created);
    created.retain(|path| stays(path) && !existing.contains(path) && !samples.contains(path));
    created
}

/// Returns whether an object still belongs to a sample: an owner reference names one, or the object has an annotation by which an opgen
/// operator marks its children.
fn names_a_sample(target: &Target, object: &Value) -> bool {
    let is_sample = |owner: &Value| {
        let mut samples = target.manifests.samples.iter();
        samples.any(|sample| sample["kind"] == owner["kind"] && text(sample, "/metadata/name") == text(owner, "/name"))
    };
    // Controllers such as that of Deployments copy annotations to the objects that they own, so these don't count.
    let has_other_controller = owner_references(object).any(|owner| owner["controller"] == true && !is_sample(owner));
    let mut annotations = object["metadata"]["annotations"].as_object().into_iter().flatten().map(|(key, _)| key);
    owner_references(object).any(is_sample)
        || !has_other_controller && annotations.any(|key| OWNER_MARKS.contains(&key.as_str()))
}
