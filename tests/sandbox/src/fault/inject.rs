//! Injects faults into a call of a client to the API server.

use bytes::Bytes;
use http::{Request, Response};

use super::{
    Faults,
    body::{self, FaultyBody},
    connection::ConnectionFault,
    error_response::error_response,
    faulty_call::{CallFault, FaultBefore, FaultyCall},
    stale_read,
    timeline::is_watch,
};
use crate::{Sandbox, User};

/// Executes a call of the client with its faults, and records it. A life of the client lasts from a start of its process to the end of the
/// process; after the end of `life`, this never returns.
pub(crate) async fn call(
    sandbox: &Sandbox,
    user: User,
    (faults, life): (&Faults, u32),
    request: Request<Bytes>,
) -> Result<Response<FaultyBody>, ConnectionFault> {
    let uri = request.uri().path_and_query().map_or_else(|| request.uri().to_string(), ToString::to_string);
    let mut call = FaultyCall::begin((faults, life), (request.method().as_str(), uri), None).await;
    let response = execute(sandbox, user, &mut call, request).await;
    let code = response.as_ref().ok().map(|response| response.status().as_u16());
    // If the life has ended in the meantime, this never returns: the client gets no response.
    call.end(code).await;
    response
}

/// Executes a call on the sandbox with its faults. A fault may replace the response, delay it, or break the connection
/// before or after the execution. Never returns after a fault has stopped the process of the client.
async fn execute(
    sandbox: &Sandbox,
    user: User,
    call: &mut FaultyCall,
    request: Request<Bytes>,
) -> Result<Response<FaultyBody>, ConnectionFault> {
    while let Some(fault) = call.fault_before().await {
        let version = match fault {
            FaultBefore::Fails(fault) => return fail(fault),
            FaultBefore::Older { changes } => sandbox.version().saturating_sub(changes),
            // The version is that of the first sandbox of a process; another one may not have it yet.
            FaultBefore::AsOf { version } => version.min(sandbox.version()),
        };
        // A call other than a read, or a read of a version that is no longer stored, is executed without this fault.
        if let Some(older) = stale_read::read(sandbox, user.clone(), &request, version).await {
            return Ok(older.map(body::complete));
        }
    }
    let is_watch_request = is_watch(request.method().as_str(), request.uri().query().unwrap_or_default());
    let response = sandbox.call(user, request).await;
    if let Some(fault) = call.fault_after().await {
        return fail(fault);
    }
    let is_watch_response = is_watch_request && response.status().is_success();
    let (faults, life, number) = (call.faults.clone(), call.life, call.number());
    Ok(response
        .map(|body| if is_watch_response { body::watch(body, faults, life, number) } else { body::unmodified(body) }))
}

/// Returns the error response, or the error of the connection, that the client receives because of a fault.
fn fail(fault: CallFault) -> Result<Response<FaultyBody>, ConnectionFault> {
    match fault {
        CallFault::Refused { code, retry_after } => Ok(error_response(code, retry_after).map(body::complete)),
        CallFault::Broken(fault) => Err(fault),
    }
}
