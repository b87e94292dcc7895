//! A client of a sandbox for tests, with helpers for CustomResourceDefinitions and waits.

use bytes::Bytes;
use http::{Method, Request};
use http_body_util::BodyExt as _;
use opgen_sandbox::{Sandbox, User};
use serde_json::Value;

use crate::wait;

/// The path of the CRDs.
pub(crate) const CRDS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/// A sandbox that repeats.
pub(crate) fn sandbox() -> Sandbox {
    Sandbox::builder().seed(1).start()
}

/// The code and the body of an answer.
pub(crate) async fn send(sandbox: &Sandbox, method: Method, path: &str, body: &Value) -> (u16, Value) {
    let kind = if method == Method::PATCH { "application/merge-patch+json" } else { "application/json" };
    let text = if body.is_null() { String::new() } else { body.to_string() };
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header("content-type", kind)
        .header("user-agent", "curl/8")
        .body(Bytes::from(text))
        .unwrap();
    let response = sandbox.call(User::admin("admin"), request).await;
    let code = response.status().as_u16();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    (code, serde_json::from_slice(&body).unwrap_or(Value::Null))
}

pub(crate) async fn get(sandbox: &Sandbox, path: &str) -> (u16, Value) {
    send(sandbox, Method::GET, path, &Value::Null).await
}

pub(crate) async fn post(sandbox: &Sandbox, path: &str, body: &Value) -> (u16, Value) {
    send(sandbox, Method::POST, path, body).await
}

pub(crate) async fn patch(sandbox: &Sandbox, path: &str, body: &Value) -> (u16, Value) {
    send(sandbox, Method::PATCH, path, body).await
}

pub(crate) async fn delete(sandbox: &Sandbox, path: &str) -> (u16, Value) {
    send(sandbox, Method::DELETE, path, &Value::Null).await
}

/// Makes a CRD and waits until it is established.
pub(crate) async fn define(sandbox: &Sandbox, crd: &Value) {
    let (code, answer) = post(sandbox, CRDS, crd).await;
    assert_eq!(code, 201, "{answer}");
    let name = crd["metadata"]["name"].as_str().unwrap();
    until(sandbox, &format!("{CRDS}/{name}"), |_, crd| has(crd, "Established")).await;
}

/// Returns whether a condition is `True`.
pub(crate) fn has(object: &Value, condition: &str) -> bool {
    let conditions = object["status"]["conditions"].as_array();
    conditions.into_iter().flatten().any(|own| own["type"] == condition && own["status"] == "True")
}

/// Asks until the answer is as wished, which it gets by itself.
pub(crate) async fn until(sandbox: &Sandbox, path: &str, wished: impl Fn(u16, &Value) -> bool) -> Value {
    let look = async || {
        let (code, answer) = get(sandbox, path).await;
        wished(code, &answer).then_some(answer)
    };
    wait::until(path, look).await
}

/// The fields of the causes, with what is said of them.
pub(crate) fn causes(answer: &Value) -> Vec<String> {
    let causes = answer["details"]["causes"].as_array();
    let text = |cause: &Value, key: &str| cause[key].as_str().unwrap_or_default().to_owned();
    let cause =
        |cause: &Value| format!("{} {}: {}", text(cause, "reason"), text(cause, "field"), text(cause, "message"));
    causes.into_iter().flatten().map(cause).collect()
}
