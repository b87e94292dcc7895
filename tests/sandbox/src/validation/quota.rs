//! Validates the limited resources of ResourceQuotas and the bounds of LimitRanges.

use super::{
    field::{Causes, Field},
    resources,
};
use crate::quantity::Quantity;

/// The resources that a quota limits and that have no domain, as upstream lists them (`standardQuotaResources`).
const STANDARD_RESOURCES: [&str; 20] = [
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
    "secrets",
    "services",
    "services.loadbalancers",
    "services.nodeports",
    "storage",
];

/// Validates the spec of a ResourceQuota: names and amounts of the limited resources.
pub(super) fn validate_quota(spec: &Field<'_>, causes: &mut Causes) {
    let hard = spec.child("hard");
    for (resource, _) in hard.entries() {
        let limit = hard.key(resource);
        let is_standard = STANDARD_RESOURCES.contains(&resource.as_str());
        if !is_standard && !resource.contains('/') && !resource.starts_with("requests.") {
            limit.invalid_part(causes, resource, "must be a standard resource type or fully qualified");
            limit.invalid_part(causes, resource, "must be a standard resource for quota");
        }
        resources::validate_non_negative_quantity(&limit, causes);
    }
}

/// Validates the spec of a LimitRange: minimum, default request, default and maximum must be in ascending order.
pub(super) fn validate_limit_range(spec: &Field<'_>, causes: &mut Causes) {
    for limit in spec.child("limits").items() {
        let bound = |name: &str| limit.child(name);
        // The field that the error refers to, and the two bounds that must be in ascending order.
        let ordered_bounds = [
            ("min", "min", "max"),
            ("defaultRequest", "min", "defaultRequest"),
            ("defaultRequest", "defaultRequest", "max"),
            ("default", "min", "default"),
            ("defaultRequest", "defaultRequest", "default"),
            ("default", "default", "max"),
        ];
        for (reported, lower, upper) in ordered_bounds {
            let upper_amounts = bound(upper);
            for (resource, lower_amount) in bound(lower).entries() {
                let upper_amount = upper_amounts.key(resource);
                let lower_text = lower_amount.as_str().unwrap_or_default();
                let quantities = (Quantity::parse(lower_text), Quantity::parse(upper_amount.text()));
                let (Ok(lower_quantity), Ok(upper_quantity)) = quantities else { continue };
                if lower_quantity > upper_quantity {
                    let (lower_name, upper_name) = (bound_name(lower), bound_name(upper));
                    let upper_text = upper_amount.text();
                    let detail =
                        format!("{lower_name} value {lower_text} is greater than {upper_name} value {upper_text}");
                    let field = bound(reported).key(resource);
                    // The error shows the lower amount even if it refers to another field, with one exception.
                    let is_exception = lower == "min" && upper == "defaultRequest";
                    let value = if is_exception { field.value } else { lower_amount };
                    Field { path: field.path, value }.invalid(causes, &detail);
                }
            }
        }
    }
}

/// Returns the name of a bound in messages.
fn bound_name(bound: &str) -> &str {
    if bound == "defaultRequest" { "default request" } else { bound }
}
