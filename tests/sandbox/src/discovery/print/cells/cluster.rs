//! Prints the table cells of Namespaces, Nodes, Events, Leases, APIServices, ResourceClaims and some other built-in kinds.

use serde_json::Value;

use super::{
    events,
    format::{Cells, count, is_condition_true, items, length, only_age, row_with_age, text_or},
    nodes,
};
use crate::object::{at, name, text};

/// Returns the function that prints the table row of a kind; `None` if this module has none for the kind.
pub(super) fn printer_for(group: &str, plural: &str) -> Option<Cells> {
    Some(match (group, plural) {
        ("", "namespaces") => |object, now| row_with_age(object, now, [text(object, &["status", "phase"]).into()]),
        ("", "nodes") => nodes::node,
        ("" | "events.k8s.io", "events") => events::event_row,
        ("coordination.k8s.io", "leases") => {
            |object, now| row_with_age(object, now, [text(object, &["spec", "holderIdentity"]).into()])
        }
        ("scheduling.k8s.io", "priorityclasses") => |object, now| {
            let mut row =
                row_with_age(object, now, [count(object, &["value"]).into(), (object["globalDefault"] == true).into()]);
            row.push(text_or(object, &["preemptionPolicy"], ""));
            row
        },
        ("node.k8s.io", "runtimeclasses") => {
            |object, now| row_with_age(object, now, [text(object, &["handler"]).into()])
        }
        ("apiregistration.k8s.io", "apiservices") => |object, now| {
            let service = at(object, &["spec", "service"]);
            let service =
                service.map(|service| format!("{}/{}", text(service, &["namespace"]), text(service, &["name"])));
            let available = items(object, &["status", "conditions"])
                .iter()
                .find(|condition| text(condition, &["type"]) == "Available");
            let available = available.map_or("Unknown".to_owned(), |condition| match text(condition, &["status"]) {
                "False" => format!("False ({})", text(condition, &["reason"])),
                status => status.to_owned(),
            });
            row_with_age(object, now, [service.unwrap_or_else(|| "Local".to_owned()).into(), available.into()])
        },
        ("resource.k8s.io", "deviceclasses" | "resourceclaimtemplates") => only_age,
        ("resource.k8s.io", "resourceclaims") => |object, now| row_with_age(object, now, [claim_state(object).into()]),
        ("resource.k8s.io", "resourceslices") => |object, now| {
            let field_text = |path: &[&str]| text_or(object, path, "");
            row_with_age(
                object,
                now,
                [
                    text_or(object, &["spec", "nodeName"], super::format::UNSET),
                    field_text(&["spec", "driver"]),
                    field_text(&["spec", "pool", "name"]),
                ],
            )
        },
        ("", "componentstatuses") => |object, _| {
            let healthy = if is_condition_true(object, "Healthy") { "Healthy" } else { "Unhealthy" };
            vec![name(object).into(), healthy.into(), "".into(), "".into()]
        },
        _ => return None,
    })
}

/// Returns the state of a ResourceClaim, such as `allocated,reserved`.
fn claim_state(object: &Value) -> String {
    let mut states = Vec::new();
    if crate::object::is_deleting(object) {
        states.push("deleted");
    }
    if at(object, &["status", "allocation"]).is_none() {
        states.push("pending");
    } else {
        states.push("allocated");
        if length(object, &["status", "reservedFor"]) > 0 {
            states.push("reserved");
        }
    }
    states.join(",")
}
