//! Deletes the sample objects while finalizers of other clients block the deletion of children, then removes those finalizers.

use serde_json::Value;

use crate::{
    admin,
    object::{finalizers, label_with_node, text},
    schedule::Propagation,
    simulation::{Cluster, Failure},
    snapshot::FOREIGN_FINALIZER,
};

/// How often the removal of a finalizer is tried while the program changes the other finalizers.
const MAX_ATTEMPTS: u32 = 10;

/// Puts a finalizer of another client on all children if `child_number` is 0, otherwise on the child of that number alone; the samples
/// already have one. Then deletes the samples, waits until the program is idle, checks the finalizers, and removes the ones of the other
/// client.
///
/// # Errors
/// If the program removed a finalizer of the other client, or its own finalizer of a sample while a child still exists.
pub(super) async fn run(cluster: &mut Cluster<'_>, child_number: usize) -> Result<(), Failure> {
    let (name, manifests) = (&cluster.target.name, &cluster.target.manifests);
    let snapshot = cluster.snapshot();
    let children = snapshot.children(name, &manifests.samples).zip(1..);
    let children: Vec<&Value> = children
        .filter(|(_, number)| child_number == 0 || child_number == *number)
        .map(|(entry, _)| &entry.raw)
        .collect();
    for child in &children {
        let added = admin::add_finalizer(&cluster.server_of(child), child, &manifests.install, FOREIGN_FINALIZER).await;
        added.map_err(|error| Failure::setup("failed to add a finalizer", error))?;
    }
    cluster.rest("another client added finalizers").await?;
    cluster.delete(&manifests.samples, Propagation::Background).await?;
    // The program may poll while it waits.
    let limit = cluster.target.pause * 10;
    cluster.rests_within(limit, "the samples were deleted while another client holds them").await?;
    check_finalizers(cluster)?;
    for object in children.into_iter().chain(&manifests.samples) {
        remove_finalizer(cluster, object).await?;
    }
    Ok(())
}

/// Checks that all samples still have the finalizer of another client, and that the program keeps its own finalizer while a child without
/// owner references exists, which the garbage collector does not delete.
///
/// # Errors
/// If the finalizer of another client is gone, or if the program removed its own one while such a child exists.
fn check_finalizers(cluster: &Cluster<'_>) -> Result<(), Failure> {
    let (name, samples) = (&cluster.target.name, &cluster.target.manifests.samples);
    let snapshot = cluster.snapshot();
    // The first sample without the program's finalizer, and whether another sample still has it.
    let (mut released, mut waits) = (None, false);
    for sample in samples {
        let label = format!("{} {}", text(sample, "/kind"), text(sample, "/metadata/name"));
        let Some(object) = snapshot.find(sample) else { return Err(Failure::LostFinalizer(label)) };
        let count = finalizers(object).count();
        if !finalizers(object).any(|finalizer| finalizer == FOREIGN_FINALIZER) {
            return Err(Failure::LostFinalizer(label));
        }
        waits |= count > 1;
        if count == 1 {
            released.get_or_insert(label);
        }
    }
    // A child without owner references may belong to any sample: a sample that still has the program's finalizer may wait for it.
    let mut remaining = snapshot.children(name, samples).filter(|entry| entry.is_unowned() && !entry.may_stay());
    if let (Some(sample), Some(child), false) = (released, remaining.next(), waits) {
        let child = label_with_node(&child.raw);
        return Err(Failure::EarlyRelease(format!(
            "the finalizer of {sample} was removed while {child} still existed"
        )));
    }
    Ok(())
}

/// Removes the finalizer of another client from an object, and does nothing if the object no longer exists.
async fn remove_finalizer(cluster: &Cluster<'_>, object: &Value) -> Result<(), Failure> {
    let (server, installed) = (cluster.server_of(object), &cluster.target.manifests.install);
    let mut attempts = 0;
    loop {
        attempts += 1;
        let snapshot = cluster.snapshot();
        let Some(current) = snapshot.find(object) else { return Ok(()) };
        let others: Vec<&str> = finalizers(current).filter(|finalizer| *finalizer != FOREIGN_FINALIZER).collect();
        match admin::set_finalizers(&server, object, installed, &others).await {
            // The program has removed a finalizer since the snapshot, so the list would add it again, which the server rejects for an
            // object that is being deleted.
            Err(error) if error.code == 422 && attempts < MAX_ATTEMPTS => {}
            removed => return removed.map_err(|error| Failure::setup("failed to remove a finalizer", error)),
        }
    }
}
