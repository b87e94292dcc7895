//! Implements `ServiceAccount`: sets the ServiceAccount of a Pod and mounts its token.

use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::time::timeout;

use super::lookup::stored_object;
use crate::{
    admission::{Operation, Review},
    failure::Failure,
    object,
};

const MOUNT: &str = "/var/run/secrets/kubernetes.io/serviceaccount";

/// The annotation of a mirror Pod. The kubelet runs the static Pod regardless of the server; its mirror needs no
/// account.
const MIRROR: &str = "kubernetes.io/config.mirror";

const ACCOUNTS: &str = "serviceaccounts";
const DEFAULT: &str = "default";

/// The time for which the real server looks for a default account: ten attempts at intervals.
const PATIENCE: Duration = Duration::from_millis(1500);

/// An hour and seven seconds, which distinguishes these tokens from tokens that a client requests.
const LIFETIME: i64 = 3607;

fn concerns(review: &Review<'_>) -> bool {
    review.writes(Operation::Create, "", "pods")
        && object::at(&review.object, &["metadata", "annotations", MIRROR]).is_none()
}

pub(crate) async fn mutate(review: &mut Review<'_>) -> Result<(), Failure> {
    if !concerns(review) {
        return Ok(());
    }
    let spec = object::map_at(&mut review.object, &["spec"]);
    let named = spec.get("serviceAccountName").and_then(Value::as_str).filter(|name| !name.is_empty());
    let name = named.unwrap_or(DEFAULT).to_owned();
    spec.insert("serviceAccountName".into(), name.clone().into());
    // The old name of the field, which the API returns together with the new one.
    spec.insert("serviceAccount".into(), name.clone().into());
    wait_for_default(review, &name).await;
    let account = account(review, &name)?;
    let suffix = |review: &Review<'_>| review.request.server.environment.suffix(5);
    let own = &review.object["spec"]["automountServiceAccountToken"];
    let automount = own.as_bool().or(account["automountServiceAccountToken"].as_bool());
    let volume = automount.unwrap_or(true).then(|| volume_name(&review.object, || suffix(review)));
    let spec = object::map_at(&mut review.object, &["spec"]);
    if let Some(volume) = volume {
        mount(spec, volume);
    }
    let secrets = account.get("imagePullSecrets").filter(|secrets| secrets.is_array());
    if let Some(secrets) = secrets
        && spec.get("imagePullSecrets").and_then(Value::as_array).is_none_or(Vec::is_empty)
    {
        spec.insert("imagePullSecrets".into(), secrets.clone());
    }
    Ok(())
}

pub(crate) fn validate(review: &Review<'_>) -> Result<(), Failure> {
    if !concerns(review) {
        return Ok(());
    }
    let name = object::text(&review.object, &["spec", "serviceAccountName"]);
    account(review, name).map(drop)
}

/// Waits for the default account of a new namespace, which is created shortly after the namespace.
async fn wait_for_default(review: &Review<'_>, name: &str) {
    let (store, namespace) = (&review.request.server.store, review.request.namespace);
    if name != DEFAULT || store.get(ACCOUNTS, namespace, name).is_some() {
        return;
    }
    let mut subscription = store.subscribe(&ACCOUNTS.into());
    let comes =
        async { while store.get(ACCOUNTS, namespace, name).is_none() && subscription.changed().await.is_ok() {} };
    // The caller checks whether the account exists.
    let _ = timeout(PATIENCE, comes).await;
}

fn account(review: &Review<'_>, name: &str) -> Result<Value, Failure> {
    let namespace = review.request.namespace;
    stored_object(review.request.server, ACCOUNTS, namespace, name).ok_or_else(|| {
        let why = format!("error looking up service account {namespace}/{name}: serviceaccount {name:?} not found");
        review.forbidden(&why)
    })
}

/// Returns the name of the existing token volume, or a new name.
fn volume_name(pod: &Value, suffix: impl FnOnce() -> String) -> String {
    let volumes = object::at(pod, &["spec", "volumes"]).and_then(Value::as_array);
    let names = volumes.into_iter().flatten().map(|volume| object::text(volume, &["name"]));
    let known = names.into_iter().find(|name| name.starts_with("kube-api-access-"));
    known.map_or_else(|| format!("kube-api-access-{}", suffix()), str::to_owned)
}

/// Adds the mount to each container without a mount at this path, and the volume if a mount needs it.
fn mount(spec: &mut Map<String, Value>, volume: String) {
    let mut needed = false;
    for containers in ["initContainers", "containers"] {
        let containers = spec.get_mut(containers).and_then(Value::as_array_mut);
        for container in containers.into_iter().flatten().filter_map(Value::as_object_mut) {
            let mounts = container.entry("volumeMounts").or_insert_with(|| json!([]));
            if mounts.is_null() {
                *mounts = json!([]);
            }
            let Some(mounts) = mounts.as_array_mut() else { continue };
            if mounts.iter().all(|mount| mount["mountPath"] != MOUNT) {
                mounts.push(json!({"name": volume, "readOnly": true, "mountPath": MOUNT}));
                needed = true;
            }
        }
    }
    let volumes = spec.entry("volumes").or_insert_with(|| json!([]));
    if volumes.is_null() {
        *volumes = json!([]);
    }
    if let Some(volumes) = volumes.as_array_mut()
        && needed
        && volumes.iter().all(|own| own["name"] != *volume)
    {
        volumes.push(token_volume(&volume));
    }
}

fn token_volume(name: &str) -> Value {
    let token = json!({"serviceAccountToken": {"expirationSeconds": LIFETIME, "path": "token"}});
    let authority = json!({"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}});
    let namespace = json!({"path": "namespace", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}});
    let sources = json!([token, authority, {"downwardAPI": {"items": [namespace]}}]);
    json!({"name": name, "projected": {"sources": sources, "defaultMode": 420}})
}
