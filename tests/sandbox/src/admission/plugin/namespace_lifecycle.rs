//! Implements `NamespaceLifecycle`: rejects creates in missing or terminating namespaces, and deletes of system
//! namespaces.

use serde_json::json;

use crate::{
    admission::{Operation, Review},
    failure::Failure,
};

/// The namespaces that cannot be deleted (`immortalNamespaces` of kube-apiserver).
const IMMORTAL: [&str; 3] = ["default", "kube-system", "kube-public"];

/// Rejects the deletion of a system namespace, and a create in a missing or terminating namespace, except that of an access review.
pub(crate) fn admit(review: &Review<'_>) -> Result<(), Failure> {
    let request = review.request;
    if review.writes(Operation::Delete, "", "namespaces") && IMMORTAL.contains(&request.name) {
        return Err(review.forbidden("this namespace may not be deleted"));
    }
    // Access reviews may refer to namespaces that do not exist.
    if !request.kind.namespaced || review.operation != Operation::Create || request.kind.group == "authorization.k8s.io"
    {
        return Ok(());
    }
    let Some(namespace) = request.server.store.get("namespaces", "", request.namespace) else {
        let kind = request.server.kinds.find("", "v1", "namespaces").ok_or_else(Failure::no_such_resource)?;
        return Err(Failure::not_found(&kind, request.namespace));
    };
    if !namespace.deleting {
        return Ok(());
    }
    let why = format!("unable to create new content in namespace {} because it is being terminated", request.namespace);
    let message = format!("namespace {} is being terminated", request.namespace);
    let cause = json!({"reason": "NamespaceTerminating", "message": message, "field": "metadata.namespace"});
    Err(review.forbidden(&why).with_causes(vec![cause]))
}
