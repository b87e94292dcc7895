//! Implements `OwnerReferencesPermissionEnforcement`: checks the permissions to set owner references and
//! `blockOwnerDeletion`.
//!
//! A user who changes the owner references of an existing object needs the permission to delete it. A user who sets
//! `blockOwnerDeletion` needs the permission to update the finalizers of the owner. The messages end with the reason
//! and the error of the authorizer; in this server both are empty.

use serde_json::Value;

use crate::{
    admission::{Operation, Review, authorizer, expression::AccessCheck},
    failure::Failure,
    object::{self, Owner},
};

/// Rejects a change of owner references for which the user lacks permissions: to delete the object, or to update the finalizers of an owner
/// whose deletion the object newly blocks. Does nothing unless the server enables this plugin.
pub(crate) fn validate(review: &Review<'_>) -> Result<(), Failure> {
    let request = review.request;
    let is_write = matches!(review.operation, Operation::Create | Operation::Update);
    // The kubelet's status writes of Pods don't change owner references.
    let is_pod_status = request.kind.is("", "pods") && request.subresource == Some("status");
    if !request.server.options.owner_permissions || !is_write || is_pod_status {
        return Ok(());
    }
    let owners = |object: &Value| object::owners(object);
    let (new, old) = (owners(&review.object), review.old.as_ref().map(owners).unwrap_or_default());
    if new == old {
        return Ok(());
    }
    if review.operation == Operation::Update && !may_delete(review) {
        return Err(review.forbidden("cannot set an ownerRef on a resource you can't delete: , <nil>"));
    }
    let is_newly_blocking = |owner: &&Owner| !old.iter().any(|old| old.uid == owner.uid && old.blocks_deletion);
    for owner in new.iter().filter(|owner| owner.blocks_deletion).filter(is_newly_blocking) {
        check_owner(review, owner)?;
    }
    Ok(())
}

/// Returns whether the user may delete the object.
fn may_delete(review: &Review<'_>) -> bool {
    let request = review.request;
    let check = AccessCheck {
        group: request.kind.group.clone(),
        resource: request.kind.plural.clone(),
        namespace: request.namespace.to_owned(),
        name: request.name.to_owned(),
        verb: "delete".into(),
        ..AccessCheck::default()
    };
    authorizer::allows(review, &check)
}

/// Fails unless the user may update the finalizers of an owner, or if the kind of the owner is not served.
fn check_owner(review: &Review<'_>, owner: &Owner) -> Result<(), Failure> {
    let Some(kind) = review.request.server.kinds.of_kind(&owner.api_version, &owner.kind) else {
        let (version, kind) = (&owner.api_version, &owner.kind);
        let why = format!("no matches for kind {kind:?} in version {version:?}");
        return Err(review.forbidden(&format!(
            "cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion {version} Kind {kind}: {why}"
        )));
    };
    let check = AccessCheck {
        group: kind.group.clone(),
        resource: kind.plural.clone(),
        subresource: "finalizers".into(),
        namespace: if kind.namespaced { review.request.namespace.to_owned() } else { String::new() },
        name: owner.name.clone(),
        verb: "update".into(),
        ..AccessCheck::default()
    };
    if authorizer::allows(review, &check) {
        return Ok(());
    }
    let why =
        "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: , <nil>";
    Err(review.forbidden(why))
}
