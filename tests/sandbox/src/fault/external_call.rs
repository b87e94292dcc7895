//! Defines `ExternalCalls`: calls of a client to external services, with the faults of its plan.

use std::{future::pending, time::Duration};

use http::Method;
use tokio::time::sleep;

use super::{Fault, Faults};

/// The first segment of the paths of calls to external services.
const PATH_SEGMENT: &str = "external";

/// The time after which a client gives up a call without a response.
const CLIENT_TIMEOUT: Duration = Duration::from_secs(30);

/// The calls that a client makes in one life to external services. They are numbered, disturbed and recorded together with its calls to
/// the API server, so that a [`Fault`] of the n-th call can be one of these. [`Faults::external_calls`] returns them.
#[derive(Clone, Debug)]
pub struct ExternalCalls {
    faults: Faults,
    life: u32,
}

/// The error of a call to an external service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ExternalFault {
    /// The service answered with an error.
    #[error("the service answered with {code}")]
    Refused {
        /// The HTTP status code.
        code: u16,
        /// The `Retry-After` header, in seconds.
        retry_after: Option<u32>,
    },
    /// The connection was reset.
    #[error("connection reset by peer")]
    Reset,
    /// The client gave up the call.
    #[error("operation timed out")]
    TimedOut,
}

impl Faults {
    /// Returns the calls to external services that the current life of the client makes. Begins the first life if there is none.
    #[must_use]
    pub fn external_calls(&self) -> ExternalCalls {
        let life = match self.life() {
            0 => self.begin(),
            life => life,
        };
        ExternalCalls { faults: self.clone(), life }
    }
}

impl ExternalCalls {
    /// Makes a call with the faults of the plan, and records it under the path `/external/SERVICE/REST`. `work` executes it and returns
    /// the HTTP status code with the response. Never returns after the life has ended.
    ///
    /// # Errors
    /// The error of an injected fault. The call may have been executed nevertheless.
    pub async fn call<R>(
        &self,
        method: &Method,
        (service, rest): (&str, &str),
        work: impl FnOnce() -> (u16, R),
    ) -> Result<R, ExternalFault> {
        let Self { faults, life } = self;
        self.await_stop_if_ended().await;
        let mut open_call = faults.begin_call(method.as_str(), format!("/{PATH_SEGMENT}/{service}/{rest}"));
        if let Some(action) = open_call.action.take() {
            action().await;
        }
        let plan = std::mem::take(&mut open_call.faults);
        let result = execute((faults, *life), plan, work).await;
        self.await_stop_if_ended().await;
        let code = match &result {
            Ok((code, _)) | Err(ExternalFault::Refused { code, .. }) => Some(*code),
            Err(_) => None,
        };
        faults.end_call(&open_call, code);
        result.map(|(_, response)| response)
    }

    /// Waits forever if the life has ended.
    async fn await_stop_if_ended(&self) {
        if !self.faults.is_running(self.life) {
            pending::<()>().await;
        }
    }
}

/// Executes a call with its faults. Never returns after a stop.
async fn execute<A>(
    (faults, life): (&Faults, u32),
    plan: Vec<Fault>,
    work: impl FnOnce() -> A,
) -> Result<A, ExternalFault> {
    let mut faults_after = Vec::new();
    for fault in plan {
        match fault {
            Fault::StopBefore => {
                faults.stop(life);
                pending::<()>().await;
            }
            Fault::Refuse { code, retry_after } => return Err(ExternalFault::Refused { code, retry_after }),
            Fault::CutBefore => return Err(ExternalFault::Reset),
            Fault::Wait { seconds } => sleep(Duration::from_secs(seconds.into())).await,
            Fault::TimeOut { seconds, done: false } => return time_out(Duration::from_secs(seconds.into())).await,
            Fault::Silence { done: false } => return time_out(CLIENT_TIMEOUT).await,
            Fault::Jump { seconds } => faults.jump(seconds),
            // An external service has no versions.
            Fault::Older { .. } | Fault::AsOf { .. } => {}
            Fault::StopAfter
            | Fault::Deny { .. }
            | Fault::CutAfter
            | Fault::TimeOut { done: true, .. }
            | Fault::Silence { done: true } => faults_after.push(fault),
        }
    }
    let answer = work();
    for fault in faults_after {
        match fault {
            Fault::StopAfter => {
                faults.stop(life);
                pending::<()>().await;
            }
            Fault::Deny { code } => return Err(ExternalFault::Refused { code, retry_after: None }),
            Fault::TimeOut { seconds, .. } => return time_out(Duration::from_secs(seconds.into())).await,
            Fault::Silence { .. } => return time_out(CLIENT_TIMEOUT).await,
            _ => return Err(ExternalFault::Reset),
        }
    }
    Ok(answer)
}

/// Lets a client wait for a response, in vain.
async fn time_out<A>(time: Duration) -> Result<A, ExternalFault> {
    sleep(time).await;
    Err(ExternalFault::TimedOut)
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_fault_after_the_work_hides_the_response_and_one_before_it_prevents_the_work() {
        let faults = Faults::none()
            .at_call(1, Fault::CutBefore)
            .at_call(2, Fault::CutAfter)
            .at_call(3, Fault::Silence { done: true });
        let (calls, mut done) = (faults.external_calls(), 0);
        let mut errors = Vec::new();
        for _ in 0..4 {
            let result = calls.call(&Method::POST, ("dns", "a"), || {
                done += 1;
                (201, done)
            });
            errors.push(result.await.err());
        }
        let (reset, timed_out) = (Some(ExternalFault::Reset), Some(ExternalFault::TimedOut));
        assert_eq!(errors, [reset, reset, timed_out, None]);
        assert_eq!(done, 3);
        let timeline = faults.timeline();
        let recorded: Vec<_> = timeline.calls().map(|call| (call.uri.as_str(), call.code)).collect();
        assert_eq!(recorded[..2], [("/external/dns/a", None), ("/external/dns/a", None)]);
        assert_eq!(recorded[3], ("/external/dns/a", Some(201)));
    }

    #[tokio::test]
    async fn a_stopped_client_gets_no_response_of_an_external_service() {
        let faults = Faults::none().at_call(1, Fault::StopAfter);
        let (calls, mut is_done) = (faults.external_calls(), false);
        let stopped = calls.call(&Method::POST, ("dns", "a"), || {
            is_done = true;
            (201, ())
        });
        assert_eq!(stopped.now_or_never(), None);
        assert!(is_done && faults.is_stopped());
        assert_eq!(calls.call(&Method::GET, ("dns", "a"), || (200, ())).now_or_never(), None);
    }
}
