//! `Thing`: what a simulated external service stores under one id. `ServiceCall`: an entry in the log of the calls to the service.

use super::error::ServiceError;

/// A thing in a [`SimulatedService`](super::SimulatedService).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Thing<T> {
    /// The id, which the service has chosen.
    pub id: String,
    /// The token with which it was created; empty for a thing of another client.
    pub token: String,
    /// The state.
    pub value: T,
    /// Whether its deletion has begun.
    pub is_deleting: bool,
}

/// A call to a [`SimulatedService`](super::SimulatedService).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServiceCall {
    /// The function: `get`, `find`, `create`, `change` or `delete`.
    pub function: &'static str,
    /// The id of the thing, or the token for `find` and `create`.
    pub key: String,
    /// The error that the client received; `None` for a success.
    pub error: Option<ServiceError>,
}
