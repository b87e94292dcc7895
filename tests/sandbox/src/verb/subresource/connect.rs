//! Rejects `exec`, `attach`, `portforward` and `proxy`, because the sandbox runs no containers.

use http::StatusCode;

use crate::{failure::Failure, request::ResourceRequest};

/// Returns the 501 error for a subresource that opens a connection, such as `exec` or `proxy`. Returns another error if the object or the
/// requested container does not exist.
pub(super) fn unsupported_error(request: ResourceRequest<'_>, subresource: &str) -> Failure {
    let object = match request.stored_object() {
        Ok(object) => object.object(request.kind),
        Err(failure) => return failure,
    };
    if matches!(subresource, "attach" | "exec")
        && let Err(failure) = super::log::container(request, &object)
    {
        return failure;
    }
    let mut failure = Failure::internal(format!(
        "{subresource} of {} leads nowhere: containers do not run here",
        request.kind.plural
    ));
    failure.code = StatusCode::NOT_IMPLEMENTED.as_u16();
    failure.reason = "";
    failure
}
