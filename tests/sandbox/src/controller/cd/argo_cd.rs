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
/// The finalizer that asks for the removal of what was deployed.
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

    async fn reconcile(&mut self, client: &ControllerClient, (namespace, name): &ObjectKey) -> ReconcileResult {
        let kind = client.served_kind(APPLICATIONS)?;
        let Some(application) = client.get(&kind, namespace, name) else { return Ok(Action::AwaitChange) };
        if object::is_deleting(&application) {
            if !object::finalizers(&application).contains(&FINALIZER) {
                return Ok(Action::AwaitChange);
            }
            // Argo CD gives up what it deployed into a cluster that is not registered any more.
            if !is_registered(client, &application) || deployment::remove(client, &application, None).await? {
                client.remove_finalizer(&kind, &application, FINALIZER).await?;
                return Ok(Action::AwaitChange);
            }
            return Ok(Action::RequeueAt(Instant::now() + STEP));
        }
        let (status, is_done) = next_status(client, &application).await?;
        if status != application["status"] {
            let uid = object::uid(&application);
            let patch = json!({"metadata": {"uid": uid}, "status": replacement(&application["status"], &status)});
            client.merge_patch(&kind, (namespace, name), "", &patch).await?;
        }
        Ok(if is_done { Action::AwaitChange } else { Action::RequeueAt(Instant::now() + STEP) })
    }
}

/// Returns a merge patch that replaces a status.
fn replacement(old: &Value, new: &Value) -> Value {
    let mut patch = new.clone();
    for (field, _) in old.as_object().into_iter().flatten() {
        if new[field].is_null() {
            patch[field] = Value::Null;
        }
    }
    patch
}

/// Returns whether the cluster of an application is that of Argo CD, or registered.
fn is_registered(client: &ControllerClient, application: &Value) -> bool {
    let cluster = object::text(&application["spec"], &["destination", "name"]);
    let Some(kind) = client.kind(SECRETS).filter(|_| cluster != OWN_CLUSTER) else { return true };
    let is_cluster = |secret: &Value| {
        let has_name = secret["data"]["name"] == STANDARD.encode(cluster);
        has_name && object::labels(secret).any(|label| label == SECRET_TYPE)
    };
    client.list(&kind, Some(object::namespace(application))).iter().any(is_cluster)
}

/// Makes the next step of an application. Returns its status, and whether the application waits for a change.
async fn next_status(client: &ControllerClient, application: &Value) -> Result<(Value, bool), super::ApiError> {
    let (spec, status) = (&application["spec"], &application["status"]);
    let compared = json!({"source": spec["source"], "destination": spec["destination"]});
    let with = |sync: &str, health: &str| json!({"sync": {"status": sync, "comparedTo": compared}, "health": {"status": health}});
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
    if status["sync"]["comparedTo"] != compared {
        // The health is still that of the objects before the change.
        let health = status["health"]["status"].as_str().unwrap_or("Missing");
        return Ok((with("OutOfSync", health), false));
    }
    match deployment.deploy(client).await? {
        Deployed::NoNamespace => {
            let mut failed = with("OutOfSync", "Missing");
            let message = format!("namespaces \"{}\" not found", deployment.namespace);
            failed["operationState"] = json!({"phase": "Failed", "message": message});
            // A namespace may be created later.
            Ok((failed, false))
        }
        Deployed::Changed => Ok((with("Synced", "Progressing"), false)),
        Deployed::Unchanged if spec["source"]["chart"] == DEGRADED_CHART => {
            let mut degraded = with("Synced", "Degraded");
            let message = "Deployment exceeded its progress deadline";
            let health = json!({"status": "Degraded", "message": message});
            degraded["resources"] = json!([{"kind": "Deployment", "name": deployment.release, "health": health}]);
            Ok((degraded, true))
        }
        Deployed::Unchanged => Ok((with("Synced", "Healthy"), true)),
    }
}
