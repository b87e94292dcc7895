//! Applies random configurations by several field managers, and checks invariants of server-side apply, such as that a repeated apply
//! changes nothing.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use bytes::Bytes;
use fastrand::Rng;
use http::Request;
use http_body_util::BodyExt as _;
use opgen_sandbox::{Sandbox, User};
use serde_json::{Map, Value, json};

const PATH: &str = "/api/v1/namespaces/default/podtemplates/a";

async fn apply(sandbox: &Sandbox, manager: &str, object: &Value, force: bool) -> (u16, Value) {
    let request = Request::patch(format!("{PATH}?fieldManager={manager}&force={force}"))
        .header("content-type", "application/apply-patch+yaml")
        .body(Bytes::from(object.to_string()))
        .unwrap();
    let response = sandbox.call(User::admin("admin"), request).await;
    let code = response.status().as_u16();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    (code, serde_json::from_slice(&body).unwrap())
}

/// What the first manager applies and keeps.
fn base() -> Value {
    let spec = json!({"containers": [{"name": "c", "image": "i"}]});
    json!({"apiVersion": "v1", "kind": "PodTemplate", "metadata": {"name": "a"}, "template": {"spec": spec}})
}

fn nothing() -> Value {
    json!({"apiVersion": "v1", "kind": "PodTemplate", "metadata": {"name": "a"}})
}

fn some<T>(chance: &mut Rng, of: &[&str], each: impl Fn(&mut Rng, &str) -> T) -> Vec<T> {
    let mut chosen: Vec<_> = of.iter().filter(|_| chance.bool()).copied().collect();
    chance.shuffle(&mut chosen);
    chosen.into_iter().map(|name| each(chance, name)).collect()
}

/// Labels (a map), finalizers (a set), containers with variables (lists by key), arguments and a selector (atomic).
fn random(chance: &mut Rng) -> Value {
    let value = |chance: &mut Rng| format!("{}", chance.u8(..3));
    let mut object = nothing();
    let labels: Map<_, _> =
        some(chance, &["x", "y", "z"], |chance, key| (key.to_owned(), value(chance).into())).into_iter().collect();
    if !labels.is_empty() {
        object["metadata"]["labels"] = labels.into();
    }
    let finalizers = some(chance, &["f/a", "f/b", "f/c"], |_, name| Value::from(name));
    if chance.bool() && !finalizers.is_empty() {
        object["metadata"]["finalizers"] = finalizers.into();
    }
    let containers = some(chance, &["c", "d", "e"], |chance, name| {
        let mut container = json!({"name": name, "image": "i"});
        let env = some(chance, &["A", "B", "C"], |chance, name| json!({"name": name, "value": value(chance)}));
        if !env.is_empty() {
            container["env"] = env.into();
        }
        let ports = some(chance, &["80", "443"], |chance, port| {
            let port: u16 = port.parse().unwrap();
            if chance.bool() {
                json!({"containerPort": port})
            } else {
                json!({"containerPort": port, "protocol": "UDP"})
            }
        });
        if !ports.is_empty() {
            container["ports"] = ports.into();
        }
        let args = some(chance, &["p", "q"], |_, word| Value::from(word));
        if !args.is_empty() {
            container["args"] = args.into();
        }
        container
    });
    if !containers.is_empty() {
        object["template"] = json!({"spec": {"containers": containers}});
    }
    if chance.bool() {
        object["template"]["spec"]["nodeSelector"] = json!({"s": value(chance)});
    }
    object
}

/// The value that a key of `FieldsV1` points at.
fn step<'a>(value: &'a Value, key: &str) -> Option<&'a Value> {
    let (sort, rest) = key.split_at(2);
    match sort {
        "f:" => value.get(rest),
        "v:" => value.as_array()?.iter().find(|item| **item == serde_json::from_str::<Value>(rest).unwrap()),
        "k:" => {
            let wanted: Map<String, Value> = serde_json::from_str(rest).unwrap();
            value.as_array()?.iter().find(|item| wanted.iter().all(|(key, value)| item.get(key) == Some(value)))
        }
        _ => panic!("{key}"),
    }
}

/// Returns whether all fields of a set are in the object.
fn are_in(fields: &Value, object: &Value) -> bool {
    fields
        .as_object()
        .unwrap()
        .iter()
        .filter(|(key, _)| *key != ".")
        .all(|(key, below)| step(object, key).is_some_and(|value| are_in(below, value)))
}

/// Returns whether the object says all that was applied.
fn says(object: &Value, applied: &Value) -> bool {
    match (object, applied) {
        (Value::Object(has), Value::Object(said)) => {
            said.iter().all(|(key, value)| has.get(key).is_some_and(|own| says(own, value)))
        }
        (Value::Array(has), Value::Array(said)) => said.iter().all(|item| has.iter().any(|own| says(own, item))),
        _ => object == applied,
    }
}

fn managers(object: &Value) -> Vec<Value> {
    object["metadata"]["managedFields"].as_array().cloned().unwrap_or_default()
}

fn check(object: &Value, seed: u64) {
    for entry in managers(object) {
        assert!(are_in(&entry["fieldsV1"], object), "seed {seed}: {entry} of {object}");
    }
}

fn content(object: &Value) -> Value {
    let mut content = object.clone();
    let metadata = content["metadata"].as_object_mut().unwrap();
    ["managedFields", "resourceVersion", "generation"].iter().for_each(|key| drop(metadata.remove(*key)));
    content
}

async fn live(seed: u64) {
    let mut chance = Rng::with_seed(seed);
    let sandbox = Sandbox::builder().seed(seed).start();
    let (code, first) = apply(&sandbox, "base", &base(), false).await;
    assert_eq!(code, 201, "{first}");
    let mut before = first.clone();
    for _ in 0..20 {
        let manager = *chance.choice(&["one", "two", "three"]).unwrap();
        let (applied, force) = (random(&mut chance), chance.bool());
        let (code, after) = apply(&sandbox, manager, &applied, force).await;
        if code == 409 {
            assert!(!force, "seed {seed}: {after}");
            assert!(!after["details"]["causes"].as_array().unwrap().is_empty());
            let (_, same) = apply(&sandbox, "base", &base(), false).await;
            assert_eq!(same, before, "seed {seed}: a refused apply changed something");
            continue;
        }
        assert_eq!(code, 200, "seed {seed}: {after} of {applied}");
        check(&after, seed);
        assert!(says(&after, &applied), "seed {seed}: {after} doesn't say {applied}");
        let (code, again) = apply(&sandbox, manager, &applied, false).await;
        assert_eq!((code, &again), (200, &after), "seed {seed}: applied twice");
        before = after;
    }
    for manager in ["two", "three", "one"] {
        let (code, after) = apply(&sandbox, manager, &nothing(), false).await;
        assert_eq!(code, 200, "seed {seed}: {after}");
        check(&after, seed);
        assert!(managers(&after).iter().all(|entry| entry["manager"] != manager), "seed {seed}: {after}");
        before = after;
    }
    assert_eq!(content(&before), content(&first), "seed {seed}: something was left behind");
}

#[tokio::test(start_paused = true)]
async fn owners_own_what_is_there_applies_repeat_and_what_all_give_up_goes() {
    for seed in 0..12 {
        live(seed).await;
    }
}
