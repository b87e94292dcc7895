//! Defines `ExternalCalls`: calls of a client to external services, into which the client's fault plan can inject faults.

use std::time::Duration;

use http::Method;

use super::{
    ConnectionFault, Faults,
    faulty_call::{CallFault, FaultBefore, FaultyCall},
};

/// The first segment of the paths of calls to external services.
const PATH_SEGMENT: &str = "external";

/// The time after which a client gives up a call without a response.
const CLIENT_TIMEOUT: Duration = Duration::from_secs(30);

/// The calls that a client makes in one life to external services. They are numbered, disturbed and recorded together with its calls to
/// the API server, so that a [`Fault`](super::Fault) of the n-th call can be one of these. [`Faults::external_calls`] returns them.
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
        let target = format!("/{PATH_SEGMENT}/{service}/{rest}");
        let client = (&self.faults, self.life);
        let mut call = FaultyCall::begin(client, (method.as_str(), target), Some(CLIENT_TIMEOUT)).await;
        let result = execute(&mut call, work).await;
        let code = match &result {
            Ok((code, _)) | Err(ExternalFault::Refused { code, .. }) => Some(*code),
            Err(_) => None,
        };
        call.end(code).await;
        result.map(|(_, response)| response)
    }
}

/// Executes a call by `work`, with the faults before and after it; returns the error of the first fault that makes the call fail. Never
/// returns after a fault has stopped the process of the client.
async fn execute<A>(call: &mut FaultyCall, work: impl FnOnce() -> A) -> Result<A, ExternalFault> {
    while let Some(fault) = call.fault_before().await {
        match fault {
            FaultBefore::Fails(fault) => return Err(error(fault)),
            // An external service has no older versions of its state; these faults have no effect.
            FaultBefore::Older { .. } | FaultBefore::AsOf { .. } => {}
        }
    }
    let answer = work();
    match call.fault_after().await {
        Some(fault) => Err(error(fault)),
        None => Ok(answer),
    }
}

/// Converts a fault of a call into the error that the client receives.
fn error(fault: CallFault) -> ExternalFault {
    match fault {
        CallFault::Refused { code, retry_after } => ExternalFault::Refused { code, retry_after },
        CallFault::Broken(ConnectionFault::Reset) => ExternalFault::Reset,
        CallFault::Broken(ConnectionFault::TimedOut) => ExternalFault::TimedOut,
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;

    use super::*;
    use crate::fault::Fault;

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
