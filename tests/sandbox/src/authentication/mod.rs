//! Who asks: bearer tokens, ServiceAccounts, and those whom others act for.

use std::{collections::BTreeMap, fmt, sync::OnceLock};

use http::{HeaderMap, header};

use crate::{failure::Failure, sandbox::Server, user::User};

pub(crate) use impersonation::{Wanted, impersonate};
pub(crate) use openid::{configuration, keys};

mod account;
pub(crate) mod claims;
mod impersonation;
mod key;
mod openid;
pub(crate) mod request;

/// Who issues the tokens of ServiceAccounts, and for whom they are unless somebody else is named.
pub(crate) const ISSUER: &str = "https://kubernetes.default.svc";

const AUTHENTICATED: &str = "system:authenticated";

/// What tokens are known by.
#[derive(Debug, Default)]
pub(crate) struct Authentication {
    tokens: BTreeMap<String, User>,
    key: OnceLock<key::Key>,
    actors: impersonation::Remembered,
}

/// Why a token is not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rejected(Option<String>);

impl Rejected {
    /// Nobody knows the token.
    const UNKNOWN: Self = Self(None);

    fn because(why: impl Into<String>) -> Self {
        Self(Some(why.into()))
    }
}

impl fmt::Display for Rejected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            None => f.write_str("invalid bearer token"),
            Some(why) => write!(f, "[invalid bearer token, {why}]"),
        }
    }
}

impl Authentication {
    /// A user by a token, in `system:authenticated` as all that have one.
    pub(crate) fn know(&mut self, token: String, mut user: User) {
        if !user.groups.iter().any(|group| group == AUTHENTICATED) {
            user.groups.push(AUTHENTICATED.to_owned());
        }
        self.tokens.insert(token, user);
    }

    /// Signs with a key that was kept.
    pub(crate) fn keep(&mut self, written: &[u8]) -> Result<(), key::NoKey> {
        self.key = OnceLock::from(key::Key::read(written)?);
        Ok(())
    }

    /// A key to be kept.
    pub(crate) fn fresh_key() -> Result<Vec<u8>, key::NoKey> {
        key::Key::fresh()
    }
}

impl Server {
    /// The user of a request, by its headers; without a token it is nobody in particular.
    pub(crate) fn authenticate(&self, headers: &HeaderMap) -> Result<User, Failure> {
        match bearer(headers) {
            None => Ok(User::anonymous()),
            Some(token) => of_token(self, token, &[]).map(|(user, _)| user).map_err(|_| Failure::unauthorized()),
        }
    }
}

/// The token of a request.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let written = headers.get(header::AUTHORIZATION)?.to_str().ok()?.trim();
    let (scheme, token) = written.split_once(' ')?;
    let token = token.split(' ').next().unwrap_or_default();
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}

/// Whose a token is, and which of the wanted audiences (the API server's, if none is named) it is for.
pub(crate) fn of_token(server: &Server, token: &str, wanted: &[String]) -> Result<(User, Vec<String>), Rejected> {
    let own = [ISSUER.to_owned()];
    let wanted = if wanted.is_empty() { &own } else { wanted };
    if let Some(user) = server.authentication.tokens.get(token) {
        let audiences = account::common(wanted, &own);
        return if audiences.is_empty() { Err(Rejected::UNKNOWN) } else { Ok((user.clone(), audiences)) };
    }
    account::of_token(server, token, wanted)
}

#[cfg(test)]
mod tests;
