//! What the server makes of a new object of each kind.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, unreachable_pub)]

use opgen_sandbox::Sandbox;
use serde_json::{Value, json};

mod ask;

use ask::{ask, prepare};

/// What was sent to kube-apiserver 1.36, and what it made of it: `path`, `object`, `created`.
const CREATED: &str = include_str!("golden/created.json");

#[tokio::test(start_paused = true)]
async fn each_kind_is_created_as_kubernetes_creates_it() {
    let sandbox = Sandbox::builder().seed(1).start();
    prepare(&sandbox).await;
    let rows: Vec<Value> = serde_json::from_str(CREATED).unwrap();
    assert!(rows.len() > 70);
    let mut different = Vec::new();
    for row in rows {
        let path = row["path"].as_str().unwrap();
        let (code, made) = ask(&sandbox, "POST", &format!("{path}?dryRun=All"), &row["object"]).await;
        let (made, seen) = (comparable(&row["object"], made), comparable(&row["object"], row["created"].clone()));
        if code != 201 || made != seen {
            let mut told = Vec::new();
            differences("", &made, &seen, &mut told);
            different.push(format!("{path} {}\n  {}", row["object"], told.join("\n  ")));
        }
    }
    assert!(different.is_empty(), "{} differ:\n{}", different.len(), different.join("\n"));
}

/// Without what is new each time, and without what admission adds.
fn comparable(asked: &Value, mut object: Value) -> Value {
    let uid = object["metadata"]["uid"].as_str().unwrap_or("UID").to_owned();
    for fresh in ["uid", "creationTimestamp", "resourceVersion", "managedFields"] {
        remove(&mut object["metadata"], fresh);
    }
    remove(&mut object["status"], "lastPhaseTransitionTime");
    if object["kind"] == "Service" {
        allocated(asked, &mut object);
    }
    if let Some(finalizers) = object["metadata"]["finalizers"].as_array_mut() {
        finalizers.retain(|finalizer| !finalizer.as_str().unwrap().ends_with("-protection"));
    }
    if object["metadata"]["finalizers"].as_array().is_none_or(Vec::is_empty) {
        remove(&mut object["metadata"], "finalizers");
    }
    if object["kind"] == "Node" {
        remove(&mut object["spec"], "taints");
    }
    if object["kind"] == "Pod" {
        admitted(&mut object["spec"]);
    }
    for part in ["status", "spec"] {
        if object[part].is_null() {
            remove(&mut object, part);
        }
    }
    serde_json::from_str(&object.to_string().replace(&uid, "UID")).unwrap()
}

fn remove(object: &mut Value, key: &str) {
    if let Some(map) = object.as_object_mut() {
        map.remove(key);
    }
}

fn allocated(asked: &Value, service: &mut Value) {
    if asked["spec"]["clusterIP"].is_null() && service["spec"]["clusterIP"].is_string() {
        let address = service["spec"]["clusterIP"].as_str().unwrap();
        assert!(address.starts_with("10.96."), "{address}");
        service["spec"]["clusterIP"] = "ADDRESS".into();
        service["spec"]["clusterIPs"] = json!(["ADDRESS"]);
    }
    for port in service["spec"]["ports"].as_array_mut().into_iter().flatten() {
        if let Some(number) = port["nodePort"].as_i64() {
            assert!((30000..32768).contains(&number));
            port["nodePort"] = "PORT".into();
        } else {
            remove(port, "nodePort");
        }
    }
}

fn admitted(spec: &mut Value) {
    for added in ["tolerations", "priority", "preemptionPolicy", "serviceAccount", "serviceAccountName"] {
        remove(spec, added);
    }
    let ours = |list: &mut Value, key: &str, begin: &str| {
        if let Some(items) = list.as_array_mut() {
            items.retain(|item| !item[key].as_str().unwrap_or_default().starts_with(begin));
        }
        list.as_array().is_none_or(Vec::is_empty)
    };
    if ours(&mut spec["volumes"], "name", "kube-api-access-") {
        remove(spec, "volumes");
    }
    for containers in ["containers", "initContainers"] {
        for container in spec[containers].as_array_mut().into_iter().flatten() {
            if ours(&mut container["volumeMounts"], "mountPath", "/var/run/secrets/kubernetes.io/serviceaccount") {
                remove(container, "volumeMounts");
            }
        }
        if spec[containers].is_null() {
            remove(spec, containers);
        }
    }
}

fn differences(path: &str, made: &Value, seen: &Value, told: &mut Vec<String>) {
    match (made, seen) {
        (Value::Object(a), Value::Object(b)) => {
            let keys: std::collections::BTreeSet<_> = a.keys().chain(b.keys()).collect();
            for key in keys {
                let (a, b) = (a.get(key), b.get(key));
                match (a, b) {
                    (Some(a), Some(b)) => differences(&format!("{path}.{key}"), a, b, told),
                    _ => told.push(format!("{path}.{key}: made {a:?}, seen {b:?}")),
                }
            }
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            for (index, (a, b)) in a.iter().zip(b).enumerate() {
                differences(&format!("{path}[{index}]"), a, b, told);
            }
        }
        _ if made != seen => told.push(format!("{path}: made {made}, seen {seen}")),
        _ => {}
    }
}
