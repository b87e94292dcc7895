//! Ways into a container or a Service. There are no containers here, so these ways lead nowhere.

use http::StatusCode;

use crate::{failure::Failure, verb::Asked};

/// Says so, once it is clear that the object is there.
pub(super) fn refuse(asked: Asked<'_>, way: &str) -> Failure {
    let held = match asked.held() {
        Ok(held) => held.object(asked.kind),
        Err(failure) => return failure,
    };
    if matches!(way, "attach" | "exec")
        && let Err(failure) = super::log::container(asked, &held)
    {
        return failure;
    }
    let mut failure =
        Failure::internal(format!("{way} of {} leads nowhere: containers do not run here", asked.kind.plural));
    failure.code = StatusCode::NOT_IMPLEMENTED.as_u16();
    failure.reason = "";
    failure
}
