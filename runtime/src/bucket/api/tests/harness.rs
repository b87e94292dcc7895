//! `Harness`: the Kubernetes API of one kind over a bucket in memory, with functions that send requests to this API.

use crate::{
    bucket::{
        MemoryBucket,
        api::{BucketApi, BucketKind},
    },
    environment::Environment,
    kind::Kind,
};
use axum::body::{Body, BodyDataStream, to_bytes};
use futures::StreamExt as _;
use http::{Request, Response};
use k8s_openapi::{apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition, jiff::Timestamp};
use serde_json::{Value, json};
use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};
use tokio::time::timeout;

pub(crate) const MERGE: &str = "application/merge-patch+json";
pub(crate) const JSON: &str = "application/json-patch+json";
pub(crate) const APPLY: &str = "application/apply-patch+yaml";
/// The path of all objects of the namespace `shop`.
pub(crate) const APPS: &str = "/apis/demo.example.com/v1/namespaces/shop/webapps";
/// The path of the object `web`.
pub(crate) const WEB: &str = "/apis/demo.example.com/v1/namespaces/shop/webapps/web";
/// The finalizer of the tests.
pub(crate) const FINALIZER: &str = "demo.example.com/test";

/// Returns the definition of the kind of the tests.
pub(crate) fn definition() -> CustomResourceDefinition {
    let text = json!({"type": "string"});
    let spec = json!({"type": "object", "properties": {
        "image": text,
        "replicas": {"type": "integer", "minimum": 0, "maximum": 50, "default": 1},
        "tags": {"type": "array", "x-kubernetes-list-type": "set", "items": text},
        "args": {"type": "array", "items": text},
        "ports": {
            "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["port"],
            "items": {"type": "object", "required": ["port"], "properties": {"port": {"type": "integer"}, "name": text}},
        },
        "options": {"type": "object", "additionalProperties": text},
    }});
    let status = json!({"type": "object", "properties": {"phase": text, "count": {"type": "integer"}}});
    let names = json!({"plural": "webapps", "singular": "webapp", "kind": "WebApp", "listKind": "WebAppList"});
    let schema = json!({"type": "object", "properties": {"spec": spec, "status": status}});
    let version = json!({
        "name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema},
        "subresources": {"status": {}},
    });
    serde_json::from_value(json!({
        "metadata": {"name": "webapps.demo.example.com"},
        "spec": {"group": "demo.example.com", "scope": "Namespaced", "names": names, "versions": [version]},
    }))
    .unwrap()
}

/// Returns the kind of the tests.
pub(crate) fn kind() -> Kind {
    Kind {
        group: "demo.example.com".into(),
        version: "v1".into(),
        kind: "WebApp".into(),
        plural: "webapps".into(),
        namespaced: true,
    }
}

/// Returns an environment whose time stands still and whose random numbers count.
pub(crate) fn environment(first: u64) -> Environment {
    let random = AtomicU64::new(first);
    let now = || Timestamp::from_second(1_700_000_000).unwrap();
    Environment::new(now, move || random.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed))
}

/// An API over a bucket.
pub(crate) struct Harness {
    pub(crate) bucket: MemoryBucket,
    pub(crate) api: BucketApi,
}

impl Harness {
    pub(crate) fn new() -> Self {
        Self::over(MemoryBucket::new("apps"))
    }

    /// Starts an API over a bucket, which may have entries.
    pub(crate) fn over(bucket: MemoryBucket) -> Self {
        let kind = BucketKind::defined(kind(), Arc::new(bucket.clone()), &definition());
        Self { bucket, api: BucketApi::new(vec![kind], environment(1)) }
    }

    /// Starts the API of one of the replicas with shards. The number gives it random numbers of its own.
    pub(crate) fn of_replica(bucket: MemoryBucket, number: u64) -> Self {
        let kind = BucketKind::defined(kind(), Arc::new(bucket.clone()), &definition()).with_shards(true);
        Self { bucket, api: BucketApi::new(vec![kind], environment(number)) }
    }

    /// Replaces the API, as a restart of its process does.
    pub(crate) fn restart(self) -> Self {
        let Self { bucket, api } = self;
        drop(api);
        Self::over(bucket)
    }

    /// Sends a request, and returns the status and the body.
    pub(crate) async fn send(&self, method: &str, uri: &str, media: &str, body: &Value) -> (u16, Value) {
        read(send(&self.api, method, uri, media, body).await).await
    }

    pub(crate) async fn get(&self, uri: &str) -> (u16, Value) {
        self.send("GET", uri, "", &Value::Null).await
    }

    /// Reads the object `web`, which exists.
    pub(crate) async fn web(&self) -> Value {
        let (code, object) = self.get(WEB).await;
        assert_eq!(code, 200, "{object}");
        object
    }

    /// Creates an object, and returns it.
    pub(crate) async fn create(&self, object: &Value) -> Value {
        let (code, object) = self.send("POST", APPS, "application/json", object).await;
        assert_eq!(code, 201, "{object}");
        object
    }

    pub(crate) async fn put(&self, uri: &str, object: &Value) -> (u16, Value) {
        self.send("PUT", uri, "application/json", object).await
    }

    pub(crate) async fn merge(&self, uri: &str, patch: Value) -> (u16, Value) {
        self.send("PATCH", uri, MERGE, &patch).await
    }

    pub(crate) async fn apply(&self, manager: &str, force: bool, object: &Value) -> (u16, Value) {
        self.send("PATCH", &format!("{WEB}?fieldManager={manager}&force={force}"), APPLY, object).await
    }

    pub(crate) async fn delete(&self, uri: &str) -> (u16, Value) {
        self.send("DELETE", uri, "", &Value::Null).await
    }

    /// Sets the finalizers of the object `web`, and returns it.
    pub(crate) async fn set_finalizers(&self, finalizers: &[&str]) -> Value {
        let (code, object) = self.merge(WEB, json!({"metadata": {"finalizers": finalizers}})).await;
        assert_eq!(code, 200, "{object}");
        object
    }

    /// Starts a watch.
    pub(crate) async fn watch(&self, query: &str) -> Events {
        self.watch_as(query, "").await
    }

    /// Starts a watch with a header `Accept`.
    pub(crate) async fn watch_as(&self, query: &str, accept: &str) -> Events {
        let request = Request::get(format!("{APPS}?watch=true&{query}")).header("accept", accept);
        let response = self.api.respond(request.body(Vec::<u8>::new().into()).unwrap()).await;
        assert_eq!(response.status(), 200);
        Events(response.into_body().into_data_stream())
    }

    /// Returns the resourceVersion of a list.
    pub(crate) async fn list_version(&self) -> String {
        let (_, list) = self.get(APPS).await;
        list["metadata"]["resourceVersion"].as_str().unwrap().to_owned()
    }

    /// Returns the revision of an entry; `None` if there is none.
    pub(crate) async fn revision(&self, key: &str) -> Option<u64> {
        use crate::bucket::Bucket as _;
        self.bucket.get(key).await.unwrap().map(|entry| entry.revision)
    }

    /// Returns the value of an entry.
    pub(crate) async fn stored(&self, key: &str) -> Value {
        use crate::bucket::Bucket as _;
        serde_json::from_slice(&self.bucket.get(key).await.unwrap().unwrap().value).unwrap()
    }
}

/// The events of a watch.
pub(crate) struct Events(BodyDataStream);

impl Events {
    /// Returns the next event; `None` at the end of the watch.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        let line = timeout(Duration::from_secs(3600), self.0.next()).await.expect("an event within an hour");
        line.map(|line| serde_json::from_slice(&line.unwrap()).unwrap())
    }

    /// Returns the type of the next event, and the name of its object.
    pub(crate) async fn next_name(&mut self) -> (String, String) {
        let event = self.next().await.expect("an event");
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        (text(&event["type"]), text(&event["object"]["metadata"]["name"]))
    }

    /// Checks the types and the names of the next events.
    pub(crate) async fn expect(&mut self, events: &[(&str, &str)]) {
        for (event_type, name) in events {
            assert_eq!(self.next_name().await, ((*event_type).to_owned(), (*name).to_owned()));
        }
    }
}

/// Sends a request to an API.
pub(crate) async fn send(api: &BucketApi, method: &str, uri: &str, media: &str, body: &Value) -> Response<Body> {
    let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
    let request = Request::builder().method(method).uri(uri).header("content-type", media);
    api.respond(request.body(body.into()).unwrap()).await
}

/// Reads the status and the body of a response.
pub(crate) async fn read(response: Response<Body>) -> (u16, Value) {
    let code = response.status().as_u16();
    let body = to_bytes(response.into_body(), usize::MAX).await.unwrap();
    (code, serde_json::from_slice(&body).unwrap())
}

/// Returns the object `web` with a spec.
pub(crate) fn web(spec: Value) -> Value {
    json!({"apiVersion": "demo.example.com/v1", "kind": "WebApp", "metadata": {"name": "web"}, "spec": spec})
}

/// Returns an object with a name and labels.
pub(crate) fn labeled(name: &str, labels: Value) -> Value {
    let mut object = web(json!({"image": "a"}));
    object["metadata"] = json!({"name": name, "labels": labels});
    object
}
