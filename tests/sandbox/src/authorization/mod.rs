//! Who may do what: RBAC.

use crate::{answer::Answer, call::Call, failure::Failure, sandbox::Server, verb::Asked};

/// Refuses a request that its user may not make.
pub(crate) fn authorize(server: &Server, call: &Call) -> Result<(), Failure> {
    let _ = (server, call);
    Ok(())
}

/// Answers a review: kinds that are only asked.
pub(crate) fn review(asked: Asked<'_>) -> Result<Answer, Failure> {
    let _ = asked;
    Err(Failure::method_not_allowed())
}
