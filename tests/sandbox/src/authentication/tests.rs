//! Tests bearer tokens in HTTP headers.
#![allow(clippy::unwrap_used)]

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use http::{HeaderMap, header};
use ring::signature::{ECDSA_P256_SHA256_FIXED, RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents, UnparsedPublicKey};
use serde_json::Value;

use super::{bearer, claims, credentials::ISSUER, openid};
use crate::{Sandbox, User};

fn with(written: &str) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(header::AUTHORIZATION, written.parse().unwrap());
    headers
}

#[test]
fn only_a_bearer_token_authenticates() {
    let token = |written: &str| bearer::bearer_token(&with(written)).map(str::to_owned);
    assert_eq!(token("Bearer abc").as_deref(), Some("abc"));
    assert_eq!(token("bearer abc").as_deref(), Some("abc"));
    for none in ["Bearer", "Bearer ", "Basic abc", "abc", ""] {
        assert_eq!(token(none), None, "{none:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_has_the_user_of_its_token() {
    let sandbox = Sandbox::builder().seed(1).token("secret", User::named("jim", &["team"])).start();
    let who = |headers: &HeaderMap| sandbox.server.authenticate(headers);
    assert_eq!(who(&HeaderMap::new()).unwrap(), User::anonymous());
    assert_eq!(who(&with("Basic abc")).unwrap(), User::anonymous());
    assert_eq!(who(&with("Bearer secret")).unwrap(), User::named("jim", &["team"]));
    let failure = who(&with("Bearer nope")).unwrap_err();
    assert_eq!((failure.code, failure.reason, failure.message.as_str()), (401, "Unauthorized", "Unauthorized"));
}

#[tokio::test(start_paused = true)]
async fn the_published_keys_check_tokens() {
    for seed in [Some(1), None] {
        let builder = Sandbox::builder();
        let sandbox = seed.map_or(Sandbox::builder(), |seed| builder.seed(seed)).start();
        let server = &sandbox.server;
        let account = claims::BoundObject { kind: "serviceaccount", name: "robo".into(), uid: "1".into() };
        let audiences = [ISSUER.to_owned()];
        let grant =
            claims::TokenClaims { namespace: "one", account, bound: Vec::new(), audiences: &audiences, seconds: 600 };
        let token = grant.token(server).unwrap();
        let (text, signature) = token.rsplit_once('.').unwrap();
        let signature = URL_SAFE_NO_PAD.decode(signature).unwrap();

        let key = openid::key(server).unwrap();
        let part = |name: &str| URL_SAFE_NO_PAD.decode(key[name].as_str().unwrap()).unwrap();
        let good = match key["alg"].as_str().unwrap() {
            "RS256" => RsaPublicKeyComponents { n: part("n"), e: part("e") }
                .verify(&RSA_PKCS1_2048_8192_SHA256, text.as_bytes(), &signature)
                .is_ok(),
            _ => {
                let point = [vec![4], part("x"), part("y")].concat();
                UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point).verify(text.as_bytes(), &signature).is_ok()
            }
        };
        assert!(good, "{key}");
        let head: Value =
            serde_json::from_slice(&URL_SAFE_NO_PAD.decode(token.split('.').next().unwrap()).unwrap()).unwrap();
        assert_eq!((&head["kid"], &head["alg"]), (&key["kid"], &key["alg"]));
    }
}
