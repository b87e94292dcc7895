//! `ServiceError`: the errors of calls to a simulated service.

use std::time::Duration;

use opgen_sandbox::fault::ExternalFault;

/// The error of a call to a [`SimulatedService`](super::SimulatedService).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ServiceError {
    /// There is no thing with the id.
    NotFound,
    /// The service admits no further thing.
    QuotaExceeded,
    /// The service rejects the call because of too many requests.
    Throttled {
        /// The time after which the service accepts calls again.
        retry_after: Option<Duration>,
    },
    /// The service answered with an error. The call may have been executed nevertheless.
    Failed {
        /// The HTTP status code.
        code: u16,
    },
    /// The connection broke. The call may have been executed nevertheless.
    Disconnected,
    /// The client gave up the call. The call may have been executed nevertheless.
    TimedOut,
}

impl std::fmt::Display for ServiceError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NotFound => f.write_str("not found"),
            Self::QuotaExceeded => f.write_str("exceeded quota"),
            Self::Throttled { retry_after: None } => f.write_str("too many requests"),
            Self::Throttled { retry_after: Some(time) } => {
                write!(f, "too many requests, retry after {} s", time.as_secs())
            }
            Self::Failed { code } => write!(f, "the service answered with {code}"),
            Self::Disconnected => f.write_str("connection reset by peer"),
            Self::TimedOut => f.write_str("operation timed out"),
        }
    }
}

impl std::error::Error for ServiceError {}

impl From<ExternalFault> for ServiceError {
    /// Converts an injected fault of a call to the error that the client receives.
    fn from(fault: ExternalFault) -> Self {
        match fault {
            ExternalFault::Refused { code: 429, retry_after } => {
                Self::Throttled { retry_after: retry_after.map(|seconds| Duration::from_secs(seconds.into())) }
            }
            ExternalFault::Refused { code, .. } => Self::Failed { code },
            ExternalFault::TimedOut => Self::TimedOut,
            _ => Self::Disconnected,
        }
    }
}

impl ServiceError {
    /// Returns the HTTP status code of an error of the service itself: 403 for a creation over the quota, and 404 for a thing that does
    /// not exist. The other errors come from injected faults, which have their own codes.
    pub(super) fn code(&self) -> u16 {
        if *self == Self::QuotaExceeded { 403 } else { 404 }
    }
}
