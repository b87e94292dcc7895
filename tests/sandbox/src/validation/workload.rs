//! Validates Deployments, ReplicaSets, StatefulSets and DaemonSets.

use serde_json::{Map, Value};

use super::{
    field::{Causes, Field},
    name::NameRule,
    pod, selector,
};
use crate::failure::Cause;

/// The fields of a StatefulSet's spec that may change.
const MUTABLE_STATEFUL_SET_FIELDS: [&str; 7] = [
    "replicas",
    "ordinals",
    "template",
    "updateStrategy",
    "revisionHistoryLimit",
    "persistentVolumeClaimRetentionPolicy",
    "minReadySeconds",
];

/// Validates the spec of a Deployment (upstream: `ValidateDeploymentSpec`).
pub(super) fn validate_deployment(spec: &Field<'_>, causes: &mut Causes) {
    spec.child("replicas").non_negative(causes);
    validate_selector_and_template(spec, causes);
    validate_deployment_strategy(&spec.child("strategy"), causes);
    let (min_ready, deadline) = (spec.child("minReadySeconds"), spec.child("progressDeadlineSeconds"));
    min_ready.non_negative(causes);
    spec.child("revisionHistoryLimit").non_negative(causes);
    deadline.non_negative(causes);
    if deadline.number().is_some_and(|deadline| deadline <= min_ready.number().unwrap_or(0)) {
        deadline.invalid(causes, "must be greater than minReadySeconds");
    }
}

/// Validates the spec of a ReplicaSet (upstream: `ValidateReplicaSetSpec`).
pub(super) fn validate_replica_set(spec: &Field<'_>, causes: &mut Causes) {
    spec.child("replicas").non_negative(causes);
    spec.child("minReadySeconds").non_negative(causes);
    validate_selector_and_template(spec, causes);
}

/// Validates the spec of a DaemonSet (upstream: `ValidateDaemonSetSpec`).
pub(super) fn validate_daemon_set(spec: &Field<'_>, causes: &mut Causes) {
    validate_selector_and_template(spec, causes);
    spec.child("minReadySeconds").non_negative(causes);
    let strategy = spec.child("updateStrategy");
    match strategy.child("type").text() {
        "OnDelete" => {}
        "RollingUpdate" => {
            let rolling = strategy.child("rollingUpdate");
            let (unavailable, surge) = (rolling.child("maxUnavailable"), rolling.child("maxSurge"));
            validate_int_or_percent(&unavailable, causes);
            validate_int_or_percent(&surge, causes);
            match (is_zero(&unavailable), is_zero(&surge)) {
                (true, true) => unavailable.required(causes, "cannot be 0 when maxSurge is 0"),
                (false, false) => unavailable.invalid(causes, "may not be set when maxSurge is non-zero"),
                _ => {}
            }
        }
        _ => causes.push(unsupported_strategy(&strategy, "\"RollingUpdate\", \"OnDelete\"")),
    }
    spec.child("revisionHistoryLimit").non_negative(causes);
}

/// Validates the spec of a StatefulSet (upstream: `ValidateStatefulSetSpec`).
pub(super) fn validate_stateful_set(spec: &Field<'_>, causes: &mut Causes) {
    let policy = spec.child("podManagementPolicy");
    match policy.text() {
        "OrderedReady" | "Parallel" => {}
        "" => policy.required(causes, ""),
        _ => policy.invalid(causes, "must be 'OrderedReady' or 'Parallel'"),
    }
    let strategy = spec.child("updateStrategy");
    let rolling = strategy.child("rollingUpdate");
    match strategy.child("type").text() {
        "OnDelete" if rolling.is_set() => {
            rolling.invalid_part(causes, "", "only allowed for updateStrategy 'RollingUpdate'");
        }
        "OnDelete" => {}
        "RollingUpdate" => {
            rolling.child("partition").non_negative(causes);
            validate_int_or_percent(&rolling.child("maxUnavailable"), causes);
        }
        "" => strategy.required(causes, ""),
        _ => {
            let detail = "must be 'RollingUpdate' or 'OnDelete'";
            let message = format!("Invalid value: {}: {detail}", internal_strategy_json(&strategy));
            causes.push(Cause { reason: "FieldValueInvalid", message, field: strategy.path.clone() });
        }
    }
    for when in ["whenDeleted", "whenScaled"] {
        spec.nested(&["persistentVolumeClaimRetentionPolicy", when]).optional_enum(causes, &["Retain", "Delete"]);
    }
    spec.child("serviceName").optional_name(causes, NameRule::Label);
    spec.child("replicas").non_negative(causes);
    spec.child("minReadySeconds").non_negative(causes);
    spec.nested(&["ordinals", "start"]).non_negative(causes);
    validate_selector_and_template(spec, causes);
    drop_claim_mount_causes(spec, causes);
}

/// Removes the errors about volume mounts that refer to a volume claim template of a StatefulSet: its volumes are not in the pod template,
/// so the validation of the template does not find them.
fn drop_claim_mount_causes(spec: &Field<'_>, causes: &mut Causes) {
    let claims = spec.child("volumeClaimTemplates");
    let messages: Vec<String> =
        claims.items().map(|claim| format!("Not found: {:?}", claim.nested(&["metadata", "name"]).text())).collect();
    causes.retain(|cause| {
        let is_about_claim = cause.reason == "FieldValueNotFound" && messages.contains(&cause.message);
        !(is_about_claim && cause.field.contains(".volumeMounts["))
    });
}

/// Validates the selector and the pod template of a workload: the selector is not empty and matches the labels of the template, and the
/// template has the restart policy `Always` and no deadline.
fn validate_selector_and_template(spec: &Field<'_>, causes: &mut Causes) {
    let (selector, template) = (spec.child("selector"), spec.child("template"));
    if !selector.is_set() {
        selector.required(causes, "");
    }
    let count_before = causes.len();
    selector::validate_label_selector(&selector, causes);
    if causes.len() > count_before {
        causes.push(selector::invalid_selector(&selector, "invalid label selector"));
    } else if selector.is_set() && selector::is_empty(&selector) {
        causes.push(selector::invalid_selector(&selector, "empty selector is invalid for deployment"));
    }
    let is_invalid = causes.len() > count_before;
    let labels = template.nested(&["metadata", "labels"]);
    if !is_invalid && !selector::matches_labels(selector.value, labels.value) {
        labels.invalid(causes, "`selector` does not match template `labels`");
    }
    pod::validate_template(&template, causes);
    let restart = template.nested(&["spec", "restartPolicy"]);
    if matches!(restart.text(), "OnFailure" | "Never") {
        restart.unsupported(causes, &["Always"]);
    }
    let deadline = template.nested(&["spec", "activeDeadlineSeconds"]);
    if deadline.is_set() {
        deadline.forbidden(causes, "activeDeadlineSeconds in ReplicaSet is not Supported");
    }
}

/// Validates the update strategy of a Deployment (upstream: `ValidateDeploymentStrategy`).
fn validate_deployment_strategy(strategy: &Field<'_>, causes: &mut Causes) {
    let rolling = strategy.child("rollingUpdate");
    match strategy.child("type").text() {
        "Recreate" if rolling.is_set() => {
            rolling.forbidden(causes, "may not be specified when strategy `type` is 'Recreate'");
        }
        "Recreate" => {}
        "RollingUpdate" => {
            let (unavailable, surge) = (rolling.child("maxUnavailable"), rolling.child("maxSurge"));
            validate_int_or_percent(&unavailable, causes);
            validate_int_or_percent(&surge, causes);
            if is_zero(&unavailable) && is_zero(&surge) {
                unavailable.invalid(causes, "may not be 0 when `maxSurge` is 0");
            }
            if percentage(&unavailable).is_some_and(|percent| percent > 100) {
                unavailable.invalid(causes, "must not be greater than 100%");
            }
        }
        _ => causes.push(unsupported_strategy(strategy, "\"Recreate\", \"RollingUpdate\"")),
    }
}

/// Validates that a value is a percentage such as `25%` or a number that is not negative (upstream: `ValidatePositiveIntOrPercent`).
pub(super) fn validate_int_or_percent(amount: &Field<'_>, causes: &mut Causes) {
    if amount.value.is_string() {
        if percentage(amount).is_none() {
            amount.invalid(causes, "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')");
        }
    } else {
        amount.non_negative(causes);
    }
}

/// Returns the number of a percentage; `None` if the value is no percentage.
pub(super) fn percentage(amount: &Field<'_>) -> Option<u32> {
    amount.text().strip_suffix('%')?.parse().ok()
}

/// Returns whether a number or a percentage is zero or absent.
fn is_zero(amount: &Field<'_>) -> bool {
    percentage(amount)
        .map_or_else(|| amount.number().unwrap_or(0) == 0 && !amount.value.is_string(), |percent| percent == 0)
}

/// Validates that an update of a workload keeps its selector.
pub(super) fn validate_selector_immutable(new: &Field<'_>, old: &Field<'_>, causes: &mut Causes) {
    new.child("selector").immutable(causes, &old.child("selector"));
}

/// Validates that an update of a StatefulSet changes only fields that may change.
pub(super) fn validate_stateful_set_update(new: &Field<'_>, old: &Field<'_>, causes: &mut Causes) {
    if immutable_fields(new) != immutable_fields(old) {
        let detail = "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";
        new.forbidden(causes, detail);
    }
}

/// Returns the fields of a StatefulSet's spec that may not change.
fn immutable_fields(spec: &Field<'_>) -> Map<String, Value> {
    let mut fields = spec.map().cloned().unwrap_or_default();
    MUTABLE_STATEFUL_SET_FIELDS.iter().for_each(|key| drop(fields.remove(*key)));
    fields
}

/// Validates the replica counts in the status of a Deployment (upstream: `ValidateDeploymentStatus`).
pub(super) fn validate_deployment_status(status: &Field<'_>, causes: &mut Causes) {
    let counts = ["replicas", "updatedReplicas", "readyReplicas", "availableReplicas", "unavailableReplicas"];
    let number = |count: &str| status.child(count).number().unwrap_or(0);
    for count in counts {
        status.child(count).non_negative(causes);
    }
    let exceeds_replicas = "cannot be greater than status.replicas";
    let pairs = [
        ("updatedReplicas", "replicas", exceeds_replicas),
        ("readyReplicas", "replicas", exceeds_replicas),
        ("availableReplicas", "replicas", exceeds_replicas),
        ("availableReplicas", "readyReplicas", "cannot be greater than readyReplicas"),
    ];
    for (count, limit, detail) in pairs {
        if number(count) > number(limit) {
            status.child(count).invalid(causes, detail);
        }
    }
}

/// Returns the error `field.NotSupported` for the type of an update strategy. Like upstream, it refers to the whole
/// strategy.
fn unsupported_strategy(strategy: &Field<'_>, known: &str) -> Cause {
    let message = format!("Unsupported value: {}: supported values: {known}", internal_strategy_json(strategy));
    Cause { reason: "FieldValueNotSupported", message, field: strategy.path.clone() }
}

/// Returns the JSON of an update strategy with the field names of upstream's internal Go type.
fn internal_strategy_json(strategy: &Field<'_>) -> String {
    let rolling = strategy.child("rollingUpdate");
    let amount_json = |name: &str| rolling.child(name).value.to_string();
    let rolling = match rolling.value {
        Value::Null => "null".to_owned(),
        _ => {
            format!("{{\"MaxUnavailable\":{},\"MaxSurge\":{}}}", amount_json("maxUnavailable"), amount_json("maxSurge"))
        }
    };
    format!("{{\"Type\":{},\"RollingUpdate\":{rolling}}}", strategy.child("type").value)
}
