//! Authorizes requests by the RBAC policy.

use super::{
    attributes::{AccessTarget, Attributes},
    rbac::Decision,
};
use crate::{call::Call, failure::Failure, server::Server, user::User};

/// Fails with a 403 error if RBAC does not allow the request.
pub(crate) fn authorize(server: &Server, call: &Call) -> Result<(), Failure> {
    if call.user.is_master() {
        return Ok(());
    }
    let attributes = Attributes::of_call(call);
    match decide(server, &attributes) {
        Decision::Allowed(_) => Ok(()),
        Decision::Denied(why) => Err(attributes.forbidden(&why)),
    }
}

/// Returns the decision of the RBAC policy on a request. Members of `system:masters` are always allowed.
pub(crate) fn decide(server: &Server, attributes: &Attributes<'_>) -> Decision {
    if attributes.user.is_master() {
        return Decision::Allowed(String::new());
    }
    server.policies.current(&server.store).decide(attributes)
}

/// Returns whether RBAC allows a user to use a verb on a resource or path.
pub(crate) fn may(server: &Server, user: &User, verb: &str, target: AccessTarget<'_>) -> bool {
    matches!(decide(server, &Attributes { user, verb, target }), Decision::Allowed(_))
}
