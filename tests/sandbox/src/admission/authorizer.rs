//! Answers the authorizer calls of CEL expressions with the RBAC policy.

use super::{Review, expression::Question};
use crate::{
    authorization::{self, About},
    user::User,
};

/// Whether RBAC allows a check for the user of the request or for a ServiceAccount.
pub(super) fn allows(review: &Review<'_>, question: &Question) -> bool {
    let server = review.request.server;
    let about = match &question.path {
        Some(path) => About::Path(path),
        None => About::Resource {
            group: &question.group,
            namespace: &question.namespace,
            resource: &question.resource,
            subresource: &question.subresource,
            name: &question.name,
        },
    };
    match &question.account {
        Some((namespace, name)) => {
            authorization::may(server, &User::service_account(namespace, name, ""), &question.verb, about)
        }
        None => authorization::may(server, &review.request.call.user, &question.verb, about),
    }
}
