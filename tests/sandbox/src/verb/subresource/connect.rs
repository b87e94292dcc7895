//! Refuses `exec`, `attach`, `portforward` and `proxy`, because no containers run.

use http::StatusCode;

use crate::{failure::Failure, request::ResourceRequest};

/// Returns the error, after checking that the object exists.
pub(super) fn refuse(request: ResourceRequest<'_>, way: &str) -> Failure {
    let held = match request.stored_object() {
        Ok(held) => held.object(request.kind),
        Err(failure) => return failure,
    };
    if matches!(way, "attach" | "exec")
        && let Err(failure) = super::log::container(request, &held)
    {
        return failure;
    }
    let mut failure =
        Failure::internal(format!("{way} of {} leads nowhere: containers do not run here", request.kind.plural));
    failure.code = StatusCode::NOT_IMPLEMENTED.as_u16();
    failure.reason = "";
    failure
}
