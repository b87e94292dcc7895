//! Verifies ServiceAccount tokens: signature, audience, expiry, and the objects that they are bound to.

use std::fmt;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::{claims::LEGACY_ISSUER, credentials::ISSUER};
use crate::{authorization::quoted, object, server::Server, store::Stored, user::User};

/// The time for which the token of a terminating object stays valid.
const LEEWAY: SignedDuration = SignedDuration::from_secs(60);

/// Returns the user of a ServiceAccount token, and the audiences of `requested` for which the token is valid. Returns an error if the token
/// is not signed by this server, is expired, has none of the requested audiences, or is bound to an object that is gone.
pub(super) fn verify_token(
    server: &Server,
    token: &str,
    requested: &[String],
) -> Result<(User, Vec<String>), InvalidToken> {
    let (text, signature) = token.rsplit_once('.').ok_or(InvalidToken::UNKNOWN)?;
    let (_, claims) = text.split_once('.').ok_or(InvalidToken::UNKNOWN)?;
    let decode = |part: &str| URL_SAFE_NO_PAD.decode(part).map_err(|_| InvalidToken::UNKNOWN);
    let (claims, signature) = (decode(claims)?, decode(signature)?);
    let claims: Value = serde_json::from_slice(&claims).map_err(|_| InvalidToken::UNKNOWN)?;
    let issuer = object::text(&claims, &["iss"]);
    if issuer != ISSUER && issuer != LEGACY_ISSUER {
        return Err(InvalidToken::UNKNOWN);
    }
    let key = server.authentication.key(server).map_err(|no_key| InvalidToken::because(no_key.to_string()))?;
    if !key.verifies(text.as_bytes(), &signature) {
        return Err(InvalidToken::because("go-jose/go-jose: error in cryptographic primitive"));
    }
    // The token of a Secret has no claim `aud`; it is valid for the API server.
    let legacy = issuer == LEGACY_ISSUER;
    let token_audiences: Vec<String> = if legacy { vec![ISSUER.to_owned()] } else { strings(&claims["aud"]) };
    let audiences = common_audiences(requested, &token_audiences);
    if audiences.is_empty() {
        let (token_audiences, requested) = (quoted(&token_audiences), quoted(requested));
        return Err(InvalidToken::because(format!(
            "token audiences {token_audiences} is invalid for the target audiences {requested}"
        )));
    }
    let user = if legacy { user_of_secret_token(server, &claims, token)? } else { user_of_claims(server, &claims)? };
    Ok((user, audiences))
}

/// Returns the requested audiences that the token has, in the order of the request.
pub(super) fn common_audiences(requested: &[String], token_audiences: &[String]) -> Vec<String> {
    requested.iter().filter(|audience| token_audiences.contains(audience)).cloned().collect()
}

/// Returns the user of a token that `TokenRequest` issued. Returns an error if the token is expired or not valid yet, or if the
/// ServiceAccount or an object to which the token is bound is gone or has another uid.
fn user_of_claims(server: &Server, claims: &Value) -> Result<User, InvalidToken> {
    let now = server.environment.now().as_second();
    if object::number(claims, &["exp"]).is_none_or(|expiration| expiration < now) {
        return Err(InvalidToken::because("service account token has expired"));
    }
    if object::number(claims, &["nbf"]).is_some_and(|start| start > now) {
        return Err(InvalidToken::because("service account token is not valid yet"));
    }
    let kubernetes_claims = &claims["kubernetes.io"];
    let namespace = object::text(kubernetes_claims, &["namespace"]);
    let claim = |kind: &str, key: &str| object::text(kubernetes_claims, &[kind, key]);
    let mut user = user_of_account(server, namespace, claim("serviceaccount", "name"), claim("serviceaccount", "uid"))?;
    let mut extra = |key: &str, value: &str| {
        user.extra.push((format!("authentication.kubernetes.io/{key}"), vec![value.to_owned()]));
    };
    extra("credential-id", &format!("JTI={}", object::text(claims, &["jti"])));
    for (kind, group_resource) in [("secret", "secrets"), ("pod", "pods"), ("node", "nodes")] {
        let (name, uid) = (claim(kind, "name"), claim(kind, "uid"));
        if name.is_empty() {
            continue;
        }
        // The token of a Pod contains its node only for information; its validity does not depend on the node.
        let is_bound = kind != "node" || kubernetes_claims.get("pod").is_none();
        if is_bound {
            let object_namespace = if kind == "node" { "" } else { namespace };
            let stored =
                server.store.get(group_resource, object_namespace, name).filter(|stored| !is_gone(server, stored));
            let stored = stored.ok_or_else(|| InvalidToken::because("service account token has been invalidated"))?;
            if *stored.uid != *uid {
                let why =
                    format!("{kind} UID ({}) does not match service account {kind} ref claim ({uid})", stored.uid);
                return Err(InvalidToken::because(why));
            }
        }
        if kind != "secret" {
            extra(&format!("{kind}-name"), name);
            extra(&format!("{kind}-uid"), uid);
        }
    }
    Ok(user)
}

/// Returns the user of a token that is stored in a Secret. Returns an error if the Secret is gone or has another token.
fn user_of_secret_token(server: &Server, claims: &Value, token: &str) -> Result<User, InvalidToken> {
    let claim = |key: &str| object::text(claims, &[&format!("kubernetes.io/serviceaccount/{key}")]).to_owned();
    let (namespace, secret) = (claim("namespace"), claim("secret.name"));
    let invalidated = || InvalidToken::because("service account token has been invalidated");
    let stored = server.store.get("secrets", &namespace, &secret).ok_or_else(invalidated)?;
    if is_gone(server, &stored) {
        return Err(invalidated());
    }
    let secret_token: Value = serde_json::from_slice(&stored.json).unwrap_or_default();
    let secret_token =
        base64::engine::general_purpose::STANDARD.decode(object::text(&secret_token, &["data", "token"]));
    if secret_token.is_ok_and(|secret_token| secret_token == token.as_bytes()) {
        user_of_account(server, &namespace, &claim("service-account.name"), &claim("service-account.uid"))
    } else {
        Err(InvalidToken::because("service account token does not match server's copy"))
    }
}

/// Returns the user of a ServiceAccount. Returns an error if it does not exist, was deleted, or has another uid.
fn user_of_account(server: &Server, namespace: &str, name: &str, uid: &str) -> Result<User, InvalidToken> {
    let Some(stored) = server.store.get("serviceaccounts", namespace, name) else {
        return Err(InvalidToken::because(format!("serviceaccounts {name:?} not found")));
    };
    if is_gone(server, &stored) {
        return Err(InvalidToken::because("service account has been deleted"));
    }
    if *stored.uid != *uid {
        let why = format!("service account UID ({}) does not match claim ({uid})", stored.uid);
        return Err(InvalidToken::because(why));
    }
    Ok(User::service_account(namespace, name, uid))
}

/// Returns whether the deletion timestamp of an object is more than 60 seconds ago (`LEEWAY`), so that its tokens are no longer valid.
fn is_gone(server: &Server, stored: &Stored) -> bool {
    let object: Value = serde_json::from_slice(&stored.json).unwrap_or_default();
    let deletion: Option<Timestamp> = object::text(&object, &["metadata", "deletionTimestamp"]).parse().ok();
    let now = server.environment.now();
    deletion.is_some_and(|deletion| deletion.checked_add(LEEWAY).is_ok_and(|end| end < now))
}

/// Returns the strings of a JSON list.
fn strings(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// The reason why a token is invalid; `None` if the token is unknown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct InvalidToken(Option<String>);

impl InvalidToken {
    /// The token is unknown.
    pub(super) const UNKNOWN: Self = Self(None);

    fn because(why: impl Into<String>) -> Self {
        Self(Some(why.into()))
    }
}

impl fmt::Display for InvalidToken {
    /// Formats the error as kube-apiserver reports it in the status of a TokenReview.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            None => f.write_str("invalid bearer token"),
            Some(why) => write!(f, "[invalid bearer token, {why}]"),
        }
    }
}
