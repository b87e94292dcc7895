//! Validates PodDisruptionBudgets.

use super::{
    at::{At, Causes},
    selector,
    workload::{amount, percent},
};
use crate::failure::Cause;

pub(super) fn budget(spec: &At<'_>, causes: &mut Causes) {
    let (available, unavailable) = (spec.child("minAvailable"), spec.child("maxUnavailable"));
    if available.is_set() && unavailable.is_set() {
        let shown = format!(
            "{{\"MinAvailable\":{},\"Selector\":{},\"MaxUnavailable\":{},\"UnhealthyPodEvictionPolicy\":{}}}",
            available.value,
            selector::go_syntax(&spec.child("selector")),
            unavailable.value,
            spec.child("unhealthyPodEvictionPolicy").value,
        );
        let message = format!("Invalid value: {shown}: minAvailable and maxUnavailable cannot be both set");
        causes.push(Cause { reason: "FieldValueInvalid", message, field: spec.path.clone() });
    }
    for bound in [available, unavailable] {
        amount(&bound, causes);
        if percent(&bound).is_some_and(|percent| percent > 100) {
            bound.invalid(causes, "must not be greater than 100%");
        }
    }
    spec.child("unhealthyPodEvictionPolicy").if_one_of(causes, &["AlwaysAllow", "IfHealthyBudget"]);
    selector::selector(&spec.child("selector"), causes);
}
