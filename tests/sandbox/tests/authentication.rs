//! Tests of authentication. The expected responses are those of kube-apiserver 1.36.3.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::time::Duration;

use crate::user_client::{Answer, create, send};
use base64::{
    Engine as _,
    engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD},
};
use opgen_sandbox::{Sandbox, User};
use serde_json::{Value, json};

const ISSUER: &str = "https://kubernetes.default.svc";
const ONE: &str = "/api/v1/namespaces/one";

/// A namespace `one` with an account `robo`, and the uid of that.
async fn with_account() -> (Sandbox, String) {
    let sandbox = Sandbox::builder().seed(1).token("secret", User::named("jim", &["team"])).start();
    create(&sandbox, "/api/v1/namespaces", json!({"metadata": {"name": "one"}})).await;
    let uid = robo(&sandbox).await;
    (sandbox, uid)
}

async fn robo(sandbox: &Sandbox) -> String {
    let account = create(sandbox, &format!("{ONE}/serviceaccounts"), json!({"metadata": {"name": "robo"}})).await;
    account["metadata"]["uid"].as_str().unwrap().to_owned()
}

async fn request(sandbox: &Sandbox, spec: Value) -> Answer {
    let path = format!("{ONE}/serviceaccounts/robo/token");
    send(sandbox, &User::admin("admin"), ("POST", &path), &json!({"spec": spec})).await
}

async fn token(sandbox: &Sandbox, spec: Value) -> String {
    let (code, answer) = request(sandbox, spec).await;
    assert_eq!(code, 201, "{answer:#}");
    answer["status"]["token"].as_str().unwrap().to_owned()
}

/// The status of a TokenReview.
async fn review(sandbox: &Sandbox, spec: Value) -> Value {
    let path = "/apis/authentication.k8s.io/v1/tokenreviews";
    let (code, answer) = send(sandbox, &User::admin("admin"), ("POST", path), &json!({"spec": spec})).await;
    assert_eq!(code, 201, "{answer:#}");
    answer["status"].clone()
}

async fn delete(sandbox: &Sandbox, path: &str) {
    let (code, answer) = send(sandbox, &User::admin("admin"), ("DELETE", path), &Value::Null).await;
    assert_eq!(code, 200, "{answer:#}");
}

fn claims(token: &str) -> Value {
    let claims = URL_SAFE_NO_PAD.decode(token.split('.').nth(1).unwrap()).unwrap();
    serde_json::from_slice(&claims).unwrap()
}

fn rejected(why: &str) -> Value {
    json!({"user": {}, "error": format!("[invalid bearer token, {why}]")})
}

#[tokio::test(start_paused = true)]
async fn a_token_says_whose_it_is() {
    let (sandbox, uid) = with_account().await;
    let (code, answer) = request(&sandbox, json!({})).await;
    assert_eq!((code, &answer["kind"]), (201, &json!("TokenRequest")));
    assert_eq!((&answer["metadata"]["name"], &answer["metadata"]["uid"]), (&json!("robo"), &json!(uid)));
    assert_eq!(answer["spec"], json!({"audiences": [ISSUER], "expirationSeconds": 3600, "boundObjectRef": null}));
    assert_eq!(answer["status"]["expirationTimestamp"], "2026-01-01T01:00:00Z");
    let token = answer["status"]["token"].as_str().unwrap();
    let said = claims(token);
    let start = 1_767_225_600;
    assert_eq!(
        said,
        json!({
            "aud": [ISSUER], "exp": start + 3600, "iat": start, "nbf": start, "iss": ISSUER, "jti": said["jti"],
            "kubernetes.io": {"namespace": "one", "serviceaccount": {"name": "robo", "uid": uid}},
            "sub": "system:serviceaccount:one:robo",
        })
    );
    let known = json!({
        "authenticated": true,
        "user": {
            "username": "system:serviceaccount:one:robo", "uid": uid,
            "groups": ["system:serviceaccounts", "system:serviceaccounts:one", "system:authenticated"],
            "extra": {"authentication.kubernetes.io/credential-id": [format!("JTI={}", said["jti"].as_str().unwrap())]},
        },
        "audiences": [ISSUER],
    });
    assert_eq!(review(&sandbox, json!({"token": token})).await, known);
}

#[tokio::test(start_paused = true)]
async fn tokens_repeat_with_the_seed() {
    let one = async || token(&with_account().await.0, json!({})).await;
    assert_eq!(one().await, one().await);
}

#[tokio::test(start_paused = true)]
async fn a_token_is_refused_that_nobody_gave() {
    let (sandbox, _) = with_account().await;
    for unknown in ["nope", "a.b.c"] {
        let said = json!({"user": {}, "error": "invalid bearer token"});
        assert_eq!(review(&sandbox, json!({"token": unknown})).await, said);
    }
    let token = token(&sandbox, json!({})).await;
    let forged = format!("{}AAAAAA", &token[..token.len() - 6]);
    let why = "go-jose/go-jose: error in cryptographic primitive";
    assert_eq!(review(&sandbox, json!({"token": forged})).await, rejected(why));
}

#[tokio::test(start_paused = true)]
async fn a_token_is_for_its_audiences() {
    let (sandbox, _) = with_account().await;
    let own = token(&sandbox, json!({})).await;
    let why = format!("token audiences [\"{ISSUER}\"] is invalid for the target audiences [\"foo\"]");
    assert_eq!(review(&sandbox, json!({"token": own, "audiences": ["foo"]})).await, rejected(&why));
    let foreign = token(&sandbox, json!({"audiences": ["foo"]})).await;
    let why = format!("token audiences [\"foo\"] is invalid for the target audiences [\"{ISSUER}\"]");
    assert_eq!(review(&sandbox, json!({"token": foreign})).await, rejected(&why));
    let said = review(&sandbox, json!({"token": foreign, "audiences": ["foo", "bar"]})).await;
    assert_eq!((&said["authenticated"], &said["audiences"]), (&json!(true), &json!(["foo"])));
    let said = review(&sandbox, json!({"token": "secret"})).await;
    assert_eq!(said["user"], json!({"username": "jim", "groups": ["team", "system:authenticated"]}));
    let said = review(&sandbox, json!({"token": "secret", "audiences": ["foo"]})).await;
    assert_eq!(said, json!({"user": {}, "error": "invalid bearer token"}));
}

#[tokio::test(start_paused = true)]
async fn a_token_ends_with_its_time_and_with_its_account() {
    let (sandbox, uid) = with_account().await;
    let short = token(&sandbox, json!({"expirationSeconds": 600})).await;
    let long = token(&sandbox, json!({})).await;
    tokio::time::advance(Duration::from_secs(601)).await;
    assert_eq!(review(&sandbox, json!({"token": short})).await, rejected("service account token has expired"));
    assert_eq!(review(&sandbox, json!({"token": long})).await["authenticated"], true);
    delete(&sandbox, &format!("{ONE}/serviceaccounts/robo")).await;
    assert_eq!(review(&sandbox, json!({"token": long})).await, rejected("serviceaccounts \"robo\" not found"));
    let other = robo(&sandbox).await;
    let why = format!("service account UID ({other}) does not match claim ({uid})");
    assert_eq!(review(&sandbox, json!({"token": long})).await, rejected(&why));
}

#[tokio::test(start_paused = true)]
async fn a_token_may_be_bound_to_a_secret_or_a_pod() {
    let (sandbox, _) = with_account().await;
    create(&sandbox, &format!("{ONE}/secrets"), json!({"metadata": {"name": "s"}})).await;
    let pod = |name: &str, account: &str| json!({"metadata": {"name": name}, "spec": {"serviceAccountName": account, "containers": [{"name": "c", "image": "i"}]}});
    let made = create(&sandbox, &format!("{ONE}/pods"), pod("p", "robo")).await;
    let pod_uid = made["metadata"]["uid"].as_str().unwrap();
    create(&sandbox, &format!("{ONE}/serviceaccounts"), json!({"metadata": {"name": "other"}})).await;
    create(&sandbox, &format!("{ONE}/pods"), pod("p2", "other")).await;
    let bound = |kind: &str, name: &str| json!({"boundObjectRef": {"kind": kind, "apiVersion": "v1", "name": name}});

    let of_secret = token(&sandbox, bound("Secret", "s")).await;
    assert_eq!(claims(&of_secret)["kubernetes.io"]["secret"]["name"], "s");
    assert_eq!(review(&sandbox, json!({"token": of_secret})).await["authenticated"], true);
    delete(&sandbox, &format!("{ONE}/secrets/s")).await;
    let why = "service account token has been invalidated";
    assert_eq!(review(&sandbox, json!({"token": of_secret})).await, rejected(why));

    let (_, answer) = request(&sandbox, bound("Pod", "p")).await;
    let fields =
        json!({"f:boundObjectRef": {"f:apiVersion": {}, "f:kind": {}, "f:name": {}}, "f:expirationSeconds": {}});
    assert_eq!(answer["metadata"]["managedFields"][0]["fieldsV1"], json!({"f:spec": fields}));
    let of_pod = token(&sandbox, bound("Pod", "p")).await;
    let said = review(&sandbox, json!({"token": of_pod})).await;
    assert_eq!(said["user"]["extra"]["authentication.kubernetes.io/pod-name"], json!(["p"]));
    assert_eq!(said["user"]["extra"]["authentication.kubernetes.io/pod-uid"], json!([pod_uid]));
    delete(&sandbox, &format!("{ONE}/pods/p")).await;
    assert_eq!(review(&sandbox, json!({"token": of_pod})).await, rejected(why));

    let refused = async |spec: Value| {
        let (code, answer) = request(&sandbox, spec).await;
        (code, answer["message"].as_str().unwrap_or_default().to_owned())
    };
    let cases = [
        (bound("Pod", "p"), 404, "pods \"p\" not found"),
        (
            bound("Pod", "p2"),
            400,
            "cannot bind token for serviceaccount \"robo\" to pod running with different serviceaccount name.",
        ),
        (bound("ConfigMap", "p"), 400, "cannot bind token to object of type /v1, Kind=ConfigMap"),
        (
            json!({"expirationSeconds": 30}),
            422,
            "TokenRequest.authentication.k8s.io \"\" is invalid: spec.expirationSeconds: Invalid value: 30: may not specify a duration less than 10 minutes",
        ),
        (
            json!({"expirationSeconds": 4_294_967_297_i64}),
            422,
            "TokenRequest.authentication.k8s.io \"\" is invalid: spec.expirationSeconds: Invalid value: 4294967297: may not specify a duration larger than 2^32 seconds",
        ),
    ];
    for (spec, code, message) in cases {
        assert_eq!(refused(spec).await, (code, message.to_owned()));
    }
}

#[tokio::test(start_paused = true)]
async fn a_secret_of_an_account_holds_its_token_and_ends_with_it() {
    let (sandbox, uid) = with_account().await;
    let secret = |name: &str, account: &str| {
        let annotations = json!({"kubernetes.io/service-account.name": account});
        json!({"metadata": {"name": name, "annotations": annotations}, "type": "kubernetes.io/service-account-token"})
    };
    let secrets = format!("{ONE}/secrets");
    create(&sandbox, &secrets, secret("legacy", "robo")).await;
    create(&sandbox, &secrets, secret("stray", "nobody")).await;
    let until = async |name: &str, reached: &dyn Fn(&Answer) -> bool| {
        let look = async || {
            let answer =
                send(&sandbox, &User::admin("admin"), ("GET", &format!("{secrets}/{name}")), &Value::Null).await;
            reached(&answer).then_some(answer.1)
        };
        crate::wait::until(name, look).await
    };
    let held = until("legacy", &|(_, secret)| secret["data"]["token"].is_string()).await;
    assert_eq!(held["data"]["namespace"], "b25l");
    assert_eq!(held["metadata"]["annotations"]["kubernetes.io/service-account.uid"], json!(uid));
    let managers = held["metadata"]["managedFields"].as_array().unwrap();
    assert!(managers.iter().any(|own| own["manager"] == "kube-controller-manager" && own["operation"] == "Update"));
    let kept = STANDARD.decode(held["data"]["token"].as_str().unwrap()).unwrap();
    let token = String::from_utf8(kept).unwrap();
    assert_eq!(
        claims(&token),
        json!({
            "iss": "kubernetes/serviceaccount",
            "kubernetes.io/serviceaccount/namespace": "one",
            "kubernetes.io/serviceaccount/secret.name": "legacy",
            "kubernetes.io/serviceaccount/service-account.name": "robo",
            "kubernetes.io/serviceaccount/service-account.uid": uid,
            "sub": "system:serviceaccount:one:robo",
        })
    );
    let said = review(&sandbox, json!({"token": token})).await;
    assert_eq!(said["user"]["username"], "system:serviceaccount:one:robo");
    assert_eq!((&said["user"]["extra"], &said["audiences"]), (&Value::Null, &json!([ISSUER])));
    until("stray", &|(code, _)| *code == 404).await;
    delete(&sandbox, &format!("{ONE}/serviceaccounts/robo")).await;
    until("legacy", &|(code, _)| *code == 404).await;
    let why = "service account token has been invalidated";
    assert_eq!(review(&sandbox, json!({"token": token})).await, rejected(why));
}

#[tokio::test(start_paused = true)]
async fn accounts_may_read_the_keys_that_sign_tokens() {
    let (sandbox, uid) = with_account().await;
    let robo = User::service_account("one", "robo", &uid);
    let (code, said) = send(&sandbox, &robo, ("GET", "/.well-known/openid-configuration"), &Value::Null).await;
    assert_eq!((code, &said["issuer"]), (200, &json!(ISSUER)));
    assert_eq!(said["id_token_signing_alg_values_supported"], json!(["RS256"]));
    let (code, keys) = send(&sandbox, &robo, ("GET", "/openid/v1/jwks"), &Value::Null).await;
    let token = token(&sandbox, json!({})).await;
    let head: Value =
        serde_json::from_slice(&URL_SAFE_NO_PAD.decode(token.split('.').next().unwrap()).unwrap()).unwrap();
    assert_eq!((code, &keys["keys"][0]["kid"]), (200, &head["kid"]));
    let (code, _) = send(&sandbox, &User::named("joe", &[]), ("GET", "/openid/v1/jwks"), &Value::Null).await;
    assert_eq!(code, 403);
}
