//! Stores the server's credentials: bearer tokens of users and the key that signs ServiceAccount tokens.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Mutex, OnceLock},
};

use super::key::{NoKey, SigningKey};
use crate::user::User;

/// The issuer of ServiceAccount tokens, which is also their default audience.
pub(crate) const ISSUER: &str = "https://kubernetes.default.svc";

pub(super) const AUTHENTICATED: &str = "system:authenticated";

/// The credentials that authenticate requests.
#[derive(Debug, Default)]
pub(crate) struct Authentication {
    pub(super) tokens: BTreeMap<String, User>,
    pub(super) key: OnceLock<SigningKey>,
    pub(super) impersonators: Impersonators,
}

impl Authentication {
    /// Adds a user with a token. Like every authenticated user, it gets the group `system:authenticated`.
    pub(crate) fn add_user(&mut self, token: String, mut user: User) {
        if !user.groups.iter().any(|group| group == AUTHENTICATED) {
            user.groups.push(AUTHENTICATED.to_owned());
        }
        self.tokens.insert(token, user);
    }

    /// Sets a signing key, as PKCS #8, that [`Self::generate_key`] created. Returns an error if it is invalid.
    pub(crate) fn set_key(&mut self, document: &[u8]) -> Result<(), NoKey> {
        self.key = OnceLock::from(SigningKey::parse(document)?);
        Ok(())
    }

    /// Creates a signing key that can be stored and passed to [`Self::set_key`].
    pub(crate) fn generate_key() -> Result<Vec<u8>, NoKey> {
        SigningKey::generate()
    }
}

/// The users whose last impersonation was allowed by the unconstrained permission, which is checked first for them.
#[derive(Debug, Default)]
pub(super) struct Impersonators(pub(super) Mutex<BTreeSet<String>>);
