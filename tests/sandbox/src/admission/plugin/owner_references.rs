//! `OwnerReferencesPermissionEnforcement`: who sets owners must be able to delete the object, and who lets it hold an owner's
//! deletion must be able to set the owner's finalizers.

use serde_json::Value;

use crate::{
    admission::{Operation, Review, authorizer, expression::Question},
    failure::Failure,
    object::{self, Owner},
};

pub(in crate::admission) fn validate(review: &Review<'_>) -> Result<(), Failure> {
    let asked = review.asked;
    let written = matches!(review.operation, Operation::Create | Operation::Update);
    // The kubelet writes the status of Pods; that says nothing of their owners.
    let status = asked.kind.is("", "pods") && asked.subresource == Some("status");
    if !asked.server.options.owner_permissions || !written || status {
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
    let held = |owner: &&Owner| !old.iter().any(|old| old.uid == owner.uid && old.blocks_deletion);
    for owner in new.iter().filter(|owner| owner.blocks_deletion).filter(held) {
        check_owner(review, owner)?;
    }
    Ok(())
}

fn may_delete(review: &Review<'_>) -> bool {
    let asked = review.asked;
    let question = Question {
        group: asked.kind.group.clone(),
        resource: asked.kind.plural.clone(),
        namespace: asked.namespace.to_owned(),
        name: asked.name.to_owned(),
        verb: "delete".into(),
        ..Question::default()
    };
    authorizer::allows(review, &question)
}

fn check_owner(review: &Review<'_>, owner: &Owner) -> Result<(), Failure> {
    let Some(kind) = review.asked.server.kinds.of_kind(&owner.api_version, &owner.kind) else {
        let (version, kind) = (&owner.api_version, &owner.kind);
        let why = format!("no matches for kind {kind:?} in version {version:?}");
        return Err(review.forbidden(&format!(
            "cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion {version} Kind {kind}: {why}"
        )));
    };
    let question = Question {
        group: kind.group.clone(),
        resource: kind.plural.clone(),
        subresource: "finalizers".into(),
        namespace: if kind.namespaced { review.asked.namespace.to_owned() } else { String::new() },
        name: owner.name.clone(),
        verb: "update".into(),
        ..Question::default()
    };
    if authorizer::allows(review, &question) {
        return Ok(());
    }
    let why =
        "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: , <nil>";
    Err(review.forbidden(why))
}
