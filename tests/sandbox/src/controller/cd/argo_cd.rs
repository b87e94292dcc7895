//! Simulates the application controller of Argo CD.

use std::time::Duration;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::{
    Action, ChangeEvent, Controller, ControllerClient, EventSources, ObjectKey, ReconcileResult,
    deployment::{self, DEGRADED_CHART, Deployed, Deployment},
};
use crate::object;

const APPLICATIONS: &str = "applications.argoproj.io";
/// The finalizer of an application whose deployed objects are deleted before it.
const FINALIZER: &str = "resources-finalizer.argocd.argoproj.io";
/// The name of the cluster of Argo CD.
const OWN_CLUSTER: &str = "in-cluster";
const SECRETS: &str = "secrets";
/// The label of a Secret that registers a cluster.
const SECRET_TYPE: (&str, &str) = ("argocd.argoproj.io/secret-type", "cluster");
/// The time between two steps of an application.
const STEP: Duration = Duration::from_millis(500);

/// Compares, syncs and removes applications.
#[derive(Debug)]
pub(super) struct ArgoCd;

impl Controller for ArgoCd {
    type Key = ObjectKey;

    fn sources(&self) -> EventSources {
        EventSources::Resources(&[APPLICATIONS])
    }

    fn keys_for(&mut self, _: &ControllerClient, _: &str, event: &ChangeEvent) -> Vec<ObjectKey> {
        vec![(event.object.namespace.to_string(), event.object.name.to_string())]
    }

    /// Reconciles an Argo CD Application: makes the next step of its sync and writes the status. For a deleted Application with the
    /// finalizer, deletes the ConfigMap that stands for the deployed objects, and then removes the finalizer.
    async fn reconcile(&mut self, client: &ControllerClient, (namespace, name): &ObjectKey) -> ReconcileResult {
        let kind = client.served_kind(APPLICATIONS)?;
        let Some(application) = client.get(&kind, namespace, name) else { return Ok(Action::AwaitChange) };
        if object::is_deleting(&application) {
            if !object::finalizers(&application).contains(&FINALIZER) {
                return Ok(Action::AwaitChange);
            }
            // Argo CD gives up the deployed objects in a cluster that is not registered any more. `remove` returns whether nothing is left
            // to delete.
            if !is_registered(client, &application) || deployment::remove(client, &application, None).await? {
                client.remove_finalizer(&kind, &application, FINALIZER).await?;
                return Ok(Action::AwaitChange);
            }
            return Ok(Action::RequeueAt(Instant::now() + STEP));
        }
        let (status, is_done) = next_status(client, &application).await?;
        if status != application["status"] {
            let uid = object::uid(&application);
            let patch = json!({"metadata": {"uid": uid}, "status": status_patch(&application["status"], &status)});
            client.merge_patch(&kind, (namespace, name), "", &patch).await?;
        }
        Ok(if is_done { Action::AwaitChange } else { Action::RequeueAt(Instant::now() + STEP) })
    }
}

/// Returns a JSON merge patch that turns the status `old` into `new`: all fields of `new`, and null for the fields that only `old` has.
fn status_patch(old: &Value, new: &Value) -> Value {
    let mut patch = new.clone();
    for (field, _) in old.as_object().into_iter().flatten() {
        if new[field].is_null() {
            patch[field] = Value::Null;
        }
    }
    patch
}

/// Returns whether the destination cluster of an Application is the one in which Argo CD runs (`in-cluster`), or whether a cluster Secret
/// in the namespace of the Application registers it by name.
fn is_registered(client: &ControllerClient, application: &Value) -> bool {
    let cluster = object::text(&application["spec"], &["destination", "name"]);
    let Some(kind) = client.kind(SECRETS).filter(|_| cluster != OWN_CLUSTER) else { return true };
    let registers_cluster = |secret: &Value| {
        let has_name = secret["data"]["name"] == STANDARD.encode(cluster);
        has_name && object::labels(secret).any(|label| label == SECRET_TYPE)
    };
    client.list(&kind, Some(object::namespace(application))).iter().any(registers_cluster)
}

/// Makes the next step of an Application: compares it with its last sync, or deploys the ConfigMap that stands for its objects. Returns the
/// new status, and whether the next reconcile waits for a change of the Application; otherwise it follows after `STEP`.
async fn next_status(client: &ControllerClient, application: &Value) -> Result<(Value, bool), super::ApiError> {
    let (spec, status) = (&application["spec"], &application["status"]);
    let comparison = json!({"source": spec["source"], "destination": spec["destination"]});
    let status_of = |sync: &str, health: &str| json!({"sync": {"status": sync, "comparedTo": comparison}, "health": {"status": health}});
    let options = spec["syncPolicy"]["syncOptions"].as_array().into_iter().flatten();
    let release = object::text(spec, &["source", "helm", "releaseName"]);
    let deployment = Deployment {
        application,
        namespace: object::text(spec, &["destination", "namespace"]),
        creates_namespace: options.into_iter().any(|option| option == "CreateNamespace=true"),
        release: if release.is_empty() { object::name(application) } else { release },
        content: spec["source"].clone(),
    };
    if !is_registered(client, application) {
        let mut unknown = json!({"sync": {"status": "Unknown"}, "health": {"status": "Unknown"}});
        let message = format!("there is no cluster with this name: {}", object::text(spec, &["destination", "name"]));
        unknown["conditions"] = json!([{"type": "InvalidSpecError", "message": message}]);
        // A cluster may be registered later.
        return Ok((unknown, false));
    }
    if status["sync"]["comparedTo"] != comparison {
        // The health is still that of the objects before the change.
        let health = status["health"]["status"].as_str().unwrap_or("Missing");
        return Ok((status_of("OutOfSync", health), false));
    }
    match deployment.deploy(client).await? {
        Deployed::NoNamespace => {
            let mut failed = status_of("OutOfSync", "Missing");
            let message = format!("namespaces \"{}\" not found", deployment.namespace);
            failed["operationState"] = json!({"phase": "Failed", "message": message});
            // A namespace may be created later.
            Ok((failed, false))
        }
        Deployed::Changed => Ok((status_of("Synced", "Progressing"), false)),
        Deployed::Unchanged if spec["source"]["chart"] == DEGRADED_CHART => {
            let mut degraded = status_of("Synced", "Degraded");
            let message = "Deployment exceeded its progress deadline";
            let health = json!({"status": "Degraded", "message": message});
            degraded["resources"] = json!([{"kind": "Deployment", "name": deployment.release, "health": health}]);
            Ok((degraded, true))
        }
        Deployed::Unchanged => Ok((status_of("Synced", "Healthy"), true)),
    }
}
