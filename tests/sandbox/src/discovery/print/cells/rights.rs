//! Prints the table cells of role bindings and certificate signing requests.

use jiff::Timestamp;
use serde_json::Value;

use super::format::{Cells, aged, items};
use crate::object::text;

pub(super) fn of(group: &str, plural: &str) -> Option<Cells> {
    Some(match (group, plural) {
        ("rbac.authorization.k8s.io", "rolebindings" | "clusterrolebindings") => binding,
        ("certificates.k8s.io", "certificatesigningrequests") => signing_request,
        _ => return None,
    })
}

fn binding(object: &Value, now: Timestamp) -> Vec<Value> {
    let role = format!("{}/{}", text(object, &["roleRef", "kind"]), text(object, &["roleRef", "name"]));
    let mut row = aged(object, now, [role.into()]);
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

fn signing_request(object: &Value, now: Timestamp) -> Vec<Value> {
    let request = crate::object::number(object, &["spec", "expirationSeconds"]);
    let request = request.map_or_else(
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
        super::format::or(object, &["spec", "signerName"], super::format::NONE),
        text(object, &["spec", "username"]).into(),
        request.into(),
        status.into(),
    ]
}
