//! Validates ResourceQuotas and LimitRanges.

use super::{
    at::{At, Causes},
    resources,
};
use crate::quantity::Quantity;

/// What can be counted without a domain.
const COUNTED: [&str; 15] = [
    "configmaps",
    "cpu",
    "ephemeral-storage",
    "limits.cpu",
    "limits.ephemeral-storage",
    "limits.memory",
    "memory",
    "persistentvolumeclaims",
    "pods",
    "replicationcontrollers",
    "requests.cpu",
    "requests.ephemeral-storage",
    "requests.memory",
    "requests.storage",
    "resourcequotas",
];
const COUNTED_TOO: [&str; 5] = ["secrets", "services", "services.loadbalancers", "services.nodeports", "storage"];

pub(super) fn quota(spec: &At<'_>, causes: &mut Causes) {
    let hard = spec.child("hard");
    for (resource, _) in hard.entries() {
        let at = hard.key(resource);
        let known = COUNTED.contains(&resource.as_str()) || COUNTED_TOO.contains(&resource.as_str());
        if !known && !resource.contains('/') && !resource.starts_with("requests.") {
            at.invalid_part(causes, resource, "must be a standard resource type or fully qualified");
            at.invalid_part(causes, resource, "must be a standard resource for quota");
        }
        resources::not_negative(&at, causes);
    }
}

/// No default lies beyond what is allowed.
pub(super) fn limits(spec: &At<'_>, causes: &mut Causes) {
    for limit in spec.child("limits").items() {
        let bound = |name: &str| limit.child(name);
        let ordered = [
            ("min", "min", "max"),
            ("defaultRequest", "min", "defaultRequest"),
            ("defaultRequest", "defaultRequest", "max"),
            ("default", "min", "default"),
            ("defaultRequest", "defaultRequest", "default"),
            ("default", "default", "max"),
        ];
        for (told, less, more) in ordered {
            let (low, high) = (bound(less), bound(more));
            for (resource, amount) in low.entries() {
                let (low, high) = (Quantity::parse(amount.as_str().unwrap_or_default()), high.key(resource));
                let (Ok(low), Ok(bound_above)) = (low, Quantity::parse(high.text())) else { continue };
                if low > bound_above {
                    let (low, high) = (amount.as_str().unwrap_or_default(), high.text());
                    let why = format!("{} value {low} is greater than {} value {high}", words(less), words(more));
                    let of = bound(told);
                    // The smaller one is shown, wherever it is told.
                    let shown = if less == "min" && more == "defaultRequest" { of.key(resource).value } else { amount };
                    At { path: of.key(resource).path, value: shown }.invalid(causes, &why);
                }
            }
        }
    }
}

/// How refusals call a bound.
fn words(bound: &str) -> &str {
    if bound == "defaultRequest" { "default request" } else { bound }
}
