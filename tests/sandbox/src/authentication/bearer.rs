//! Authenticates requests by bearer token.

use http::{HeaderMap, header};

use super::{
    credentials::ISSUER,
    service_account::{self, InvalidToken},
};
use crate::{failure::Failure, server::Server, user::User};

impl Server {
    /// Returns the user of a request; without a token it is the anonymous user.
    pub(crate) fn authenticate(&self, headers: &HeaderMap) -> Result<User, Failure> {
        match bearer(headers) {
            None => Ok(User::anonymous()),
            Some(token) => of_token(self, token, &[]).map(|(user, _)| user).map_err(|_| Failure::unauthorized()),
        }
    }
}

/// Returns the bearer token of a request.
pub(super) fn bearer(headers: &HeaderMap) -> Option<&str> {
    let written = headers.get(header::AUTHORIZATION)?.to_str().ok()?.trim();
    let (scheme, token) = written.split_once(' ')?;
    let token = token.split(' ').next().unwrap_or_default();
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}

/// Returns the user of a token, and the requested audiences that the token has (the API server's if none is requested).
pub(crate) fn of_token(server: &Server, token: &str, wanted: &[String]) -> Result<(User, Vec<String>), InvalidToken> {
    let own = [ISSUER.to_owned()];
    let wanted = if wanted.is_empty() { &own } else { wanted };
    if let Some(user) = server.authentication.tokens.get(token) {
        let audiences = service_account::common(wanted, &own);
        return if audiences.is_empty() { Err(InvalidToken::UNKNOWN) } else { Ok((user.clone(), audiences)) };
    }
    service_account::of_token(server, token, wanted)
}
