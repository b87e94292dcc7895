//! Authenticates requests by bearer token.

use http::{HeaderMap, header};

use super::{
    credentials::ISSUER,
    service_account::{self, InvalidToken},
};
use crate::{failure::Failure, server::Server, user::User};

impl Server {
    /// Returns the user of a request; the anonymous user if it has no token. Returns a 401 error if the token is
    /// invalid.
    pub(crate) fn authenticate(&self, headers: &HeaderMap) -> Result<User, Failure> {
        match bearer_token(headers) {
            None => Ok(User::anonymous()),
            Some(token) => {
                authenticate_token(self, token, &[]).map(|(user, _)| user).map_err(|_| Failure::unauthorized())
            }
        }
    }
}

/// Returns the bearer token of a request; `None` if there is none.
pub(super) fn bearer_token(headers: &HeaderMap) -> Option<&str> {
    let authorization = headers.get(header::AUTHORIZATION)?.to_str().ok()?.trim();
    let (scheme, token) = authorization.split_once(' ')?;
    let token = token.split(' ').next().unwrap_or_default();
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}

/// Returns the user of a bearer token, which is a configured token or a ServiceAccount token, and the requested audiences for which the
/// token is valid. An empty `requested` stands for the audience of the API server. Returns an error if the token is invalid, or if none of
/// the audiences is left.
pub(crate) fn authenticate_token(
    server: &Server,
    token: &str,
    requested: &[String],
) -> Result<(User, Vec<String>), InvalidToken> {
    let server_audiences = [ISSUER.to_owned()];
    let requested = if requested.is_empty() { &server_audiences } else { requested };
    if let Some(user) = server.authentication.tokens.get(token) {
        let audiences = service_account::common_audiences(requested, &server_audiences);
        return if audiences.is_empty() { Err(InvalidToken::UNKNOWN) } else { Ok((user.clone(), audiences)) };
    }
    service_account::verify_token(server, token, requested)
}
