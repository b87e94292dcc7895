//! Who may do what: RBAC.

use crate::{answer::Answer, call::Call, failure::Failure, sandbox::Server, user::User, verb::Asked};

pub(crate) use attributes::{About, Attributes};
pub(crate) use escalation::check as check_escalation;
pub(crate) use policy::{Decision, Policies};
pub(crate) use rule::quoted;

pub(crate) mod aggregation;
mod attributes;
mod escalation;
mod policy;
mod review;
mod rule;

/// Refuses a request that its user may not make.
pub(crate) fn authorize(server: &Server, call: &Call) -> Result<(), Failure> {
    if call.user.is_master() {
        return Ok(());
    }
    let asked = Attributes::of(call);
    match decide(server, &asked) {
        Decision::Allowed(_) => Ok(()),
        Decision::Denied(why) => Err(asked.refusal(&why)),
    }
}

/// What the policy says to a request.
pub(crate) fn decide(server: &Server, asked: &Attributes<'_>) -> Decision {
    if asked.user.is_master() {
        return Decision::Allowed(String::new());
    }
    server.policies.current(&server.store).decide(asked)
}

/// Whether a user may do something.
pub(crate) fn may(server: &Server, user: &User, verb: &str, about: About<'_>) -> bool {
    matches!(decide(server, &Attributes { user, verb, about }), Decision::Allowed(_))
}

/// Answers a review: kinds that are only asked.
pub(crate) fn review(asked: Asked<'_>) -> Result<Answer, Failure> {
    review::answer(asked)
}
