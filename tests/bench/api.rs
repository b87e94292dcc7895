//! An API server in the process that does just what one operator needs: lists, watches, creates, applies, merge patches. It answers
//! at once, so what is measured above it is the operator's own time.

use std::{
    collections::BTreeMap,
    convert::Infallible,
    sync::{Arc, Mutex, MutexGuard},
};

use axum::body::{Body, Bytes};
use futures::{StreamExt, channel::mpsc};
use http::{Method, Request, Response, StatusCode, header::CONTENT_TYPE, request::Parts};
use serde_json::{Map, Value, json};

/// The server; clones are of the same one.
#[derive(Clone, Default)]
pub(crate) struct Server(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    version: u64,
    writes: usize,
    /// By the path of their kind, then by namespace and name.
    objects: BTreeMap<String, BTreeMap<String, Value>>,
    watches: Vec<(String, mpsc::UnboundedSender<Bytes>)>,
}

impl Server {
    /// A client of it.
    pub(crate) fn client(&self) -> kube::Client {
        let server = self.clone();
        let service = tower::service_fn(move |request: Request<kube::client::Body>| {
            let server = server.clone();
            async move {
                let (head, body) = request.into_parts();
                let body = body.collect_bytes().await?;
                Ok::<_, kube::Error>(server.answer(&head, &body))
            }
        });
        kube::Client::new(service, "default")
    }

    /// Puts an object there, as somebody else would.
    pub(crate) fn put(&self, kind: &str, object: Value) {
        let mut state = self.state();
        let at = place(&object["metadata"]["namespace"], &object["metadata"]["name"]);
        state.store(kind, at, object);
    }

    /// Requests so far that were no reads.
    pub(crate) fn writes(&self) -> usize {
        self.state().writes
    }

    /// How many objects of a kind there are.
    pub(crate) fn count(&self, kind: &str) -> usize {
        self.state().objects.get(kind).map_or(0, BTreeMap::len)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap()
    }

    fn answer(&self, head: &Parts, body: &Bytes) -> Response<Body> {
        let (path, query) = (head.uri.path(), head.uri.query().unwrap_or_default());
        let manager = query.split('&').find_map(|pair| pair.strip_prefix("fieldManager=")).unwrap_or_default();
        let mut state = self.state();
        let target = Target::of(path);
        match (&head.method, &target.name) {
            (&Method::GET, None) if query.contains("watch=true") => state.watch(target.kind),
            (&Method::GET, None) => said(StatusCode::OK, &state.list(&target.kind)),
            (&Method::GET, Some(name)) => match state.objects.get(&target.kind).and_then(|kind| kind.get(name)) {
                Some(object) => said(StatusCode::OK, object),
                None => {
                    let status = json!({"kind": "Status", "status": "Failure", "reason": "NotFound", "code": 404, "message": "not found"});
                    said(StatusCode::NOT_FOUND, &status)
                }
            },
            (&Method::POST, None) => {
                let object: Value = serde_json::from_slice(body).unwrap();
                state.writes += 1;
                let at = place(&object["metadata"]["namespace"], &object["metadata"]["name"]);
                let object = written(None, object, (manager, "Update"), state.version);
                said(StatusCode::CREATED, &state.store(&target.kind, at, object))
            }
            (&Method::PATCH, Some(name)) if is_merge(head) => {
                let patch: Value = serde_json::from_slice(body).unwrap();
                state.writes += 1;
                let mut object = state.objects[&target.kind][name].clone();
                json_patch::merge(&mut object, &patch);
                let object = written(Some(object.clone()), object, (manager, "Update"), state.version);
                said(StatusCode::OK, &state.store(&target.kind, name.clone(), object))
            }
            // The only replacement that an operator sends is that of a status.
            (&Method::PATCH | &Method::PUT, Some(name)) => {
                let patch: Value = serde_json::from_slice(body).unwrap();
                state.writes += 1;
                let (status, object) = state.apply(&target.kind, name, target.of_status, patch, manager);
                said(status, &object)
            }
            (method, _) => panic!("{method} {path} is more than this server knows"),
        }
    }
}

/// What a path means.
struct Target {
    kind: String,
    name: Option<String>,
    of_status: bool,
}

impl Target {
    /// `/api/v1[/namespaces/NAMESPACE]/PLURAL[/NAME[/status]]`, or `/apis/GROUP/VERSION/…`.
    fn of(path: &str) -> Self {
        let mut parts = path.trim_matches('/').split('/');
        let base = if parts.next() == Some("api") { 1 } else { 2 };
        for _ in 0..base {
            parts.next();
        }
        let rest: Vec<&str> = parts.collect();
        let (namespace, rest) = match rest[..] {
            ["namespaces", namespace, ref rest @ ..] => (namespace, rest),
            ref rest => ("", rest),
        };
        let name = rest.get(1).map(|name| format!("{namespace}/{name}"));
        Self { kind: rest[0].to_owned(), name, of_status: rest.get(2) == Some(&"status") }
    }
}

impl State {
    fn store(&mut self, kind: &str, at: String, mut object: Value) -> Value {
        self.version += 1;
        object["metadata"]["resourceVersion"] = self.version.to_string().into();
        let before = self.objects.entry(kind.to_owned()).or_default().insert(at, object.clone());
        // A real server says the type first, too.
        let type_ = if before.is_some() { "MODIFIED" } else { "ADDED" };
        let event = Bytes::from(format!("{{\"type\":\"{type_}\",\"object\":{object}}}\n"));
        self.watches.retain(|(of, watch)| of != kind || watch.unbounded_send(event.clone()).is_ok());
        object
    }

    fn list(&self, kind: &str) -> Value {
        let items: Vec<&Value> = self.objects.get(kind).into_iter().flat_map(BTreeMap::values).collect();
        let metadata = json!({"resourceVersion": self.version.max(1).to_string()});
        json!({"kind": "List", "apiVersion": "v1", "metadata": metadata, "items": items})
    }

    /// What happens from now on: nobody writes between a list and the watch after it.
    fn watch(&mut self, kind: String) -> Response<Body> {
        let (sender, events) = mpsc::unbounded();
        self.watches.push((kind, sender));
        Response::builder().body(Body::from_stream(events.map(Ok::<_, Infallible>))).unwrap()
    }

    fn apply(&mut self, kind: &str, at: &str, of_status: bool, patch: Value, manager: &str) -> (StatusCode, Value) {
        let held = self.objects.get(kind).and_then(|objects| objects.get(at)).cloned();
        let status = if held.is_some() { StatusCode::OK } else { StatusCode::CREATED };
        let object = match (held, of_status) {
            (Some(mut held), true) => {
                held["status"] = patch["status"].clone();
                held
            }
            (held, _) => written(held, patch, (manager, "Apply"), self.version),
        };
        (status, self.store(kind, at.to_owned(), object))
    }
}

fn is_merge(head: &Parts) -> bool {
    head.headers.get(CONTENT_TYPE).is_some_and(|type_| type_ == "application/merge-patch+json")
}

/// An object after a write of all of it, by a manager and an operation.
fn written(held: Option<Value>, mut patch: Value, (manager, operation): (&str, &str), version: u64) -> Value {
    if let Some(metadata) = patch["metadata"].as_object_mut() {
        metadata.remove("managedFields");
    }
    let mut fields = fields(&patch);
    for implied in ["f:apiVersion", "f:kind"] {
        fields.remove(implied);
    }
    let version_of_kind = patch["apiVersion"].clone();
    let metadata = &mut patch["metadata"];
    let held = held.unwrap_or_default();
    metadata["uid"] = match &held["metadata"]["uid"] {
        Value::Null => format!("00000000-0000-4000-8000-{version:012}").into(),
        uid => uid.clone(),
    };
    metadata["generation"] = 1.into();
    metadata["creationTimestamp"] = "2026-01-01T00:00:00Z".into();
    metadata["managedFields"] = json!([{
        "manager": manager, "operation": operation, "apiVersion": version_of_kind,
        "fieldsType": "FieldsV1", "fieldsV1": fields,
    }]);
    if patch["kind"] == "Deployment" {
        let replicas = patch["spec"]["replicas"].clone();
        patch["status"] = json!({
            "observedGeneration": 1, "replicas": replicas, "updatedReplicas": replicas,
            "readyReplicas": replicas, "availableReplicas": replicas,
        });
    }
    patch
}

/// Whose fields they are: all of them; a list is one field.
fn fields(value: &Value) -> Map<String, Value> {
    let Value::Object(map) = value else { return Map::new() };
    map.iter().map(|(name, value)| (format!("f:{name}"), Value::Object(fields(value)))).collect()
}

fn place(namespace: &Value, name: &Value) -> String {
    format!("{}/{}", namespace.as_str().unwrap_or_default(), name.as_str().unwrap_or_default())
}

fn said(status: StatusCode, body: &Value) -> Response<Body> {
    Response::builder().status(status).body(Body::from(body.to_string())).unwrap()
}
