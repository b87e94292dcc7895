//! Validates affinity, tolerations and topology constraints of Pods.

use super::{
    at::{At, Causes},
    name::{self, NameRule},
    selector,
};

const EFFECTS: [&str; 3] = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

pub(super) fn tolerations(tolerations: &At<'_>, causes: &mut Causes) {
    for toleration in tolerations.items() {
        let (key, operator, effect) =
            (toleration.child("key"), toleration.child("operator"), toleration.child("effect"));
        key.if_named(causes, NameRule::Qualified);
        if key.is_empty() && operator.text() != "Exists" {
            operator.invalid(
                causes,
                "operator must be Exists when `key` is empty, which means \"match all values and all keys\"",
            );
        }
        if toleration.child("tolerationSeconds").is_set() && effect.text() != "NoExecute" {
            effect.invalid(causes, "effect must be 'NoExecute' when `tolerationSeconds` is set");
        }
        match operator.text() {
            "Exists" if !toleration.child("value").is_empty() => {
                operator.invalid(causes, "value must be empty when `operator` is 'Exists'");
            }
            "" | "Equal" => toleration.child("value").if_named(causes, NameRule::LabelValue),
            _ => operator.if_one_of(causes, &["Equal", "Exists"]),
        }
        effect.if_one_of(causes, &EFFECTS);
    }
}

pub(super) fn spread(constraints: &At<'_>, causes: &mut Causes) {
    for constraint in constraints.items() {
        let skew = constraint.child("maxSkew");
        if skew.number().is_none_or(|skew| skew <= 0) {
            skew.invalid(causes, "must be greater than zero");
        }
        let key = constraint.child("topologyKey");
        key.named(causes, NameRule::Qualified);
        constraint.child("whenUnsatisfiable").one_of(causes, &["DoNotSchedule", "ScheduleAnyway"]);
        selector::selector(&constraint.child("labelSelector"), causes);
    }
}

pub(super) fn affinity(affinity: &At<'_>, causes: &mut Causes) {
    let required = affinity.at(&["nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution"]);
    if required.is_set() {
        required.child("nodeSelectorTerms").demand(causes, "must have at least one node selector term");
    }
    for kind in ["podAffinity", "podAntiAffinity"] {
        let pods = affinity.child(kind);
        for term in pods.child("requiredDuringSchedulingIgnoredDuringExecution").items() {
            pod_term(&term, causes);
        }
        for weighted in pods.child("preferredDuringSchedulingIgnoredDuringExecution").items() {
            weighted.child("weight").within(causes, 1, 100);
            pod_term(&weighted.child("podAffinityTerm"), causes);
        }
    }
}

fn pod_term(term: &At<'_>, causes: &mut Causes) {
    selector::selector(&term.child("labelSelector"), causes);
    let key = term.child("topologyKey");
    key.demand(causes, "can not be empty");
    if key.is_empty() {
        // An empty name is wrong in both of its parts.
        key.invalid(causes, "name part must be non-empty");
        key.invalid(causes, "name part must consist of alphanumeric characters, '-', '_' or '.'");
    } else if let Some(why) = name::fault(NameRule::Qualified, key.text()) {
        key.invalid(causes, &why);
    }
}
