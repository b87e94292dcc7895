//! Tests of admission plugins, policies and webhooks.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use http::{HeaderMap, Method, Request};
use http_body_util::BodyExt as _;
use opgen_sandbox::{Sandbox, User};
use serde_json::{Value, json};

mod plugins;
mod policies;
mod webhooks;

const A: &str = "/api/v1/namespaces/a";

/// A sandbox with a namespace and its default account.
async fn sandbox() -> Sandbox {
    let sandbox = Sandbox::builder().seed(1).start();
    prepare(&sandbox).await;
    sandbox
}

async fn prepare(sandbox: &Sandbox) {
    let spec = json!({"finalizers": ["kubernetes"]});
    send(sandbox, Method::POST, "/api/v1/namespaces", json!({"metadata": {"name": "a"}, "spec": spec})).await;
    send(sandbox, Method::POST, &format!("{A}/serviceaccounts"), json!({"metadata": {"name": "default"}})).await;
}

async fn send(sandbox: &Sandbox, method: Method, path: &str, body: Value) -> (u16, Value) {
    let (code, _, body) = answer(sandbox, method, path, body).await;
    (code, body)
}

async fn ask_as(sandbox: &Sandbox, user: &User, method: Method, path: &str, body: Value) -> (u16, Value) {
    let (code, _, body) = answer_as(sandbox, user, method, path, body).await;
    (code, body)
}

/// With the headers.
async fn answer(sandbox: &Sandbox, method: Method, path: &str, body: Value) -> (u16, HeaderMap, Value) {
    answer_as(sandbox, &User::admin("admin"), method, path, body).await
}

async fn answer_as(sandbox: &Sandbox, user: &User, method: Method, path: &str, body: Value) -> (u16, HeaderMap, Value) {
    let request = Request::builder().method(method).uri(path).header("content-type", "application/json");
    let request = request.body(body.to_string().into()).unwrap();
    let (head, body) = sandbox.call(user.clone(), request).await.into_parts();
    let bytes = body.collect().await.unwrap().to_bytes();
    // A path that nothing serves is answered with plain text.
    let body = serde_json::from_slice(&bytes).unwrap_or_else(|_| String::from_utf8_lossy(&bytes).into());
    (head.status.as_u16(), head.headers, body)
}

async fn create(sandbox: &Sandbox, path: &str, body: Value) -> (u16, Value) {
    send(sandbox, Method::POST, &format!("{A}/{path}"), body).await
}

/// Makes an object of `admissionregistration.k8s.io/v1`.
async fn register(sandbox: &Sandbox, plural: &str, name: &str, body: Value) -> (u16, Value) {
    let mut object = body;
    object["metadata"]["name"] = name.into();
    send(sandbox, Method::POST, &format!("/apis/admissionregistration.k8s.io/v1/{plural}"), object).await
}
