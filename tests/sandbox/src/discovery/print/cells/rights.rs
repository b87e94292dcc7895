//! Prints the table cells of RoleBindings, ClusterRoleBindings and CertificateSigningRequests.

use jiff::Timestamp;
use serde_json::Value;

use super::format::{Cells, items, row_with_age};
use crate::object::text;

/// Returns the function that computes the cells of an object in a table; `None` if this module has none for the kind.
pub(super) fn printer_for(group: &str, plural: &str) -> Option<Cells> {
    Some(match (group, plural) {
        ("rbac.authorization.k8s.io", "rolebindings" | "clusterrolebindings") => binding,
        ("certificates.k8s.io", "certificatesigningrequests") => signing_request,
        _ => return None,
    })
}

/// Prints the row of a RoleBinding or ClusterRoleBinding: its role, and its subjects by kind.
fn binding(object: &Value, now: Timestamp) -> Vec<Value> {
    let role = format!("{}/{}", text(object, &["roleRef", "kind"]), text(object, &["roleRef", "name"]));
    let mut row = row_with_age(object, now, [role.into()]);
    for kind in ["User", "Group", "ServiceAccount"] {
        let subjects = items(object, &["subjects"]).iter().filter(|subject| text(subject, &["kind"]) == kind);
        let names = subjects.map(|subject| match kind {
            "ServiceAccount" => format!("{}/{}", text(subject, &["namespace"]), text(subject, &["name"])),
            _ => text(subject, &["name"]).to_owned(),
        });
        row.push(names.collect::<Vec<_>>().join(", ").into());
    }
    row
}

/// Prints the row of a CertificateSigningRequest; its status follows from the conditions and the certificate.
fn signing_request(object: &Value, now: Timestamp) -> Vec<Value> {
    let expiration = crate::object::number(object, &["spec", "expirationSeconds"]);
    let expiration = expiration.map_or_else(
        || super::format::NONE.to_owned(),
        |seconds| {
            super::super::duration::between(Timestamp::UNIX_EPOCH, Timestamp::from_second(seconds).unwrap_or(now))
        },
    );
    let conditions: Vec<&str> =
        items(object, &["status", "conditions"]).iter().map(|condition| text(condition, &["type"])).collect();
    let mut status = if conditions.contains(&"Approved") {
        "Approved"
    } else if conditions.contains(&"Denied") {
        "Denied"
    } else {
        "Pending"
    }
    .to_owned();
    if conditions.contains(&"Failed") {
        status.push_str(",Failed");
    }
    if !text(object, &["status", "certificate"]).is_empty() {
        status.push_str(",Issued");
    }
    vec![
        crate::object::name(object).into(),
        super::format::age(object, now),
        super::format::text_or(object, &["spec", "signerName"], super::format::NONE),
        text(object, &["spec", "username"]).into(),
        expiration.into(),
        status.into(),
    ]
}
