//! Implements the verb `create`: creates an object from the body of a request.

use http::StatusCode;

use super::{
    read,
    write::{self, Tracking, WriteError},
};
use crate::{failure::Failure, object, request::ResourceRequest, response::ApiResponse};

/// Returns a 403 error if the CRD of a custom kind is terminating, because no custom resources may be created then.
pub(super) fn reject_terminating(request: ResourceRequest<'_>, name: &str) -> Result<(), Failure> {
    if !request.kind.custom().is_some_and(|custom| custom.terminating) {
        return Ok(());
    }
    let why = "create not allowed while custom resource definition is terminating";
    Err(Failure::forbidden(request.kind, name, why))
}

/// Handles a create: decodes and names the object, writes it, and returns it with the warnings. Returns a 409 error if the object exists. A
/// review, such as a SubjectAccessReview, is answered and not stored.
pub(super) async fn create(request: ResourceRequest<'_>) -> Result<ApiResponse, Failure> {
    if !request.kind.is_stored() {
        return crate::authorization::review(request);
    }
    crate::patch::check_manager(request.call, "CreateOptions")?;
    let mut decoded = request.decode()?;
    if object::version(&decoded.object).is_some() {
        return Err(Failure::internal_without_reason("resourceVersion should not be set on objects to be created"));
    }
    request.set_name_from_path(&mut decoded.object)?;
    reject_terminating(request, object::name(&decoded.object))?;
    let written = match write::create(request, decoded.object, Tracking::Update).await {
        Ok(written) => written,
        Err(WriteError::Failure(failure, failure_warnings)) => {
            return Ok(ApiResponse::from(failure).with_warnings(decoded.warnings).with_warnings(failure_warnings));
        }
        // Only an update ends with this conflict: `write::create` returns the 409 as a failure.
        Err(WriteError::Conflict) => return Err(Failure::internal("the object was created concurrently")),
    };
    let response = read::write_response(request, StatusCode::CREATED, written.state)?;
    Ok(response.with_warnings(decoded.warnings).with_warnings(written.warnings))
}
