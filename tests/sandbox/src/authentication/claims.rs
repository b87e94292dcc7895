//! Builds ServiceAccount tokens: determines the JWT claims of a token and signs them.

use serde_json::{Map, Value, json};

use super::{
    credentials::{Authentication, ISSUER},
    key::{NoKey, SigningKey},
};
use crate::server::Server;

/// The issuer of tokens that are stored in Secrets.
pub(super) const LEGACY_ISSUER: &str = "kubernetes/serviceaccount";

/// An object that a token is bound to: a kind in lower case (`serviceaccount`, `pod`, `secret`, `node`), name and uid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BoundObject {
    pub(crate) kind: &'static str,
    pub(crate) name: String,
    pub(crate) uid: String,
}

/// The claims of a new token.
#[derive(Debug)]
pub(crate) struct TokenClaims<'a> {
    pub(crate) namespace: &'a str,
    pub(crate) account: BoundObject,
    /// The objects other than the account whose deletion invalidates the token.
    pub(crate) bound: Vec<BoundObject>,
    pub(crate) audiences: &'a [String],
    pub(crate) seconds: i64,
}

impl Authentication {
    /// Returns the key that signs ServiceAccount tokens. Creates the key on first use, unless it was set before.
    pub(super) fn key(&self, server: &Server) -> Result<&SigningKey, NoKey> {
        if let Some(key) = self.key.get() {
            return Ok(key);
        }
        let key = SigningKey::new(server.environment.is_seeded())?;
        Ok(self.key.get_or_init(|| key))
    }
}

impl TokenClaims<'_> {
    /// Returns the JWT with these claims, which is signed by the server and valid for `seconds` from now on.
    pub(crate) fn token(&self, server: &Server) -> Result<String, NoKey> {
        let now = server.environment.now().as_second();
        let mut kubernetes_claims = Map::new();
        kubernetes_claims.insert("namespace".into(), self.namespace.into());
        for BoundObject { kind, name, uid } in self.bound.iter().chain([&self.account]) {
            kubernetes_claims.insert((*kind).into(), json!({"name": name, "uid": uid}));
        }
        let claims = json!({
            "aud": self.audiences,
            "exp": now.saturating_add(self.seconds),
            "iat": now,
            "iss": ISSUER,
            "jti": server.environment.uid(),
            "kubernetes.io": kubernetes_claims,
            "nbf": now,
            "sub": account_user_name(self.namespace, &self.account.name),
        });
        server.authentication.key(server)?.token(&claims)
    }
}

/// Returns a signed token to store in the Secret `secret` of a ServiceAccount. The token has no expiry; it is valid until the Secret or the
/// ServiceAccount is deleted.
pub(crate) fn secret_token(
    server: &Server,
    namespace: &str,
    account: &BoundObject,
    secret: &str,
) -> Result<String, NoKey> {
    let claims = json!({
        "iss": LEGACY_ISSUER,
        "kubernetes.io/serviceaccount/namespace": namespace,
        "kubernetes.io/serviceaccount/secret.name": secret,
        "kubernetes.io/serviceaccount/service-account.name": account.name,
        "kubernetes.io/serviceaccount/service-account.uid": account.uid,
        "sub": account_user_name(namespace, &account.name),
    });
    server.authentication.key(server)?.token(&claims)
}

/// Returns the user name of a ServiceAccount.
fn account_user_name(namespace: &str, name: &str) -> Value {
    format!("system:serviceaccount:{namespace}:{name}").into()
}
