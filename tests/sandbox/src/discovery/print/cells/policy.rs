//! Prints the table cells of budgets, quotas, admission policies and flow control.

use jiff::Timestamp;
use serde_json::Value;

use super::format::{Cells, UNSET, aged, count, length, or, plain, selector};
use crate::object::{at, text};

pub(super) fn of(group: &str, plural: &str) -> Option<Cells> {
    Some(match (group, plural) {
        ("policy", "poddisruptionbudgets") => budget,
        ("", "resourcequotas") => quota,
        ("admissionregistration.k8s.io", "mutatingwebhookconfigurations" | "validatingwebhookconfigurations") => {
            |object, now| aged(object, now, [length(object, &["webhooks"]).into()])
        }
        ("admissionregistration.k8s.io", "validatingadmissionpolicies") => {
            |object, now| aged(object, now, [length(object, &["spec", "validations"]).into(), parameters(object)])
        }
        ("admissionregistration.k8s.io", "mutatingadmissionpolicies") => {
            |object, now| aged(object, now, [length(object, &["spec", "mutations"]).into(), parameters(object)])
        }
        ("admissionregistration.k8s.io", "validatingadmissionpolicybindings" | "mutatingadmissionpolicybindings") => {
            binding
        }
        ("flowcontrol.apiserver.k8s.io", "flowschemas") => flow,
        ("flowcontrol.apiserver.k8s.io", "prioritylevelconfigurations") => level,
        _ => return None,
    })
}

fn budget(object: &Value, now: Timestamp) -> Vec<Value> {
    let least = plain(object, &["spec", "minAvailable"], "N/A");
    let most = plain(object, &["spec", "maxUnavailable"], "N/A");
    aged(object, now, [least.into(), most.into(), count(object, &["status", "disruptionsAllowed"]).into()])
}

/// Prints used and hard amounts, with requests and limits in separate cells.
fn quota(object: &Value, now: Timestamp) -> Vec<Value> {
    let (mut requests, mut limits) = (Vec::new(), Vec::new());
    for (resource, most) in at(object, &["status", "hard"]).and_then(Value::as_object).into_iter().flatten() {
        let used = plain(object, &["status", "used", resource], "0");
        let written = format!("{resource}: {used}/{}", most.as_str().unwrap_or_default());
        if resource.starts_with("limits") { &mut limits } else { &mut requests }.push(written);
    }
    aged(object, now, [requests.join(", ").into(), limits.join(", ").into()])
}

fn parameters(object: &Value) -> Value {
    let Some(kind) = at(object, &["spec", "paramKind"]) else { return UNSET.into() };
    format!("{}/{}", text(kind, &["apiVersion"]), text(kind, &["kind"])).into()
}

fn binding(object: &Value, now: Timestamp) -> Vec<Value> {
    let parameter = at(object, &["spec", "paramRef"]).map_or_else(
        || UNSET.to_owned(),
        |reference| match (text(reference, &["namespace"]), text(reference, &["name"])) {
            ("", "") => selector(reference, &["selector"]),
            ("", name) => format!("*/{name}"),
            (namespace, name) => format!("{namespace}/{name}"),
        },
    );
    aged(object, now, [text(object, &["spec", "policyName"]).into(), parameter.into()])
}

fn flow(object: &Value, now: Timestamp) -> Vec<Value> {
    let mut row = aged(
        object,
        now,
        [
            text(object, &["spec", "priorityLevelConfiguration", "name"]).into(),
            count(object, &["spec", "matchingPrecedence"]).into(),
            or(object, &["spec", "distinguisherMethod", "type"], super::format::NONE),
        ],
    );
    let dangles =
        super::format::items(object, &["status", "conditions"]).iter().find(|own| text(own, &["type"]) == "Dangling");
    row.push(dangles.map_or("?", |condition| text(condition, &["status"])).into());
    row
}

fn level(object: &Value, now: Timestamp) -> Vec<Value> {
    let limited = |path: &[&str]| {
        let path: Vec<&str> = ["spec", "limited"].into_iter().chain(path.iter().copied()).collect();
        Value::from(plain(object, &path, super::format::NONE))
    };
    let sort = if at(object, &["spec", "exempt"]).is_some() { "exempt" } else { "limited" };
    let shares = at(object, &["spec", sort, "nominalConcurrencyShares"]).cloned();
    let shares = shares.unwrap_or_else(|| super::format::NONE.into());
    let queue = |field: &str| limited(&["limitResponse", "queuing", field]);
    aged(
        object,
        now,
        [text(object, &["spec", "type"]).into(), shares, queue("queues"), queue("handSize"), queue("queueLengthLimit")],
    )
}
