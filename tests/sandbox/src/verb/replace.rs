//! Implements the verb `update`: replaces an object, or creates it if the kind allows that.

use http::StatusCode;

use super::{
    body::Decoded,
    read,
    write::{self, Tracking, WriteError},
};
use crate::{
    failure::{Cause, Failure},
    object,
    request::ResourceRequest,
    response::ApiResponse,
    strategy,
};

/// Handles an update. Creates a missing object if the kind allows it; otherwise returns a 404 error. If another write comes in between, an
/// update with a resourceVersion fails, and an update without one is repeated.
pub(super) async fn replace(request: ResourceRequest<'_>) -> Result<ApiResponse, Failure> {
    crate::patch::check_manager(request.call, "UpdateOptions")?;
    let mut decoded = request.decode()?;
    if object::name(&decoded.object).is_empty() {
        return Err(request.missing_name());
    }
    request.set_name_from_path(&mut decoded.object)?;
    let has_version = object::version(&decoded.object).is_some();
    loop {
        let stored = match request.stored_object() {
            Err(_) if strategy::creates_on_update(request.kind) && request.subresource.is_none() => {
                return create(request, decoded).await;
            }
            stored => stored?,
        };
        if !has_version && !strategy::updates_unconditionally(request.kind) {
            return Err(version_required(request));
        }
        match write::update(request, &stored, decoded.object.clone(), Tracking::Update).await {
            Ok(written) => {
                let response = read::write_response(request, StatusCode::OK, written.state)?;
                return Ok(response.with_warnings(decoded.warnings).with_warnings(written.warnings));
            }
            Err(WriteError::Failure(failure, failure_warnings)) => {
                return Ok(ApiResponse::from(failure).with_warnings(decoded.warnings).with_warnings(failure_warnings));
            }
            Err(WriteError::Conflict) if has_version => return Err(Failure::stale(request.kind, request.name)),
            Err(WriteError::Conflict) => {}
        }
    }
}

/// Creates the object of an update for which no stored object exists. Returns a 409 error if the update contains a uid, since no object has
/// this uid.
async fn create(request: ResourceRequest<'_>, decoded: Decoded) -> Result<ApiResponse, Failure> {
    let uid = object::uid(&decoded.object);
    if !uid.is_empty() {
        let why = format!("Precondition failed: UID in precondition: {uid}, UID in object meta: ");
        return Err(Failure::conflict(request.kind, request.name, &why));
    }
    match write::create(request, decoded.object, Tracking::Update).await {
        Ok(written) => {
            let response = read::write_response(request, StatusCode::CREATED, written.state)?;
            Ok(response.with_warnings(decoded.warnings).with_warnings(written.warnings))
        }
        Err(WriteError::Failure(failure, failure_warnings)) => {
            Ok(ApiResponse::from(failure).with_warnings(decoded.warnings).with_warnings(failure_warnings))
        }
        Err(WriteError::Conflict) => Err(Failure::stale(request.kind, request.name)),
    }
}

/// Returns the 422 error for an update without a resourceVersion, for kinds whose updates require it.
fn version_required(request: ResourceRequest<'_>) -> Failure {
    let cause = Cause::invalid("metadata.resourceVersion", &0.into(), "must be specified for an update");
    Failure::invalid_resource(request.kind, request.name, &cause)
}
