//! PodDisruptionBudgets.

use super::{
    at::{At, Causes},
    selector,
    workload::{amount, percent},
};

pub(super) fn budget(spec: &At<'_>, causes: &mut Causes) {
    let (available, unavailable) = (spec.child("minAvailable"), spec.child("maxUnavailable"));
    if available.is_set() && unavailable.is_set() {
        spec.invalid(causes, "minAvailable and maxUnavailable cannot be both set");
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
