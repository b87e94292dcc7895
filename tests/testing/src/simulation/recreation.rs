//! Finds objects that the program deleted and created again although their desired state required no deletion.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::{
    admin,
    api_server::ApiServer,
    object::{label_with_node, owner_references, remove_cluster, text, uid},
    path::object_path,
    snapshot::Snapshot,
    target::Target,
};

/// Kinds whose data is lost when the object is deleted.
const KINDS_WITH_DATA: [&str; 4] =
    ["PersistentVolumeClaim", "PersistentVolume", "Namespace", "CustomResourceDefinition"];

/// An object that was deleted and created again: its UID changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Recreation {
    /// The kind, namespace and name of the object, and the tree node that applied it.
    pub(crate) object: String,
    /// The phase of the run, such as "the samples were changed".
    pub(crate) phase: &'static str,
    /// Whether the data of the object is lost.
    pub(crate) lost_data: bool,
}

/// Returns the children that the program deleted and created again between two snapshots: their UIDs differ. Leaves out the object that
/// another client `deleted`, dependents of deleted objects, and objects without data whose change the server does not allow as an update.
pub(crate) async fn recreations(
    server_of: impl Fn(&Value) -> ApiServer,
    target: &Target,
    (before, now): (&Snapshot, &Snapshot),
    deleted: Option<&Value>,
    phase: &'static str,
) -> Vec<Recreation> {
    let deleted_uids = deleted_uids(before, now, deleted);
    let mut recreations = Vec::new();
    for child in before.children(&target.name, &target.manifests.samples) {
        let old = &child.raw;
        // The object of the same name with another UID, if the old one is gone.
        let Some(new) = now.find(old).filter(|new| deleted_uids.contains(uid(old)) && uid(new) != uid(old)) else {
            continue;
        };
        // Such an object was deleted by the garbage collector or another client, and not by the program.
        if is_owned_by(old, &deleted_uids) || deleted.is_some_and(|deleted| uid(deleted) == uid(old)) {
            continue;
        }
        let lost_data = KINDS_WITH_DATA.contains(&text(old, "/kind"));
        if lost_data || is_update_allowed(&server_of(old), target, old, new).await {
            recreations.push(Recreation { object: label_with_node(old), phase, lost_data });
        }
    }
    recreations
}

/// Returns whether the server would have allowed an update instead of a recreation: a dry run replaces the new object by the old one, and
/// fails if an immutable field differs. Always `true` for an object in a bucket, which has neither dry runs nor immutable fields.
async fn is_update_allowed(server: &ApiServer, target: &Target, old: &Value, new: &Value) -> bool {
    let path = object_path(new, &target.manifests.install);
    if server.is_in_bucket(&path) {
        return true;
    }
    let mut object = old.clone();
    if let Some(metadata) = object["metadata"].as_object_mut() {
        metadata.remove("managedFields");
        metadata.remove("creationTimestamp");
    }
    remove_cluster(&mut object);
    for field in ["uid", "resourceVersion"] {
        object["metadata"][field] = new["metadata"][field].clone();
    }
    admin::replace_dry_run(server, &path, &object).await.is_ok()
}

/// Returns the UIDs of the objects that only the snapshot `before` has, and of the object that another client `deleted`.
fn deleted_uids<'a>(before: &'a Snapshot, now: &Snapshot, deleted: Option<&'a Value>) -> BTreeSet<&'a str> {
    let existing: BTreeSet<&str> = now.objects.values().map(|entry| uid(&entry.raw)).collect();
    let all = before.objects.values().map(|entry| uid(&entry.raw));
    all.filter(|uid| !existing.contains(uid)).chain(deleted.map(uid)).collect()
}

/// Returns whether an owner reference of an object has one of these UIDs.
fn is_owned_by(object: &Value, uids: &BTreeSet<&str>) -> bool {
    owner_references(object).filter_map(|owner| owner["uid"].as_str()).any(|uid| uids.contains(uid))
}
