//! Validates the resource requests and limits of containers.

use super::{
    field::{Causes, Field},
    name::{self, NameRule},
};
use crate::quantity::Quantity;

/// The resources of containers that have no domain.
const STANDARD_RESOURCES: [&str; 3] = ["cpu", "memory", "ephemeral-storage"];

/// Validates the resource requests and limits of a container; no request exceeds its limit (upstream:
/// `ValidateContainerResourceRequirements`).
pub(super) fn validate_requirements(resources: &Field<'_>, causes: &mut Causes) {
    let (limits, requests) = (resources.child("limits"), resources.child("requests"));
    for (resource, amount) in limits.entries() {
        let amount_field = Field { path: format!("{}[{resource}]", limits.path), value: amount };
        validate_resource_name(&amount_field, resource, causes);
        validate_non_negative_quantity(&amount_field, causes);
    }
    for (resource, amount) in requests.entries() {
        let amount_field = Field { path: format!("{}[{resource}]", requests.path), value: amount };
        validate_resource_name(&amount_field, resource, causes);
        validate_non_negative_quantity(&amount_field, causes);
        let limit = limits.map().and_then(|limits| limits.get(resource));
        let (Some(limit), Ok(request)) =
            (limit.and_then(|limit| Quantity::parse(limit.as_str()?).ok()), Quantity::parse(amount_field.text()))
        else {
            continue;
        };
        // As upstream, the path of the error is `requests`, without the resource.
        if request > limit {
            let detail = format!(
                "must be less than or equal to {resource} limit of {}",
                Field { path: String::new(), value: &limits.value[resource] }.text()
            );
            requests.invalid_part(causes, amount_field.text(), &detail);
        }
    }
}

/// Validates that a quantity is not negative. A text that is no quantity is accepted here.
pub(super) fn validate_non_negative_quantity(amount: &Field<'_>, causes: &mut Causes) {
    if Quantity::parse(amount.text()).is_ok_and(|amount| amount.is_negative()) {
        amount.invalid(causes, "must be greater than or equal to 0");
    }
}

/// Validates that a resource of a container is a standard one or has a domain.
fn validate_resource_name(field: &Field<'_>, resource: &str, causes: &mut Causes) {
    if let Some(detail) = name::violation(NameRule::Qualified, resource) {
        field.invalid_part(causes, resource, &detail);
    } else if !resource.contains('/') && !STANDARD_RESOURCES.contains(&resource) && !resource.starts_with("hugepages-")
    {
        field.invalid_part(causes, resource, "must be a standard resource type or fully qualified");
        field.invalid_part(causes, resource, "must be a standard resource for containers");
    }
}
