//! Validates resource requests and limits.

use super::{
    at::{At, Causes},
    name::{self, NameRule},
};
use crate::quantity::Quantity;

/// Resources of containers that are Kubernetes' own.
const OWN: [&str; 3] = ["cpu", "memory", "ephemeral-storage"];

/// Requests and limits of a container.
pub(super) fn requirements(resources: &At<'_>, causes: &mut Causes) {
    let (limits, requests) = (resources.child("limits"), resources.child("requests"));
    for (resource, amount) in limits.entries() {
        let at = At { path: format!("{}[{resource}]", limits.path), value: amount };
        resource_name(&at, resource, causes);
        not_negative(&at, causes);
    }
    for (resource, amount) in requests.entries() {
        let at = At { path: format!("{}[{resource}]", requests.path), value: amount };
        resource_name(&at, resource, causes);
        not_negative(&at, causes);
        let limit = limits.map().and_then(|limits| limits.get(resource));
        let (Some(limit), Ok(request)) = (limit.and_then(|limit| parse(limit.as_str()?)), Quantity::parse(at.text()))
        else {
            continue;
        };
        if request > limit {
            let why = format!(
                "must be less than or equal to {resource} limit of {}",
                At { path: String::new(), value: &limits.value[resource] }.text()
            );
            requests.invalid_part(causes, at.text(), &why);
        }
    }
}

fn parse(text: &str) -> Option<Quantity> {
    Quantity::parse(text).ok()
}

pub(super) fn not_negative(amount: &At<'_>, causes: &mut Causes) {
    if Quantity::parse(amount.text()).is_ok_and(|amount| amount.is_negative()) {
        amount.invalid(causes, "must be greater than or equal to 0");
    }
}

/// A resource is one of Kubernetes' or has a domain.
fn resource_name(at: &At<'_>, resource: &str, causes: &mut Causes) {
    if let Some(why) = name::fault(NameRule::Qualified, resource) {
        at.invalid_part(causes, resource, &why);
    } else if !resource.contains('/') && !OWN.contains(&resource) && !resource.starts_with("hugepages-") {
        at.invalid_part(causes, resource, "must be a standard resource type or fully qualified");
        at.invalid_part(causes, resource, "must be a standard resource for containers");
    }
}
