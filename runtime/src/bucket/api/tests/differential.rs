//! Compares the API with the sandbox, which is a full API server: both answer random requests with the same codes, objects, and reasons of
//! failures.

use super::harness::{APPLY, APPS, FINALIZER, Harness, JSON, MERGE, definition, web};
use fastrand::Rng;
use http::Request;
use http_body_util::BodyExt as _;
use opgen_sandbox::{Sandbox, User};
use serde_json::{Value, json};

/// The number of scripts, and of the requests of each.
const SCRIPTS: u64 = 12;
const STEPS: usize = 80;

/// Makes the body of a request from the current object.
type MakeBody = Box<dyn Fn(&Value) -> Value>;

/// A request of a script. The body is made from the current object of each server, so that versions and uids are its own.
struct Step {
    method: &'static str,
    uri: String,
    media: &'static str,
    body: MakeBody,
    /// The path of the object.
    object: String,
}

/// Both servers, with the same kind.
struct Pair {
    sandbox: Sandbox,
    harness: Harness,
}

impl Pair {
    async fn new(seed: u64) -> Self {
        let pair = Self { sandbox: Sandbox::builder().seed(seed).start(), harness: Harness::new() };
        let definition = serde_json::to_value(definition()).unwrap();
        let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
        let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}});
        for (uri, object) in [(definitions, definition), ("/api/v1/namespaces", namespace)] {
            let (code, created) = pair.ask_sandbox("POST", uri, "application/json", &object).await;
            assert_eq!(code, 201, "{created}");
        }
        for _ in 0..10_000 {
            if pair.ask_sandbox("GET", APPS, "", &Value::Null).await.0 == 200 {
                return pair;
            }
            tokio::task::yield_now().await;
        }
        panic!("the sandbox does not serve the kind");
    }

    async fn ask_sandbox(&self, method: &str, uri: &str, media: &str, body: &Value) -> (u16, Value) {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let request = Request::builder().method(method).uri(uri).header("content-type", media);
        let response = self.sandbox.call(User::admin("admin"), request.body(body.into()).unwrap()).await;
        let code = response.status().as_u16();
        let text = response.into_body().collect().await.unwrap().to_bytes();
        (code, serde_json::from_slice(&text).unwrap_or_default())
    }

    /// Sends a request to both, and returns the answers: that of the sandbox first.
    async fn send(&self, step: &Step) -> [(u16, Value); 2] {
        let (_, of_sandbox) = self.ask_sandbox("GET", &step.object, "", &Value::Null).await;
        let (_, of_bucket) = self.harness.get(&step.object).await;
        let (of_sandbox, of_bucket) = ((step.body)(&of_sandbox), (step.body)(&of_bucket));
        [
            self.ask_sandbox(step.method, &step.uri, step.media, &of_sandbox).await,
            self.harness.send(step.method, &step.uri, step.media, &of_bucket).await,
        ]
    }
}

/// Removes what differs between two servers from an object.
fn normalized(mut object: Value) -> Value {
    if object["kind"] == "Status" {
        return json!({"kind": "Status", "status": object["status"]});
    }
    if let Some(items) = object["items"].as_array() {
        return items.iter().cloned().map(normalized).collect();
    }
    let Some(metadata) = object["metadata"].as_object_mut() else { return object };
    ["uid", "resourceVersion", "creationTimestamp"].iter().for_each(|field| drop(metadata.remove(*field)));
    if let Some(timestamp) = metadata.get_mut("deletionTimestamp") {
        *timestamp = json!("deleted");
    }
    metadata.retain(|_, value| *value != json!({}) && *value != json!([]));
    if let Some(Value::Array(entries)) = metadata.get_mut("managedFields") {
        for entry in entries.iter_mut() {
            entry.as_object_mut().unwrap().remove("time");
        }
        entries.sort_by_key(Value::to_string);
    }
    object
}

/// Returns a random spec with some of the fields.
fn spec(random: &mut Rng) -> Value {
    let mut spec = json!({});
    let pick = |random: &mut Rng, from: &[&str]| from[random.usize(..from.len())].to_owned();
    if random.bool() {
        spec["image"] = pick(random, &["a", "b"]).into();
    }
    if random.bool() {
        // Two of the numbers are not valid.
        spec["replicas"] = random.i32(-1..8).into();
        if random.u8(..16) == 0 {
            spec["replicas"] = json!(99);
        }
    }
    if random.u8(..3) == 0 {
        spec["args"] = json!([pick(random, &["x", "y"]), pick(random, &["x", "y"])]);
    }
    if random.bool() {
        let mut tags = vec!["x", "y", "z"];
        random.shuffle(&mut tags);
        tags.truncate(random.usize(1..3));
        spec["tags"] = json!(tags);
    }
    if random.bool() {
        let mut ports = vec![1, 2, 3];
        random.shuffle(&mut ports);
        ports.truncate(random.usize(1..3));
        let port = |port: i32| match random.u8(..3) {
            0 => json!({"port": port, "name": "a"}),
            1 => json!({"port": port, "name": "b"}),
            _ => json!({"port": port}),
        };
        spec["ports"] = ports.into_iter().map(port).collect();
    }
    if random.bool() {
        let mut options = json!({});
        for _ in 0..random.usize(1..3) {
            options[pick(random, &["k", "l", "m"])] = pick(random, &["1", "2"]).into();
        }
        spec["options"] = options;
    }
    spec
}

/// Returns an object with a random spec, and sometimes with labels and a finalizer.
fn object(random: &mut Rng, name: &str) -> Value {
    let mut object = web(spec(random));
    object["metadata"] = json!({"name": name});
    if random.bool() {
        object["metadata"]["labels"] = json!({"app": if random.bool() { "one" } else { "two" }});
    }
    if random.u8(..4) == 0 {
        object["metadata"]["finalizers"] = json!([FINALIZER]);
    }
    object
}

/// Returns a random JSON patch, which may not apply.
fn json_patch(random: &mut Rng) -> Value {
    match random.u8(..7) {
        0 => json!([{"op": "add", "path": "/spec/image", "value": "c"}]),
        1 => json!([{"op": "remove", "path": "/spec/image"}]),
        2 => json!([{"op": "replace", "path": "/spec/replicas", "value": random.u8(..5)}]),
        3 => json!([{"op": "add", "path": "/metadata/finalizers", "value": [FINALIZER]}]),
        4 => json!([{"op": "remove", "path": "/metadata/finalizers/0"}]),
        5 => json!([{"op": "add", "path": "/metadata/labels/app", "value": "three"}]),
        _ => json!([{"op": "test", "path": "/spec/replicas", "value": 1}, {"op": "remove", "path": "/spec/options"}]),
    }
}

/// Returns a random merge patch.
fn merge_patch(random: &mut Rng) -> Value {
    match random.u8(..5) {
        0 => json!({"spec": {"image": null, "options": {"k": null, "l": "3"}}}),
        1 => json!({"metadata": {"labels": {"app": null}, "annotations": {"note": "n"}}}),
        2 => json!({"metadata": {"finalizers": null}}),
        3 => json!({"metadata": {"finalizers": [FINALIZER, "demo.example.com/other"]}}),
        _ => json!({"spec": spec(random)}),
    }
}

/// Returns a random request.
fn step(random: &mut Rng) -> Step {
    let name = ["a", "b"][random.usize(..2)];
    let manager = ["one", "two", "three"][random.usize(..3)];
    let path = format!("{APPS}/{name}");
    let managed = |path: &str| format!("{path}?fieldManager={manager}");
    let fixed = |body: Value| -> Box<dyn Fn(&Value) -> Value> { Box::new(move |_| body.clone()) };
    let (method, uri, media, body): (_, _, _, MakeBody) = match random.u8(..16) {
        0..=2 => ("POST", managed(APPS), "application/json", fixed(object(random, name))),
        3..=4 => {
            let new = object(random, name);
            let keeps_version = random.u8(..5) > 0;
            let update = move |current: &Value| {
                let mut new = new.clone();
                if keeps_version {
                    new["metadata"]["resourceVersion"] = current["metadata"]["resourceVersion"].clone();
                }
                new
            };
            ("PUT", managed(&path), "application/json", Box::new(update))
        }
        5..=6 => ("PATCH", managed(&path), MERGE, fixed(merge_patch(random))),
        7 => ("PATCH", managed(&path), JSON, fixed(json_patch(random))),
        8..=11 => {
            let uri = format!("{}&force={}", managed(&path), random.bool());
            ("PATCH", uri, APPLY, fixed(object(random, name)))
        }
        12 => {
            let (phase, count) = (["x", "y"][random.usize(..2)], random.u8(..2));
            let update = move |current: &Value| {
                let mut new = current.clone();
                new["status"] = json!({"phase": phase, "count": count});
                new
            };
            ("PUT", managed(&format!("{path}/status")), "application/json", Box::new(update))
        }
        13 => {
            let patch =
                if random.bool() { json!({"status": {"phase": "z"}}) } else { json!({"status": {"count": null}}) };
            ("PATCH", managed(&format!("{path}/status")), MERGE, fixed(patch))
        }
        14 => {
            let is_other = random.u8(..4) == 0;
            let options = move |current: &Value| {
                let uid = if is_other { json!("other") } else { current["metadata"]["uid"].clone() };
                if uid.is_null() { json!({}) } else { json!({"preconditions": {"uid": uid}}) }
            };
            ("DELETE", path.clone(), "application/json", Box::new(options))
        }
        _ => ("GET", format!("{APPS}?labelSelector=app%3Done"), "", fixed(Value::Null)),
    };
    Step { method, uri, media, body, object: path }
}

#[tokio::test]
async fn random_requests_get_the_answers_of_an_api_server() {
    for seed in 0..SCRIPTS {
        let (pair, mut random) = (Pair::new(seed).await, Rng::with_seed(seed));
        let mut script = Vec::new();
        for _ in 0..STEPS {
            let step = step(&mut random);
            script.push(format!("{} {} {}", step.method, step.uri, (step.body)(&Value::Null)));
            let [(code, expected), (actual_code, actual)] = pair.send(&step).await;
            let recent = || script[script.len().saturating_sub(12)..].join("\n");
            assert_eq!(actual_code, code, "seed {seed}:\n{}\nexpected {expected}\nactual {actual}", recent());
            if code < 400 {
                let (expected, actual) = (normalized(expected), normalized(actual));
                assert_eq!(actual, expected, "seed {seed}:\n{}", recent());
            } else {
                assert_eq!(actual["reason"], expected["reason"], "seed {seed}:\n{}", recent());
            }
        }
    }
}
