//! Authorizes requests by the RBAC policy.

use super::{
    attributes::{About, Attributes},
    rbac::Decision,
};
use crate::{call::Call, failure::Failure, server::Server, user::User};

/// Refuses a request that RBAC does not allow.
pub(crate) fn authorize(server: &Server, call: &Call) -> Result<(), Failure> {
    if call.user.is_master() {
        return Ok(());
    }
    let attributes = Attributes::of(call);
    match decide(server, &attributes) {
        Decision::Allowed(_) => Ok(()),
        Decision::Denied(why) => Err(attributes.refusal(&why)),
    }
}

/// Returns the decision of the policy on a request.
pub(crate) fn decide(server: &Server, attributes: &Attributes<'_>) -> Decision {
    if attributes.user.is_master() {
        return Decision::Allowed(String::new());
    }
    server.policies.current(&server.store).decide(attributes)
}

/// Whether a user has a right.
pub(crate) fn may(server: &Server, user: &User, verb: &str, about: About<'_>) -> bool {
    matches!(decide(server, &Attributes { user, verb, about }), Decision::Allowed(_))
}
