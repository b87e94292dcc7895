//! Sends requests to a sandbox as any user.
#![allow(dead_code)]

use bytes::Bytes;
use http::{Method, Request};
use http_body_util::BodyExt as _;
use opgen_sandbox::{Sandbox, User};
use serde_json::Value;

pub(crate) type Answer = (u16, Value);

/// Asks as a user, with headers.
pub(crate) async fn send_with(
    sandbox: &Sandbox,
    user: &User,
    (method, path): (&str, &str),
    headers: &[(&str, &str)],
    body: &Value,
) -> Answer {
    let method: Method = method.parse().unwrap();
    let media = if method == Method::PATCH { "application/merge-patch+json" } else { "application/json" };
    let mut request = Request::builder().method(method).uri(path).header("content-type", media);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let body = if body.is_null() { Bytes::new() } else { Bytes::from(body.to_string()) };
    let answer = sandbox.call(user.clone(), request.body(body).unwrap()).await;
    let code = answer.status().as_u16();
    let text = answer.into_body().collect().await.unwrap().to_bytes();
    (code, serde_json::from_slice(&text).unwrap_or_else(|_| String::from_utf8_lossy(&text).into()))
}

pub(crate) async fn send(sandbox: &Sandbox, user: &User, request: (&str, &str), body: &Value) -> Answer {
    send_with(sandbox, user, request, &[], body).await
}

pub(crate) async fn get(sandbox: &Sandbox, user: &User, path: &str) -> Answer {
    send(sandbox, user, ("GET", path), &Value::Null).await
}

/// Writes what must be written for a test to begin.
pub(crate) async fn create(sandbox: &Sandbox, path: &str, object: Value) -> Value {
    let (code, answer) = send(sandbox, &User::admin("admin"), ("POST", path), &object).await;
    assert_eq!(code, 201, "{answer:#}");
    answer
}
