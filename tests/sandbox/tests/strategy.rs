//! Tests of the defaults and fields that the server sets on new objects of each kind.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, unreachable_pub)]

use opgen_sandbox::Sandbox;
use serde_json::{Value, json};

use crate::admin_client::{prepare, send};

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
        let (code, made) = send(&sandbox, "POST", &format!("{path}?dryRun=All"), &row["object"]).await;
        let (made, seen) = (comparable(&row["object"], made), comparable(&row["object"], row["created"].clone()));
        if code != 201 || made != seen {
            let mut told = Vec::new();
            differences("", &made, &seen, &mut told);
            different.push(format!("{path} {}\n  {}", row["object"], told.join("\n  ")));
        }
    }
    assert!(different.is_empty(), "{} differ:\n{}", different.len(), different.join("\n"));
}

/// Without what is new each time.
fn comparable(asked: &Value, mut object: Value) -> Value {
    let uid = object["metadata"]["uid"].as_str().unwrap_or("UID").to_owned();
    for fresh in ["uid", "creationTimestamp", "resourceVersion", "managedFields"] {
        remove(&mut object["metadata"], fresh);
    }
    remove(&mut object["status"], "lastPhaseTransitionTime");
    if object["kind"] == "Service" {
        allocated(asked, &mut object);
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
        if port["nodePort"].is_i64() {
            port["nodePort"] = "PORT".into();
        } else {
            remove(port, "nodePort");
        }
    }
}

/// The volume of the account's token has a name of its own each time.
fn admitted(spec: &mut Value) {
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

/// What kube-apiserver made of a patch: `path`, `before`, `patch`, `subresource`; by how many `generations` it differs,
/// the metadata, and of Services and Secrets all of it (`after`).
const UPDATED: &str = include_str!("golden/updated.json");

#[tokio::test(start_paused = true)]
async fn a_change_counts_and_reaches_what_it_does_in_kubernetes() {
    let rows: Vec<Value> = serde_json::from_str(UPDATED).unwrap();
    assert!(rows.len() > 160);
    let mut different = Vec::new();
    for row in &rows {
        let (made, seen) = (changed(row).await, changed_then(row));
        if made != seen {
            let mut told = Vec::new();
            differences("", &made, &seen, &mut told);
            let what = format!("{} {} {}", row["path"], row["subresource"], row["patch"]);
            different.push(format!("{what}\n  {}", told.join("\n  ")));
        }
    }
    assert!(different.is_empty(), "{} of {} differ:\n{}", different.len(), rows.len(), different.join("\n"));
}

async fn changed(row: &Value) -> Value {
    let sandbox = Sandbox::builder().seed(1).start();
    prepare(&sandbox).await;
    let path = row["path"].as_str().unwrap();
    let (code, before) = send(&sandbox, "POST", path, &row["before"]).await;
    assert_eq!(code, 201, "{before}");
    let subresource =
        row["subresource"].as_str().filter(|name| !name.is_empty()).map_or(String::new(), |name| format!("/{name}"));
    let at = format!("{path}/{}{subresource}?dryRun=All", row["before"]["metadata"]["name"].as_str().unwrap());
    let (code, after) = send(&sandbox, "PATCH", &at, &row["patch"]).await;
    let generation = |object: &Value| object["metadata"]["generation"].as_i64().unwrap_or(0);
    let mut made = json!({"code": code, "generations": generation(&after) - generation(&before)});
    for part in ["labels", "annotations", "finalizers", "ownerReferences"] {
        made[part] = metadata_part(&after["metadata"][part]);
    }
    if !row["after"].is_null() {
        made["after"] = comparable(&row["before"], after);
    }
    made
}

fn changed_then(row: &Value) -> Value {
    let mut seen = json!({"code": row["code"], "generations": row["generations"]});
    for part in ["labels", "annotations", "finalizers", "ownerReferences"] {
        seen[part] = metadata_part(&row[part]);
    }
    if !row["after"].is_null() {
        seen["after"] = comparable(&row["before"], row["after"].clone());
    }
    seen
}

/// Without what controllers and admission add, and without the uid in a Job's labels.
fn metadata_part(part: &Value) -> Value {
    let mut part = part.clone();
    if let Some(map) = part.as_object_mut() {
        map.retain(|key, _| {
            !key.starts_with("deployment.kubernetes.io/") && !key.starts_with("node.alpha.kubernetes.io")
        });
        for (key, value) in map.iter_mut().filter(|(key, _)| key.ends_with("controller-uid")) {
            assert!(key.len() > 10);
            *value = "UID".into();
        }
    }
    let empty = part.as_object().is_some_and(serde_json::Map::is_empty) || part.as_array().is_some_and(Vec::is_empty);
    if empty { Value::Null } else { part }
}

/// What kube-apiserver says to an update without a version (`unversioned`), and to one of what isn't there (`missing`).
const REPLACED: &str = include_str!("golden/replaced.json");

#[tokio::test(start_paused = true)]
async fn an_update_needs_what_it_needs_in_kubernetes() {
    let rows: Vec<Value> = serde_json::from_str(REPLACED).unwrap();
    assert!(rows.len() > 35);
    let mut different = Vec::new();
    for row in &rows {
        let sandbox = Sandbox::builder().seed(1).start();
        prepare(&sandbox).await;
        let path = row["path"].as_str().unwrap();
        let name = row["object"]["metadata"]["name"].as_str().unwrap();
        let (code, mut made) = send(&sandbox, "POST", path, &row["object"]).await;
        assert_eq!(code, 201, "{made}");
        remove(&mut made["metadata"], "resourceVersion");
        remove(&mut made["metadata"], "managedFields");
        let (unversioned, _) = send(&sandbox, "PUT", &format!("{path}/{name}?dryRun=All"), &made).await;
        let mut other = row["object"].clone();
        other["metadata"]["name"] = "other".into();
        let (missing, _) = send(&sandbox, "PUT", &format!("{path}/other?dryRun=All"), &other).await;
        if json!([unversioned, missing]) != json!([row["unversioned"], row["missing"]]) {
            different
                .push(format!("{path}: {unversioned}, {missing}; seen {}, {}", row["unversioned"], row["missing"]));
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
}
