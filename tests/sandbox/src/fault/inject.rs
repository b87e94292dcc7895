//! Injects faults into a call of a client.

use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use tokio::time::sleep;

use super::{
    Fault, Faults,
    body::{self, FaultyBody},
    connection::ConnectionFault,
    error_response::refusal,
    stale_read,
    timeline::is_watch,
};
use crate::{Sandbox, User};

/// Executes a call of a life of the client, with its faults.
pub(crate) async fn call(
    sandbox: &Sandbox,
    user: User,
    (faults, life): (&Faults, u32),
    request: Request<Bytes>,
) -> Result<Response<FaultyBody>, ConnectionFault> {
    if !faults.state_of_life(life) {
        std::future::pending::<()>().await;
    }
    let mut open_call = faults.begin_call(request.method(), request.uri());
    if let Some(deed) = open_call.deed.take() {
        deed().await;
    }
    let injection = Injection { faults, life, number: open_call.number, plan: std::mem::take(&mut open_call.faults) };
    let answer = answer(sandbox, user, injection, request).await;
    // A client that was stopped in the meantime gets no response.
    if !faults.state_of_life(life) {
        std::future::pending::<()>().await;
    }
    faults.end_call(&open_call, answer.as_ref().ok().map(|answer| answer.status().as_u16()));
    answer
}

/// The faults of a call.
struct Injection<'a> {
    faults: &'a Faults,
    life: u32,
    /// The number of the call.
    number: u64,
    plan: Vec<Fault>,
}

async fn answer(
    sandbox: &Sandbox,
    user: User,
    injection: Injection<'_>,
    request: Request<Bytes>,
) -> Result<Response<FaultyBody>, ConnectionFault> {
    let Injection { faults, life, number, plan } = injection;
    let whole = |response: Response<Bytes>| Ok(response.map(body::whole));
    let mut after = Vec::new();
    for fault in plan {
        match fault {
            Fault::StopBefore => {
                faults.stop(life);
                std::future::pending::<()>().await;
            }
            Fault::Refuse { code, retry_after } => return whole(refusal(code, retry_after)),
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
                    return whole(older);
                }
            }
            Fault::AsOf { version } => {
                if let Some(older) = stale_read::read(sandbox, user.clone(), &request, version).await {
                    return whole(older);
                }
            }
            Fault::Jump { seconds } => faults.jump(seconds),
            Fault::StopAfter
            | Fault::Deny { .. }
            | Fault::CutAfter
            | Fault::TimeOut { done: true, .. }
            | Fault::Silence { done: true } => after.push(fault),
        }
    }
    let watches = is_watch(request.method().as_str(), request.uri().query().unwrap_or_default());
    let response = sandbox.call(user, request).await;
    for fault in after {
        match fault {
            Fault::StopAfter => {
                faults.stop(life);
                std::future::pending::<()>().await;
            }
            Fault::Silence { .. } => std::future::pending().await,
            Fault::Deny { code } => return whole(refusal(code, None)),
            Fault::TimeOut { seconds, .. } => {
                sleep(Duration::from_secs(seconds.into())).await;
                return Err(ConnectionFault::TimedOut);
            }
            _ => return Err(ConnectionFault::Reset),
        }
    }
    let watched = watches && response.status().is_success();
    let faults = faults.clone();
    Ok(response.map(|body| if watched { body::watch(body, faults, life, number) } else { body::through(body) }))
}
