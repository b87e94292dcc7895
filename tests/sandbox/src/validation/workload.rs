//! Validates Deployments, ReplicaSets, StatefulSets and DaemonSets.

use serde_json::{Map, Value};

use super::{
    at::{At, Causes},
    name::NameRule,
    pod, selector,
};
use crate::failure::Cause;

/// What may change of a StatefulSet.
const STATEFUL: [&str; 7] = [
    "replicas",
    "ordinals",
    "template",
    "updateStrategy",
    "revisionHistoryLimit",
    "persistentVolumeClaimRetentionPolicy",
    "minReadySeconds",
];

pub(super) fn deployment(spec: &At<'_>, causes: &mut Causes) {
    spec.child("replicas").natural(causes);
    template(spec, causes);
    update_strategy(&spec.child("strategy"), causes);
    let (ready, limit) = (spec.child("minReadySeconds"), spec.child("progressDeadlineSeconds"));
    ready.natural(causes);
    spec.child("revisionHistoryLimit").natural(causes);
    limit.natural(causes);
    if limit.number().is_some_and(|limit| limit <= ready.number().unwrap_or(0)) {
        limit.invalid(causes, "must be greater than minReadySeconds");
    }
}

pub(super) fn replica_set(spec: &At<'_>, causes: &mut Causes) {
    spec.child("replicas").natural(causes);
    spec.child("minReadySeconds").natural(causes);
    template(spec, causes);
}

pub(super) fn daemon_set(spec: &At<'_>, causes: &mut Causes) {
    template(spec, causes);
    spec.child("minReadySeconds").natural(causes);
    let strategy = spec.child("updateStrategy");
    match strategy.child("type").text() {
        "OnDelete" => {}
        "RollingUpdate" => {
            let rolling = strategy.child("rollingUpdate");
            let (unavailable, surge) = (rolling.child("maxUnavailable"), rolling.child("maxSurge"));
            amount(&unavailable, causes);
            amount(&surge, causes);
            match (is_zero(&unavailable), is_zero(&surge)) {
                (true, true) => unavailable.required(causes, "cannot be 0 when maxSurge is 0"),
                (false, false) => unavailable.invalid(causes, "may not be set when maxSurge is non-zero"),
                _ => {}
            }
        }
        _ => causes.push(unknown(&strategy, "\"RollingUpdate\", \"OnDelete\"")),
    }
    spec.child("revisionHistoryLimit").natural(causes);
}

pub(super) fn stateful_set(spec: &At<'_>, causes: &mut Causes) {
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
            rolling.child("partition").natural(causes);
            amount(&rolling.child("maxUnavailable"), causes);
        }
        "" => strategy.required(causes, ""),
        _ => {
            let why = "must be 'RollingUpdate' or 'OnDelete'";
            let message = format!("Invalid value: {}: {why}", strategy_in_go(&strategy));
            causes.push(Cause { reason: "FieldValueInvalid", message, field: strategy.path.clone() });
        }
    }
    for when in ["whenDeleted", "whenScaled"] {
        spec.at(&["persistentVolumeClaimRetentionPolicy", when]).if_one_of(causes, &["Retain", "Delete"]);
    }
    spec.child("serviceName").if_named(causes, NameRule::Label);
    spec.child("replicas").natural(causes);
    spec.child("minReadySeconds").natural(causes);
    spec.at(&["ordinals", "start"]).natural(causes);
    template(spec, causes);
    without_claims(spec, causes);
}

/// The claims of a StatefulSet are volumes of its Pods, though their template doesn't name them.
fn without_claims(spec: &At<'_>, causes: &mut Causes) {
    let claims = spec.child("volumeClaimTemplates");
    let missing: Vec<String> =
        claims.items().map(|claim| format!("Not found: {:?}", claim.at(&["metadata", "name"]).text())).collect();
    causes.retain(|cause| {
        let of_claim = cause.reason == "FieldValueNotFound" && missing.contains(&cause.message);
        !(of_claim && cause.field.contains(".volumeMounts["))
    });
}

/// The selector selects what the template makes, and the Pods never end.
fn template(spec: &At<'_>, causes: &mut Causes) {
    let (selects, template) = (spec.child("selector"), spec.child("template"));
    if !selects.is_set() {
        selects.required(causes, "");
    }
    let before = causes.len();
    selector::selector(&selects, causes);
    if causes.len() > before {
        causes.push(selector::blamed(&selects, "invalid label selector"));
    } else if selects.is_set() && selector::is_empty(&selects) {
        causes.push(selector::blamed(&selects, "empty selector is invalid for deployment"));
    }
    let malformed = causes.len() > before;
    let labels = template.at(&["metadata", "labels"]);
    if !(malformed || selects.is_set() && selector::selects(selects.value, labels.value)) {
        labels.invalid(causes, "`selector` does not match template `labels`");
    }
    pod::template(&template, causes);
    let restart = template.at(&["spec", "restartPolicy"]);
    if matches!(restart.text(), "OnFailure" | "Never") {
        restart.unsupported(causes, &["Always"]);
    }
    let deadline = template.at(&["spec", "activeDeadlineSeconds"]);
    if deadline.is_set() {
        deadline.forbidden(causes, "activeDeadlineSeconds in ReplicaSet is not Supported");
    }
}

fn update_strategy(strategy: &At<'_>, causes: &mut Causes) {
    let rolling = strategy.child("rollingUpdate");
    match strategy.child("type").text() {
        "Recreate" if rolling.is_set() => {
            rolling.forbidden(causes, "may not be specified when strategy `type` is 'Recreate'");
        }
        "Recreate" => {}
        "RollingUpdate" => {
            let (unavailable, surge) = (rolling.child("maxUnavailable"), rolling.child("maxSurge"));
            amount(&unavailable, causes);
            amount(&surge, causes);
            if is_zero(&unavailable) && is_zero(&surge) {
                unavailable.invalid(causes, "may not be 0 when `maxSurge` is 0");
            }
            if percent(&unavailable).is_some_and(|percent| percent > 100) {
                unavailable.invalid(causes, "must not be greater than 100%");
            }
        }
        _ => causes.push(unknown(strategy, "\"Recreate\", \"RollingUpdate\"")),
    }
}

/// A number or a percentage, not below zero.
pub(super) fn amount(amount: &At<'_>, causes: &mut Causes) {
    if amount.value.is_string() {
        if percent(amount).is_none() {
            amount.invalid(causes, "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')");
        }
    } else {
        amount.natural(causes);
    }
}

pub(super) fn percent(amount: &At<'_>) -> Option<u32> {
    amount.text().strip_suffix('%')?.parse().ok()
}

fn is_zero(amount: &At<'_>) -> bool {
    percent(amount)
        .map_or_else(|| amount.number().unwrap_or(0) == 0 && !amount.value.is_string(), |percent| percent == 0)
}

/// What a workload selects, it selects for ever.
pub(super) fn keeps_selector(new: &At<'_>, old: &At<'_>, causes: &mut Causes) {
    new.child("selector").immutable(causes, &old.child("selector"));
}

pub(super) fn stateful_update(new: &At<'_>, old: &At<'_>, causes: &mut Causes) {
    if fixed(new) != fixed(old) {
        let why = "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";
        new.forbidden(causes, why);
    }
}

fn fixed(spec: &At<'_>) -> Map<String, Value> {
    let mut fixed = spec.map().cloned().unwrap_or_default();
    STATEFUL.iter().for_each(|field| drop(fixed.remove(*field)));
    fixed
}

/// Counts in a status.
pub(super) fn deployment_status(status: &At<'_>, causes: &mut Causes) {
    let counts = ["replicas", "updatedReplicas", "readyReplicas", "availableReplicas", "unavailableReplicas"];
    let number = |count: &str| status.child(count).number().unwrap_or(0);
    for count in counts {
        status.child(count).natural(causes);
    }
    let of_all = "cannot be greater than status.replicas";
    let pairs = [
        ("updatedReplicas", "replicas", of_all),
        ("readyReplicas", "replicas", of_all),
        ("availableReplicas", "replicas", of_all),
        ("availableReplicas", "readyReplicas", "cannot be greater than readyReplicas"),
    ];
    for (part, whole, why) in pairs {
        if number(part) > number(whole) {
            status.child(part).invalid(causes, why);
        }
    }
}

/// 422 of a strategy of no known type, which is told of the whole strategy.
fn unknown(strategy: &At<'_>, known: &str) -> Cause {
    let message = format!("Unsupported value: {}: supported values: {known}", strategy_in_go(strategy));
    Cause { reason: "FieldValueNotSupported", message, field: strategy.path.clone() }
}

/// A strategy as Kubernetes has it inside.
fn strategy_in_go(strategy: &At<'_>) -> String {
    let rolling = strategy.child("rollingUpdate");
    let amount = |name: &str| rolling.child(name).value.to_string();
    let rolling = match rolling.value {
        Value::Null => "null".to_owned(),
        _ => format!("{{\"MaxUnavailable\":{},\"MaxSurge\":{}}}", amount("maxUnavailable"), amount("maxSurge")),
    };
    format!("{{\"Type\":{},\"RollingUpdate\":{rolling}}}", strategy.child("type").value)
}
