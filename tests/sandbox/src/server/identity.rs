//! Who stands behind a token.

use http::{HeaderMap, header};

use crate::{User, failure::Failure, sandbox::Server};

impl Server {
    /// The user that a request's headers speak for; without credentials it is nobody in particular.
    pub(crate) fn authenticate(&self, headers: &HeaderMap) -> Result<User, Failure> {
        let Some(written) = headers.get(header::AUTHORIZATION) else { return Ok(User::anonymous()) };
        let token = written.to_str().ok().and_then(|written| written.strip_prefix("Bearer "));
        let user = token.and_then(|token| self.options.tokens.get(token.trim()));
        user.cloned().ok_or_else(Failure::unauthorized)
    }
}
