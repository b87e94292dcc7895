//! Defines the response of an API server: a status code and an object or a Status.

use serde::Deserialize;
use serde_json::Value;

use crate::error::{Error, Result};

/// A response: an object, or a Status with the reason of a failure.
#[derive(Debug, Deserialize)]
pub(super) struct ApiResponse {
    pub(super) code: u16,
    pub(super) body: Value,
}

impl ApiResponse {
    /// Returns the object. For a failure, returns an error with `problem` as its message and the message of the server as its
    /// cause.
    pub(super) fn object(self, problem: impl FnOnce() -> String) -> Result<Value> {
        if (200..300).contains(&self.code) {
            return Ok(self.body);
        }
        let message =
            self.body["message"].as_str().map_or_else(|| format!("the response was {}", self.code), str::to_owned);
        Err(Error::failed(problem()).because(message))
    }
}
