//! Sends JSON requests to a sandbox as an administrator.

use bytes::Bytes;
use http::Request;
use http_body_util::BodyExt as _;
use opgen_sandbox::{Sandbox, User};
use serde_json::Value;

/// The code and the body of an answer.
pub async fn send(sandbox: &Sandbox, method: &str, path: &str, body: &Value) -> (u16, Value) {
    let kind = match method {
        "PATCH" => "application/merge-patch+json",
        _ => "application/json",
    };
    let body = if body.is_null() { Bytes::new() } else { Bytes::from(body.to_string()) };
    let request = Request::builder().method(method).uri(path).header("content-type", kind).body(body).unwrap();
    let answer = sandbox.call(User::admin("admin"), request).await;
    let code = answer.status().as_u16();
    let body = answer.into_body().collect().await.unwrap().to_bytes();
    (code, serde_json::from_slice(&body).unwrap())
}

/// The namespace in which the real server was asked, with the accounts that its Pods name.
pub async fn prepare(sandbox: &Sandbox) {
    for (path, name) in [
        ("/api/v1/namespaces", "d-try"),
        ("/api/v1/namespaces/d-try/serviceaccounts", "default"),
        ("/api/v1/namespaces/d-try/serviceaccounts", "old"),
    ] {
        let (code, _) = send(sandbox, "POST", path, &serde_json::json!({"metadata": {"name": name}})).await;
        assert!([201, 409].contains(&code), "{path} {name}: {code}");
    }
}
