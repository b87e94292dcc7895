//! `NamespaceLifecycle`: nothing comes into a namespace that is not there or goes away; some namespaces never go.

use serde_json::json;

use crate::{
    admission::{Operation, Review},
    failure::Failure,
    object,
};

const IMMORTAL: [&str; 3] = ["default", "kube-system", "kube-public"];

pub(in crate::admission) fn admit(review: &Review<'_>) -> Result<(), Failure> {
    let asked = review.asked;
    if review.writes(Operation::Delete, "", "namespaces") && IMMORTAL.contains(&asked.name) {
        return Err(review.forbidden("this namespace may not be deleted"));
    }
    // What asks for access says it of namespaces that need not exist.
    if !asked.kind.namespaced || review.operation != Operation::Create || asked.kind.group == "authorization.k8s.io" {
        return Ok(());
    }
    let Some(namespace) = asked.server.store.get("namespaces", "", asked.namespace) else {
        let kind = asked.server.kinds.find("", "v1", "namespaces").ok_or_else(Failure::no_such_resource)?;
        return Err(Failure::not_found(&kind, asked.namespace));
    };
    // The key alone says little: a label may be named so. It spares reading almost every namespace.
    let marked = namespace.json.windows(DELETED.len()).any(|window| window == DELETED);
    if !marked || !object::is_deleting(&serde_json::from_slice(&namespace.json).unwrap_or_default()) {
        return Ok(());
    }
    let why = format!("unable to create new content in namespace {} because it is being terminated", asked.namespace);
    let message = format!("namespace {} is being terminated", asked.namespace);
    let cause = json!({"reason": "NamespaceTerminating", "message": message, "field": "metadata.namespace"});
    Err(review.forbidden(&why).with_causes(vec![cause]))
}

const DELETED: &[u8] = b"\"deletionTimestamp\":";
