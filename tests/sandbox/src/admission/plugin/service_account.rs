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

/// The path at which the token is mounted.
const MOUNT_PATH: &str = "/var/run/secrets/kubernetes.io/serviceaccount";

/// The annotation of a mirror Pod. The kubelet runs the static Pod regardless of the server; its mirror needs no
/// ServiceAccount.
const MIRROR_ANNOTATION: &str = "kubernetes.io/config.mirror";

const SERVICE_ACCOUNTS: &str = "serviceaccounts";
const DEFAULT_ACCOUNT: &str = "default";

/// The time to wait for the default ServiceAccount: the real server looks for it ten times at intervals.
const DEFAULT_ACCOUNT_TIMEOUT: Duration = Duration::from_millis(1500);

/// The lifetime of a token: an hour and seven seconds, which distinguishes these tokens from tokens that a client
/// requests.
const TOKEN_SECONDS: i64 = 3607;

/// Returns whether the write creates a Pod other than a mirror Pod, which represents a static Pod of the kubelet.
fn applies_to(review: &Review<'_>) -> bool {
    review.writes(Operation::Create, "", "pods")
        && object::at(&review.object, &["metadata", "annotations", MIRROR_ANNOTATION]).is_none()
}

/// Sets the ServiceAccount of a new Pod and mounts a token of it. Copies the image pull secrets of the ServiceAccount if the Pod has none.
/// Returns a 403 error if the ServiceAccount does not exist.
pub(crate) async fn mutate(review: &mut Review<'_>) -> Result<(), Failure> {
    if !applies_to(review) {
        return Ok(());
    }
    let spec = object::map_at(&mut review.object, &["spec"]);
    let pod_account = spec.get("serviceAccountName").and_then(Value::as_str).filter(|name| !name.is_empty());
    let name = pod_account.unwrap_or(DEFAULT_ACCOUNT).to_owned();
    spec.insert("serviceAccountName".into(), name.clone().into());
    // The old name of the field, which the API returns together with the new one.
    spec.insert("serviceAccount".into(), name.clone().into());
    wait_for_default(review, &name).await;
    let account = service_account(review, &name)?;
    let suffix = |review: &Review<'_>| review.request.server.environment.suffix(5);
    let pod_automount = &review.object["spec"]["automountServiceAccountToken"];
    // The Pod takes precedence over its ServiceAccount; the default is to mount the token.
    let automount = pod_automount.as_bool().or(account["automountServiceAccountToken"].as_bool());
    let volume = automount.unwrap_or(true).then(|| volume_name(&review.object, || suffix(review)));
    let spec = object::map_at(&mut review.object, &["spec"]);
    if let Some(volume) = volume {
        mount_token(spec, volume);
    }
    let secrets = account.get("imagePullSecrets").filter(|secrets| secrets.is_array());
    if let Some(secrets) = secrets
        && spec.get("imagePullSecrets").and_then(Value::as_array).is_none_or(Vec::is_empty)
    {
        spec.insert("imagePullSecrets".into(), secrets.clone());
    }
    Ok(())
}

/// Rejects a new Pod whose ServiceAccount does not exist.
pub(crate) fn validate(review: &Review<'_>) -> Result<(), Failure> {
    if !applies_to(review) {
        return Ok(());
    }
    let name = object::text(&review.object, &["spec", "serviceAccountName"]);
    service_account(review, name).map(drop)
}

/// Waits until the ServiceAccount `name` exists if it is the default one, which is created shortly after a new namespace. Gives up after
/// `DEFAULT_ACCOUNT_TIMEOUT` without an error.
async fn wait_for_default(review: &Review<'_>, name: &str) {
    let (store, namespace) = (&review.request.server.store, review.request.namespace);
    if name != DEFAULT_ACCOUNT || store.get(SERVICE_ACCOUNTS, namespace, name).is_some() {
        return;
    }
    let mut subscription = store.subscribe(&SERVICE_ACCOUNTS.into());
    let created = async {
        while store.get(SERVICE_ACCOUNTS, namespace, name).is_none() && subscription.changed().await.is_ok() {}
    };
    // The caller checks whether the account exists.
    let _ = timeout(DEFAULT_ACCOUNT_TIMEOUT, created).await;
}

/// Returns the ServiceAccount with the name. Returns a 403 error if it does not exist.
fn service_account(review: &Review<'_>, name: &str) -> Result<Value, Failure> {
    let namespace = review.request.namespace;
    stored_object(review.request.server, SERVICE_ACCOUNTS, namespace, name).ok_or_else(|| {
        let why = format!("error looking up service account {namespace}/{name}: serviceaccount {name:?} not found");
        review.forbidden(&why)
    })
}

/// Returns the name of the token volume that the Pod already has, or a new name with a random suffix.
fn volume_name(pod: &Value, suffix: impl FnOnce() -> String) -> String {
    let volumes = object::at(pod, &["spec", "volumes"]).and_then(Value::as_array);
    let names = volumes.into_iter().flatten().map(|volume| object::text(volume, &["name"]));
    let existing = names.into_iter().find(|name| name.starts_with("kube-api-access-"));
    existing.map_or_else(|| format!("kube-api-access-{}", suffix()), str::to_owned)
}

/// Adds a mount of the token to each container that mounts nothing at its path. Adds the volume `volume` to the Pod if a container mounts
/// it now.
fn mount_token(spec: &mut Map<String, Value>, volume: String) {
    let mut is_mounted = false;
    for containers in ["initContainers", "containers"] {
        let containers = spec.get_mut(containers).and_then(Value::as_array_mut);
        for container in containers.into_iter().flatten().filter_map(Value::as_object_mut) {
            let mounts = container.entry("volumeMounts").or_insert_with(|| json!([]));
            if mounts.is_null() {
                *mounts = json!([]);
            }
            let Some(mounts) = mounts.as_array_mut() else { continue };
            if mounts.iter().all(|mount| mount["mountPath"] != MOUNT_PATH) {
                mounts.push(json!({"name": volume, "readOnly": true, "mountPath": MOUNT_PATH}));
                is_mounted = true;
            }
        }
    }
    let volumes = spec.entry("volumes").or_insert_with(|| json!([]));
    if volumes.is_null() {
        *volumes = json!([]);
    }
    if let Some(volumes) = volumes.as_array_mut()
        && is_mounted
        && volumes.iter().all(|existing| existing["name"] != *volume)
    {
        volumes.push(token_volume(&volume));
    }
}

/// Returns the projected volume with the ServiceAccount token, the CA certificate and the name of the namespace. The mode 420 is 0644 in
/// octal.
fn token_volume(name: &str) -> Value {
    let token = json!({"serviceAccountToken": {"expirationSeconds": TOKEN_SECONDS, "path": "token"}});
    let authority = json!({"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}});
    let namespace = json!({"path": "namespace", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}});
    let sources = json!([token, authority, {"downwardAPI": {"items": [namespace]}}]);
    json!({"name": name, "projected": {"sources": sources, "defaultMode": 420}})
}
