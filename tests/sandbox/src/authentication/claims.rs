//! The claims of ServiceAccount tokens.

use serde_json::{Map, Value, json};

use super::{
    credentials::{Authentication, ISSUER},
    key::{NoKey, SigningKey},
};
use crate::server::Server;

/// Who issues tokens that are kept in Secrets.
pub(super) const LEGACY_ISSUER: &str = "kubernetes/serviceaccount";

/// An object that a token names: a kind in lower case (`serviceaccount`, `pod`, `secret`, `node`), name and uid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BoundObject {
    pub(crate) kind: &'static str,
    pub(crate) name: String,
    pub(crate) uid: String,
}

/// A token to be made.
#[derive(Debug)]
pub(crate) struct TokenClaims<'a> {
    pub(crate) namespace: &'a str,
    pub(crate) account: BoundObject,
    /// What the token lives with, besides the account.
    pub(crate) bound: Vec<BoundObject>,
    pub(crate) audiences: &'a [String],
    pub(crate) seconds: i64,
}

impl Authentication {
    /// The key, made when it is first needed.
    pub(super) fn key(&self, server: &Server) -> Result<&SigningKey, NoKey> {
        if let Some(key) = self.key.get() {
            return Ok(key);
        }
        let key = SigningKey::new(server.environment.is_seeded())?;
        Ok(self.key.get_or_init(|| key))
    }
}

impl TokenClaims<'_> {
    /// The token, signed.
    pub(crate) fn token(&self, server: &Server) -> Result<String, NoKey> {
        let now = server.environment.now().as_second();
        let mut private = Map::new();
        private.insert("namespace".into(), self.namespace.into());
        for BoundObject { kind, name, uid } in self.bound.iter().chain([&self.account]) {
            private.insert((*kind).into(), json!({"name": name, "uid": uid}));
        }
        let claims = json!({
            "aud": self.audiences,
            "exp": now.saturating_add(self.seconds),
            "iat": now,
            "iss": ISSUER,
            "jti": server.environment.uid(),
            "kubernetes.io": private,
            "nbf": now,
            "sub": subject(self.namespace, &self.account.name),
        });
        server.authentication.key(server)?.token(&claims)
    }
}

/// The token that a Secret of an account gets: it ends with the Secret alone.
pub(crate) fn legacy(server: &Server, namespace: &str, account: &BoundObject, secret: &str) -> Result<String, NoKey> {
    let claims = json!({
        "iss": LEGACY_ISSUER,
        "kubernetes.io/serviceaccount/namespace": namespace,
        "kubernetes.io/serviceaccount/secret.name": secret,
        "kubernetes.io/serviceaccount/service-account.name": account.name,
        "kubernetes.io/serviceaccount/service-account.uid": account.uid,
        "sub": subject(namespace, &account.name),
    });
    server.authentication.key(server)?.token(&claims)
}

fn subject(namespace: &str, name: &str) -> Value {
    format!("system:serviceaccount:{namespace}:{name}").into()
}
