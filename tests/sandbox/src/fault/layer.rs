//! From a call of the client to the sandbox, through the faults.

use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use tokio::time::sleep;

use super::{
    Fault, Faults,
    answer::refusal,
    body::{self, FaultyBody},
    older,
    timeline::is_watch,
};
use crate::{Sandbox, User};

/// A connection that is no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Broken {
    /// It was reset.
    #[error("connection reset by peer")]
    Reset,
    /// Nothing came for too long.
    #[error("operation timed out")]
    TimedOut,
}

/// A call of a life of the client.
pub(crate) async fn call(
    sandbox: &Sandbox,
    user: User,
    (faults, life): (&Faults, u32),
    request: Request<Bytes>,
) -> Result<Response<FaultyBody>, Broken> {
    if !faults.state_of_life(life) {
        std::future::pending::<()>().await;
    }
    let mut begun = faults.ask(request.method(), request.uri());
    if let Some(deed) = begun.deed.take() {
        deed().await;
    }
    let wrong = Wrong { faults, life, number: begun.number, plan: std::mem::take(&mut begun.faults) };
    let answer = answer(sandbox, user, wrong, request).await;
    // Who was stopped meanwhile hears nothing.
    if !faults.state_of_life(life) {
        std::future::pending::<()>().await;
    }
    faults.answered(&begun, answer.as_ref().ok().map(|answer| answer.status().as_u16()));
    answer
}

/// What goes wrong with a call.
struct Wrong<'a> {
    faults: &'a Faults,
    life: u32,
    /// Of the call.
    number: u64,
    plan: Vec<Fault>,
}

async fn answer(
    sandbox: &Sandbox,
    user: User,
    wrong: Wrong<'_>,
    request: Request<Bytes>,
) -> Result<Response<FaultyBody>, Broken> {
    let Wrong { faults, life, number, plan } = wrong;
    let whole = |response: Response<Bytes>| Ok(response.map(body::whole));
    let mut after = Vec::new();
    for fault in plan {
        match fault {
            Fault::StopBefore => {
                faults.stop(life);
                std::future::pending::<()>().await;
            }
            Fault::Refuse { code, retry_after } => return whole(refusal(code, retry_after)),
            Fault::CutBefore => return Err(Broken::Reset),
            Fault::Wait { seconds } => sleep(Duration::from_secs(seconds.into())).await,
            Fault::TimeOut { seconds, done: false } => {
                sleep(Duration::from_secs(seconds.into())).await;
                return Err(Broken::TimedOut);
            }
            Fault::Silence { done: false } => std::future::pending().await,
            Fault::Older { changes } => {
                let version = sandbox.version().saturating_sub(changes);
                if let Some(older) = older::read(sandbox, user.clone(), &request, version).await {
                    return whole(older);
                }
            }
            Fault::AsOf { version } => {
                if let Some(older) = older::read(sandbox, user.clone(), &request, version).await {
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
                return Err(Broken::TimedOut);
            }
            _ => return Err(Broken::Reset),
        }
    }
    let watched = watches && response.status().is_success();
    let faults = faults.clone();
    Ok(response.map(|body| if watched { body::watch(body, faults, life, number) } else { body::through(body) }))
}
