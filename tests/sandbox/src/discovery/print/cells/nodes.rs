//! Prints the table cells of Nodes.

use jiff::Timestamp;
use serde_json::Value;

use super::format::{NONE, UNKNOWN, age, items, text_or};
use crate::object::{labels, name, text};

/// The labels that name a role: the first by its suffix, the second by its value.
const ROLE: &str = "node-role.kubernetes.io/";
const OLD_ROLE: &str = "kubernetes.io/role";

/// Prints the row of a Node.
pub(super) fn node(object: &Value, now: Timestamp) -> Vec<Value> {
    let ready = items(object, &["status", "conditions"]).iter().find(|condition| text(condition, &["type"]) == "Ready");
    let status = match ready.map(|condition| text(condition, &["status"])) {
        Some("True") => "Ready",
        Some(_) => "NotReady",
        None => "Unknown",
    };
    let cordoned = if object["spec"]["unschedulable"] == true { ",SchedulingDisabled" } else { "" };
    let info = |field, default| text_or(object, &["status", "nodeInfo", field], default);
    let internal = address(object, "InternalIP").unwrap_or(NONE).into();
    let external = address(object, "ExternalIP").unwrap_or(NONE).into();
    vec![
        name(object).into(),
        format!("{status}{cordoned}").into(),
        roles(object).into(),
        age(object, now),
        info("kubeletVersion", ""),
        internal,
        external,
        info("osImage", UNKNOWN),
        info("kernelVersion", UNKNOWN),
        info("containerRuntimeVersion", UNKNOWN),
    ]
}

/// Returns the roles that the labels name, sorted and joined with commas; `<none>` if there are none.
fn roles(object: &Value) -> String {
    let mut roles: Vec<&str> = labels(object)
        .filter_map(|(key, value)| if key == OLD_ROLE { Some(value) } else { key.strip_prefix(ROLE) })
        .filter(|role| !role.is_empty())
        .collect();
    roles.sort_unstable();
    roles.dedup();
    if roles.is_empty() { NONE.to_owned() } else { roles.join(",") }
}

/// Returns the address of a Node of the given type, such as `InternalIP`; `None` if it has none.
fn address<'a>(object: &'a Value, kind: &str) -> Option<&'a str> {
    let found = items(object, &["status", "addresses"]).iter().find(|address| text(address, &["type"]) == kind)?;
    Some(text(found, &["address"]))
}
