//! Validates affinity, tolerations and topology spread constraints of Pods.

use super::{
    field::{Causes, Field},
    name::{self, NameRule},
    selector,
};

/// The effects of taints that a toleration can match.
const EFFECTS: [&str; 3] = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

/// Validates the tolerations of a Pod (upstream: `ValidateTolerations`).
pub(super) fn validate_tolerations(tolerations: &Field<'_>, causes: &mut Causes) {
    for toleration in tolerations.items() {
        let (key, operator, effect) =
            (toleration.child("key"), toleration.child("operator"), toleration.child("effect"));
        key.optional_name(causes, NameRule::Qualified);
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
            "" | "Equal" => toleration.child("value").optional_name(causes, NameRule::LabelValue),
            _ => operator.optional_enum(causes, &["Equal", "Exists"]),
        }
        effect.optional_enum(causes, &EFFECTS);
    }
}

/// Validates the topology spread constraints of a Pod (upstream: `validateTopologySpreadConstraints`).
pub(super) fn validate_topology_spread(constraints: &Field<'_>, causes: &mut Causes) {
    for constraint in constraints.items() {
        let skew = constraint.child("maxSkew");
        if skew.number().is_none_or(|skew| skew <= 0) {
            skew.invalid(causes, "must be greater than zero");
        }
        let key = constraint.child("topologyKey");
        key.required_name(causes, NameRule::Qualified);
        constraint.child("whenUnsatisfiable").required_enum(causes, &["DoNotSchedule", "ScheduleAnyway"]);
        selector::validate_label_selector(&constraint.child("labelSelector"), causes);
    }
}

/// Validates the affinity of a Pod to nodes and to other Pods.
pub(super) fn validate_affinity(affinity: &Field<'_>, causes: &mut Causes) {
    let required = affinity.nested(&["nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution"]);
    if required.is_set() {
        required.child("nodeSelectorTerms").require(causes, "must have at least one node selector term");
    }
    for kind in ["podAffinity", "podAntiAffinity"] {
        let pods = affinity.child(kind);
        for term in pods.child("requiredDuringSchedulingIgnoredDuringExecution").items() {
            validate_pod_affinity_term(&term, causes);
        }
        for weighted in pods.child("preferredDuringSchedulingIgnoredDuringExecution").items() {
            weighted.child("weight").in_range(causes, 1, 100);
            validate_pod_affinity_term(&weighted.child("podAffinityTerm"), causes);
        }
    }
}

/// Validates a term of Pod affinity or anti-affinity (upstream: `validatePodAffinityTerm`).
fn validate_pod_affinity_term(term: &Field<'_>, causes: &mut Causes) {
    selector::validate_label_selector(&term.child("labelSelector"), causes);
    let key = term.child("topologyKey");
    key.require(causes, "can not be empty");
    if key.is_empty() {
        // As upstream, reports both violations of the name part.
        key.invalid(causes, "name part must be non-empty");
        key.invalid(causes, "name part must consist of alphanumeric characters, '-', '_' or '.'");
    } else if let Some(detail) = name::violation(NameRule::Qualified, key.text()) {
        key.invalid(causes, &detail);
    }
}
