//! A sandbox as a test talks to it: paths and JSON.
#![allow(dead_code)]

use std::time::Duration;

use bytes::Bytes;
use http::Request;
use http_body_util::BodyExt as _;
use opgen_sandbox::{Body, Sandbox, User};
use serde_json::{Value, json};

/// Longer than anything takes on the sandbox's clock.
const DEADLINE: Duration = Duration::from_secs(24 * 3600);

pub(crate) struct Scene(pub(crate) Sandbox);

impl Scene {
    pub(crate) fn new() -> Self {
        Self(Sandbox::builder().seed(7).start())
    }

    pub(crate) fn with_workloads() -> Self {
        Self(Sandbox::builder().seed(7).workloads(true).start())
    }

    /// Asks as an administrator, and gets code and object.
    pub(crate) async fn ask(&self, method: &str, path: &str, body: Value) -> (u16, Value) {
        let media = if method == "PATCH" { "application/merge-patch+json" } else { "application/json" };
        let body = if body.is_null() { Bytes::new() } else { body.to_string().into() };
        let request = Request::builder().method(method).uri(path).header("content-type", media).body(body).unwrap();
        let response = self.0.call(User::admin("admin"), request).await;
        let code = response.status().as_u16();
        let text = response.into_body().collect().await.unwrap().to_bytes();
        let object = serde_json::from_slice(&text).unwrap_or_else(|_| String::from_utf8_lossy(&text).into());
        (code, object)
    }

    /// Asks what must go well.
    pub(crate) async fn done(&self, method: &str, path: &str, body: Value) -> Value {
        let (code, object) = self.ask(method, path, body).await;
        assert!(code < 300, "{method} {path}: {object}");
        object
    }

    pub(crate) async fn get(&self, path: &str) -> Value {
        self.done("GET", path, Value::Null).await
    }

    pub(crate) async fn is_gone(&self, path: &str) -> bool {
        self.ask("GET", path, Value::Null).await.0 == 404
    }

    pub(crate) async fn create(&self, collection: &str, object: Value) -> Value {
        self.done("POST", collection, object).await
    }

    pub(crate) async fn config(&self, name: &str, metadata: Value) -> Value {
        let mut object = json!({"metadata": metadata});
        object["metadata"]["name"] = name.into();
        self.create("/api/v1/namespaces/default/configmaps", object).await
    }

    /// A reference to an owner.
    pub(crate) fn owner(owner: &Value) -> Value {
        json!({"apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": owner["metadata"]["name"], "uid": owner["metadata"]["uid"]})
    }

    /// Watches an object until it is as wanted; null is one that is not there.
    pub(crate) async fn until(&self, path: &str, holds: impl Fn(&Value) -> bool) -> Value {
        let (collection, name) = path.rsplit_once('/').unwrap();
        let mut last = Value::Null;
        let waited = tokio::time::timeout(DEADLINE, async {
            let list = self.get(&format!("{collection}?fieldSelector=metadata.name%3D{name}")).await;
            last = list["items"][0].clone();
            let version = list["metadata"]["resourceVersion"].as_str().unwrap().to_owned();
            let uri = format!("{collection}?watch=1&timeoutSeconds=100000&resourceVersion={version}");
            let uri = format!("{uri}&fieldSelector=metadata.name%3D{name}");
            let request = Request::builder().uri(uri).body(Bytes::new()).unwrap();
            let mut events: Body = self.0.call(User::admin("admin"), request).await.into_body();
            while !holds(&last) {
                let frame = events.frame().await.expect("the watch goes on").unwrap();
                let event: Value = serde_json::from_slice(&frame.into_data().unwrap()).unwrap();
                last = if event["type"] == "DELETED" { Value::Null } else { event["object"].clone() };
            }
        })
        .await;
        assert!(waited.is_ok(), "{path} isn't as wanted: {last}");
        last
    }

    pub(crate) async fn until_gone(&self, path: &str) {
        self.until(path, Value::is_null).await;
    }

    /// The types of the events of a collection since a version, each with the name.
    pub(crate) async fn events(&self, collection: &str, since: &Value, count: usize) -> Vec<String> {
        let version = since["metadata"]["resourceVersion"].as_str().unwrap();
        let request = Request::builder().uri(format!(
            "{collection}?watch=1&resourceVersion={version}&fieldSelector=metadata.name!%3Dkube-root-ca.crt"
        ));
        let mut events = self.0.call(User::admin("admin"), request.body(Bytes::new()).unwrap()).await.into_body();
        let mut told = Vec::new();
        while told.len() < count {
            let frame = events.frame().await.unwrap().unwrap();
            let event: Value = serde_json::from_slice(&frame.into_data().unwrap()).unwrap();
            let name = event["object"]["metadata"]["name"].as_str().unwrap();
            told.push(format!("{} {name}", event["type"].as_str().unwrap()));
        }
        told
    }
}
