//! Validates the spec of PodDisruptionBudgets: bounds, eviction policy and selector.

use super::{
    field::{Causes, Field},
    selector,
    workload::{percentage, validate_int_or_percent},
};
use crate::failure::Cause;

/// Validates the spec of a PodDisruptionBudget (upstream: `ValidatePodDisruptionBudgetSpec`).
pub(super) fn validate_disruption_budget(spec: &Field<'_>, causes: &mut Causes) {
    let (available, unavailable) = (spec.child("minAvailable"), spec.child("maxUnavailable"));
    if available.is_set() && unavailable.is_set() {
        // The error shows the spec as the JSON of the internal Go type.
        let spec_json = format!(
            "{{\"MinAvailable\":{},\"Selector\":{},\"MaxUnavailable\":{},\"UnhealthyPodEvictionPolicy\":{}}}",
            available.value,
            selector::selector_json(&spec.child("selector")),
            unavailable.value,
            spec.child("unhealthyPodEvictionPolicy").value,
        );
        let message = format!("Invalid value: {spec_json}: minAvailable and maxUnavailable cannot be both set");
        causes.push(Cause { reason: "FieldValueInvalid", message, field: spec.path.clone() });
    }
    for bound in [available, unavailable] {
        validate_int_or_percent(&bound, causes);
        if percentage(&bound).is_some_and(|percent| percent > 100) {
            bound.invalid(causes, "must not be greater than 100%");
        }
    }
    spec.child("unhealthyPodEvictionPolicy").optional_enum(causes, &["AlwaysAllow", "IfHealthyBudget"]);
    selector::validate_label_selector(&spec.child("selector"), causes);
}
