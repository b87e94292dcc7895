//! The credentials that the server knows: bearer tokens of users and the key that signs tokens of ServiceAccounts.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Mutex, OnceLock},
};

use super::key::{NoKey, SigningKey};
use crate::user::User;

/// Who issues the tokens of ServiceAccounts, and for whom they are unless somebody else is named.
pub(crate) const ISSUER: &str = "https://kubernetes.default.svc";

pub(super) const AUTHENTICATED: &str = "system:authenticated";

/// What tokens are known by.
#[derive(Debug, Default)]
pub(crate) struct Authentication {
    pub(super) tokens: BTreeMap<String, User>,
    pub(super) key: OnceLock<SigningKey>,
    pub(super) impersonators: Impersonators,
}

impl Authentication {
    /// A user by a token, in `system:authenticated` as all that have one.
    pub(crate) fn add_user(&mut self, token: String, mut user: User) {
        if !user.groups.iter().any(|group| group == AUTHENTICATED) {
            user.groups.push(AUTHENTICATED.to_owned());
        }
        self.tokens.insert(token, user);
    }

    /// Signs with a key that was kept.
    pub(crate) fn set_key(&mut self, written: &[u8]) -> Result<(), NoKey> {
        self.key = OnceLock::from(SigningKey::read(written)?);
        Ok(())
    }

    /// A key to be kept.
    pub(crate) fn fresh_key() -> Result<Vec<u8>, NoKey> {
        SigningKey::fresh()
    }
}

/// Those who last acted for another by the right to do so in everything. They are told about that right first.
#[derive(Debug, Default)]
pub(super) struct Impersonators(pub(super) Mutex<BTreeSet<String>>);
