//! Injects faults into a call of a client.

use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use tokio::time::sleep;

use super::{
    Fault, Faults,
    body::{self, FaultyBody},
    connection::ConnectionFault,
    error_response::error_response,
    stale_read,
    timeline::is_watch,
};
use crate::{Sandbox, User};

/// Executes a call in a life of the client, with its faults, and records it. Never returns after that life has ended.
pub(crate) async fn call(
    sandbox: &Sandbox,
    user: User,
    (faults, life): (&Faults, u32),
    request: Request<Bytes>,
) -> Result<Response<FaultyBody>, ConnectionFault> {
    if !faults.is_running(life) {
        std::future::pending::<()>().await;
    }
    let uri = request.uri().path_and_query().map_or_else(|| request.uri().to_string(), ToString::to_string);
    let mut open_call = faults.begin_call(request.method().as_str(), uri);
    if let Some(action) = open_call.action.take() {
        action().await;
    }
    let injection = Injection { faults, life, number: open_call.number, plan: std::mem::take(&mut open_call.faults) };
    let response = execute(sandbox, user, injection, request).await;
    // A client that was stopped in the meantime gets no response.
    if !faults.is_running(life) {
        std::future::pending::<()>().await;
    }
    faults.end_call(&open_call, response.as_ref().ok().map(|response| response.status().as_u16()));
    response
}

/// The faults of a call.
struct Injection<'a> {
    faults: &'a Faults,
    life: u32,
    /// The number of the call.
    number: u64,
    plan: Vec<Fault>,
}

/// Executes a call on the sandbox with its faults. A fault may replace the response, delay it, or break the connection
/// before or after the execution. Never returns after a stop.
async fn execute(
    sandbox: &Sandbox,
    user: User,
    injection: Injection<'_>,
    request: Request<Bytes>,
) -> Result<Response<FaultyBody>, ConnectionFault> {
    let Injection { faults, life, number, plan } = injection;
    let complete = |response: Response<Bytes>| Ok(response.map(body::complete));
    let mut faults_after = Vec::new();
    for fault in plan {
        match fault {
            Fault::StopBefore => {
                faults.stop(life);
                std::future::pending::<()>().await;
            }
            Fault::Refuse { code, retry_after } => return complete(error_response(code, retry_after)),
            Fault::CutBefore => return Err(ConnectionFault::Reset),
            Fault::Wait { seconds } => sleep(Duration::from_secs(seconds.into())).await,
            Fault::TimeOut { seconds, done: false } => {
                sleep(Duration::from_secs(seconds.into())).await;
                return Err(ConnectionFault::TimedOut);
            }
            Fault::Silence { done: false } => std::future::pending().await,
            Fault::Older { changes } => {
                let version = sandbox.version().saturating_sub(changes);
                if let Some(older) = stale_read::read(sandbox, user.clone(), &request, version).await {
                    return complete(older);
                }
            }
            Fault::AsOf { version } => {
                // The version is that of the first sandbox of a process; another one may not have it yet.
                let version = version.min(sandbox.version());
                if let Some(older) = stale_read::read(sandbox, user.clone(), &request, version).await {
                    return complete(older);
                }
            }
            Fault::Jump { seconds } => faults.jump(seconds),
            Fault::StopAfter
            | Fault::Deny { .. }
            | Fault::CutAfter
            | Fault::TimeOut { done: true, .. }
            | Fault::Silence { done: true } => faults_after.push(fault),
        }
    }
    let is_watch_request = is_watch(request.method().as_str(), request.uri().query().unwrap_or_default());
    let response = sandbox.call(user, request).await;
    for fault in faults_after {
        match fault {
            Fault::StopAfter => {
                faults.stop(life);
                std::future::pending::<()>().await;
            }
            Fault::Silence { .. } => std::future::pending().await,
            Fault::Deny { code } => return complete(error_response(code, None)),
            Fault::TimeOut { seconds, .. } => {
                sleep(Duration::from_secs(seconds.into())).await;
                return Err(ConnectionFault::TimedOut);
            }
            _ => return Err(ConnectionFault::Reset),
        }
    }
    let is_watch_response = is_watch_request && response.status().is_success();
    let faults = faults.clone();
    Ok(response
        .map(|body| if is_watch_response { body::watch(body, faults, life, number) } else { body::unmodified(body) }))
}
