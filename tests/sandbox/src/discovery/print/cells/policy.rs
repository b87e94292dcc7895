//! Prints the table cells of PodDisruptionBudgets, ResourceQuotas, admission webhooks and policies, and flow control.

use jiff::Timestamp;
use serde_json::Value;

use super::format::{Cells, UNSET, count, length, row_with_age, scalar_text, selector, text_or};
use crate::object::{at, text};

/// Returns the function that prints the table row of a kind; `None` if this module has none for the kind.
pub(super) fn printer_for(group: &str, plural: &str) -> Option<Cells> {
    Some(match (group, plural) {
        ("policy", "poddisruptionbudgets") => budget,
        ("", "resourcequotas") => quota,
        ("admissionregistration.k8s.io", "mutatingwebhookconfigurations" | "validatingwebhookconfigurations") => {
            |object, now| row_with_age(object, now, [length(object, &["webhooks"]).into()])
        }
        ("admissionregistration.k8s.io", "validatingadmissionpolicies") => |object, now| {
            row_with_age(object, now, [length(object, &["spec", "validations"]).into(), param_kind(object)])
        },
        ("admissionregistration.k8s.io", "mutatingadmissionpolicies") => {
            |object, now| row_with_age(object, now, [length(object, &["spec", "mutations"]).into(), param_kind(object)])
        }
        ("admissionregistration.k8s.io", "validatingadmissionpolicybindings" | "mutatingadmissionpolicybindings") => {
            binding
        }
        ("flowcontrol.apiserver.k8s.io", "flowschemas") => flow_schema,
        ("flowcontrol.apiserver.k8s.io", "prioritylevelconfigurations") => priority_level,
        _ => return None,
    })
}

/// Prints the row of a PodDisruptionBudget.
fn budget(object: &Value, now: Timestamp) -> Vec<Value> {
    let min_available = scalar_text(object, &["spec", "minAvailable"], "N/A");
    let max_unavailable = scalar_text(object, &["spec", "maxUnavailable"], "N/A");
    row_with_age(
        object,
        now,
        [min_available.into(), max_unavailable.into(), count(object, &["status", "disruptionsAllowed"]).into()],
    )
}

/// Prints the row of a ResourceQuota: used and hard amounts, with requests and limits in separate cells.
fn quota(object: &Value, now: Timestamp) -> Vec<Value> {
    let (mut requests, mut limits) = (Vec::new(), Vec::new());
    for (resource, hard) in at(object, &["status", "hard"]).and_then(Value::as_object).into_iter().flatten() {
        let used = scalar_text(object, &["status", "used", resource], "0");
        let usage = format!("{resource}: {used}/{}", hard.as_str().unwrap_or_default());
        if resource.starts_with("limits") { &mut limits } else { &mut requests }.push(usage);
    }
    row_with_age(object, now, [requests.join(", ").into(), limits.join(", ").into()])
}

/// Returns the kind of the parameters of an admission policy; `<unset>` if it has none.
fn param_kind(object: &Value) -> Value {
    let Some(kind) = at(object, &["spec", "paramKind"]) else { return UNSET.into() };
    format!("{}/{}", text(kind, &["apiVersion"]), text(kind, &["kind"])).into()
}

/// Prints the row of the binding of an admission policy with the reference to its parameters.
fn binding(object: &Value, now: Timestamp) -> Vec<Value> {
    let param_ref = at(object, &["spec", "paramRef"]).map_or_else(
        || UNSET.to_owned(),
        |reference| match (text(reference, &["namespace"]), text(reference, &["name"])) {
            ("", "") => selector(reference, &["selector"]),
            ("", name) => format!("*/{name}"),
            (namespace, name) => format!("{namespace}/{name}"),
        },
    );
    row_with_age(object, now, [text(object, &["spec", "policyName"]).into(), param_ref.into()])
}

/// Prints the row of a FlowSchema.
fn flow_schema(object: &Value, now: Timestamp) -> Vec<Value> {
    let mut row = row_with_age(
        object,
        now,
        [
            text(object, &["spec", "priorityLevelConfiguration", "name"]).into(),
            count(object, &["spec", "matchingPrecedence"]).into(),
            text_or(object, &["spec", "distinguisherMethod", "type"], super::format::NONE),
        ],
    );
    let dangling = super::format::items(object, &["status", "conditions"])
        .iter()
        .find(|condition| text(condition, &["type"]) == "Dangling");
    row.push(dangling.map_or("?", |condition| text(condition, &["status"])).into());
    row
}

/// Prints the row of a PriorityLevelConfiguration: type, nominal concurrency shares, and the parameters of its queues, `<none>` if unset.
fn priority_level(object: &Value, now: Timestamp) -> Vec<Value> {
    let limited = |path: &[&str]| {
        let path: Vec<&str> = ["spec", "limited"].into_iter().chain(path.iter().copied()).collect();
        Value::from(scalar_text(object, &path, super::format::NONE))
    };
    let type_field = if at(object, &["spec", "exempt"]).is_some() { "exempt" } else { "limited" };
    let shares = at(object, &["spec", type_field, "nominalConcurrencyShares"]).cloned();
    let shares = shares.unwrap_or_else(|| super::format::NONE.into());
    let queue = |field: &str| limited(&["limitResponse", "queuing", field]);
    row_with_age(
        object,
        now,
        [text(object, &["spec", "type"]).into(), shares, queue("queues"), queue("handSize"), queue("queueLengthLimit")],
    )
}
