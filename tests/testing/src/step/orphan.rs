//! What a deletion with the propagation policy `Orphan` must leave: everything but the samples, and nothing that names them.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Reference, judge::finding};
use crate::{
    course::Course,
    install,
    life::{Lived, text},
    prepared::Prepared,
    report::{Check, Finding},
    state::State,
};

/// The annotations of an operator of opgen, which say whose an object is.
const MARKS: [&str; 3] = ["opgen.dev/node", "opgen.dev/applied", "opgen.dev/owner"];

/// What is gone that should have stayed, or still names its owner.
pub(super) fn orphaned(
    check: Check,
    prepared: &Prepared,
    reference: &Reference,
    course: &Course,
    lived: &Lived,
) -> Option<Finding> {
    let left = lived.left.as_ref()?;
    let found = |problem: &str, hint: &str, lines: Vec<String>| {
        (!lines.is_empty()).then(|| finding(check, problem.to_owned(), hint, course, lines, &lived.timeline))
    };
    let lost = lost(prepared, reference, course, lived, left);
    let deleted = found(
        "objects are gone although the deletion was to orphan them",
        "remove only the finalizer where the object is deleted with `propagationPolicy: Orphan`; remember it: the garbage collector removes its finalizer `orphan` without waiting for others",
        lost.into_iter().map(|path| format!("- {path}")).collect(),
    );
    let named = left.objects.iter().filter(|(_, kept)| names_a_sample(prepared, &kept.origin));
    deleted.or_else(|| {
        found(
            "objects still name an owner that is gone, after a deletion that was to orphan them",
            "remove owner references and marks from each child before the finalizer: what names an owner that is gone is collected",
            named.map(|(key, _)| format!("+ {key}")).collect(),
        )
    })
}

/// The paths of what was made, or was there when all was deleted, and is not there any more.
fn lost(prepared: &Prepared, reference: &Reference, course: &Course, lived: &Lived, left: &State) -> BTreeSet<String> {
    let (name, manifests) = (&prepared.name, &prepared.manifests);
    let path = |object: &Value| install::place(object, &manifests.install);
    // An apply that makes an object has its name in its path.
    let made = lived.timeline.calls().filter(|call| call.method == "PATCH" && call.code == Some(201));
    let mut made: BTreeSet<String> = made.map(|call| call.path().to_owned()).collect();
    if course.delete_at.is_none() {
        made.extend(
            lived.made.iter().flat_map(|made| made.children(name, &manifests.samples)).map(|kept| path(&kept.origin)),
        );
    }
    // Events and leases tell what happened; and what is deleted without a deletion of the samples has its reasons.
    let stays = |made: &String| reference.made.objects.values().any(|kept| path(&kept.origin) == *made);
    let there: BTreeSet<String> = left.objects.values().map(|kept| path(&kept.origin)).collect();
    let samples: BTreeSet<String> = manifests.samples.iter().map(path).collect();
    made.retain(|made| stays(made) && !there.contains(made) && !samples.contains(made));
    made
}

fn names_a_sample(prepared: &Prepared, object: &Value) -> bool {
    let metadata = &object["metadata"];
    let owners = metadata["ownerReferences"].as_array().into_iter().flatten();
    let is_sample = |owner: &Value| {
        let mut samples = prepared.manifests.samples.iter();
        samples.any(|sample| sample["kind"] == owner["kind"] && text(sample, "/metadata/name") == text(owner, "/name"))
    };
    // A Deployment's controller copies annotations to ReplicaSets, for example: what another object controls is not the operator's.
    let mut owned = metadata["ownerReferences"].as_array().into_iter().flatten();
    let is_controlled = owned.any(|owner| owner["controller"] == true && !is_sample(owner));
    let mut marks = metadata["annotations"].as_object().into_iter().flatten().map(|(mark, _)| mark);
    owners.into_iter().any(is_sample) || !is_controlled && marks.any(|mark| MARKS.contains(&mark.as_str()))
}
