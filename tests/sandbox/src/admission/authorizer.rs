//! Answers the authorizer calls of CEL expressions with the RBAC policy.

use super::{Review, expression::AccessCheck};
use crate::{
    authorization::{self, AccessTarget},
    user::User,
};

/// Returns whether RBAC allows the access of a check to the ServiceAccount that the check names, or else to the user of the request.
pub(super) fn allows(review: &Review<'_>, check: &AccessCheck) -> bool {
    let server = review.request.server;
    let target = match &check.path {
        Some(path) => AccessTarget::Path(path),
        None => AccessTarget::Resource {
            group: &check.group,
            namespace: &check.namespace,
            resource: &check.resource,
            subresource: &check.subresource,
            name: &check.name,
        },
    };
    match &check.account {
        Some((namespace, name)) => {
            authorization::may(server, &User::service_account(namespace, name, ""), &check.verb, target)
        }
        None => authorization::may(server, &review.request.call.user, &check.verb, target),
    }
}
