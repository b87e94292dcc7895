//! Verifies ServiceAccount tokens: signature, audience, expiry, and the objects that they are bound to.

use std::fmt;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::{claims::LEGACY_ISSUER, credentials::ISSUER};
use crate::{authorization::quoted, object, server::Server, store::Stored, user::User};

/// The time for which the token of a terminating object stays valid.
const LEEWAY: SignedDuration = SignedDuration::from_secs(60);

/// Returns the user of a token, and the requested audiences that the token has.
pub(super) fn of_token(server: &Server, token: &str, wanted: &[String]) -> Result<(User, Vec<String>), InvalidToken> {
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
    if !key.signed(text.as_bytes(), &signature) {
        return Err(InvalidToken::because("go-jose/go-jose: error in cryptographic primitive"));
    }
    let legacy = issuer == LEGACY_ISSUER;
    let own: Vec<String> = if legacy { vec![ISSUER.to_owned()] } else { words(&claims["aud"]) };
    let audiences = common(wanted, &own);
    if audiences.is_empty() {
        let (own, wanted) = (quoted(&own), quoted(wanted));
        return Err(InvalidToken::because(format!(
            "token audiences {own} is invalid for the target audiences {wanted}"
        )));
    }
    let user = if legacy { of_secret(server, &claims, token)? } else { of_claims(server, &claims)? };
    Ok((user, audiences))
}

/// Returns the items of both lists, in the order of the first.
pub(super) fn common(wanted: &[String], own: &[String]) -> Vec<String> {
    wanted.iter().filter(|audience| own.contains(audience)).cloned().collect()
}

fn of_claims(server: &Server, claims: &Value) -> Result<User, InvalidToken> {
    let now = server.environment.now().as_second();
    if object::number(claims, &["exp"]).is_none_or(|end| end < now) {
        return Err(InvalidToken::because("service account token has expired"));
    }
    if object::number(claims, &["nbf"]).is_some_and(|begin| begin > now) {
        return Err(InvalidToken::because("service account token is not valid yet"));
    }
    let private = &claims["kubernetes.io"];
    let namespace = object::text(private, &["namespace"]);
    let word = |kind: &str, key: &str| object::text(private, &[kind, key]);
    let mut user = account(server, namespace, word("serviceaccount", "name"), word("serviceaccount", "uid"))?;
    let mut extra = |key: &str, value: &str| {
        user.extra.push((format!("authentication.kubernetes.io/{key}"), vec![value.to_owned()]));
    };
    extra("credential-id", &format!("JTI={}", object::text(claims, &["jti"])));
    for (kind, group_resource) in [("secret", "secrets"), ("pod", "pods"), ("node", "nodes")] {
        let (name, uid) = (word(kind, "name"), word(kind, "uid"));
        if name.is_empty() {
            continue;
        }
        // The token of a Pod contains its node only for information; its validity does not depend on the node.
        let lives_with = kind != "node" || private.get("pod").is_none();
        if lives_with {
            let place = if kind == "node" { "" } else { namespace };
            let held = server.store.get(group_resource, place, name).filter(|held| !is_gone(server, held));
            let held = held.ok_or_else(|| InvalidToken::because("service account token has been invalidated"))?;
            if *held.uid != *uid {
                let why = format!("{kind} UID ({}) does not match service account {kind} ref claim ({uid})", held.uid);
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

/// Verifies a token that is stored in a Secret; it is valid as long as the Secret exists.
fn of_secret(server: &Server, claims: &Value, token: &str) -> Result<User, InvalidToken> {
    let word = |key: &str| object::text(claims, &[&format!("kubernetes.io/serviceaccount/{key}")]).to_owned();
    let (namespace, secret) = (word("namespace"), word("secret.name"));
    let invalidated = || InvalidToken::because("service account token has been invalidated");
    let held = server.store.get("secrets", &namespace, &secret).ok_or_else(invalidated)?;
    if is_gone(server, &held) {
        return Err(invalidated());
    }
    let kept: Value = serde_json::from_slice(&held.json).unwrap_or_default();
    let kept = base64::engine::general_purpose::STANDARD.decode(object::text(&kept, &["data", "token"]));
    if kept.is_ok_and(|kept| kept == token.as_bytes()) {
        account(server, &namespace, &word("service-account.name"), &word("service-account.uid"))
    } else {
        Err(InvalidToken::because("service account token does not match server's copy"))
    }
}

fn account(server: &Server, namespace: &str, name: &str, uid: &str) -> Result<User, InvalidToken> {
    let Some(held) = server.store.get("serviceaccounts", namespace, name) else {
        return Err(InvalidToken::because(format!("serviceaccounts {name:?} not found")));
    };
    if is_gone(server, &held) {
        return Err(InvalidToken::because("service account has been deleted"));
    }
    if *held.uid != *uid {
        let why = format!("service account UID ({}) does not match claim ({uid})", held.uid);
        return Err(InvalidToken::because(why));
    }
    Ok(User::service_account(namespace, name, uid))
}

/// Whether the deletion timestamp is longer ago than the leeway.
fn is_gone(server: &Server, held: &Stored) -> bool {
    let object: Value = serde_json::from_slice(&held.json).unwrap_or_default();
    let at: Option<Timestamp> = object::text(&object, &["metadata", "deletionTimestamp"]).parse().ok();
    let now = server.environment.now();
    at.is_some_and(|at| at.checked_add(LEEWAY).is_ok_and(|end| end < now))
}

fn words(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// The reason why a token is refused.
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
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            None => f.write_str("invalid bearer token"),
            Some(why) => write!(f, "[invalid bearer token, {why}]"),
        }
    }
}
