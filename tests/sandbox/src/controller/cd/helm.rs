//! Simulates the controller of an operator that deploys charts with Helm.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use super::{
    Action, ApiError, ChangeEvent, Controller, ControllerClient, EventSources, ObjectKey, ReconcileResult,
    deployment::{self, DEGRADED_CHART, Deployed, Deployment},
    steps::{get_with_finalizer, report},
};
use crate::object;

const DEPLOYMENTS: &str = "helmdeployments.cd.opgen.dev";
const DEFINITIONS: &str = "customresourcedefinitions.apiextensions.k8s.io";
/// The label of a definition that an operator has installed.
const OPERATOR_LABEL: (&str, &str) = ("app.kubernetes.io/managed-by", "opgen");
/// The finalizer of the controller.
const FINALIZER: &str = "cd.opgen.dev/simulation";
/// The time between two attempts.
const STEP: Duration = Duration::from_millis(500);

/// Deploys and removes releases. It leaves them alone if the program has installed the definition of their kind: then the program
/// deploys them itself.
#[derive(Debug)]
pub(super) struct HelmDeployments;

impl Controller for HelmDeployments {
    type Key = ObjectKey;

    fn sources(&self) -> EventSources {
        EventSources::Resources(&[DEPLOYMENTS])
    }

    fn keys_for(&mut self, _: &ControllerClient, _: &str, event: &ChangeEvent) -> Vec<ObjectKey> {
        vec![(event.object.namespace.to_string(), event.object.name.to_string())]
    }

    /// Reconciles a HelmDeployment: deploys the ConfigMap that stands for the objects of the release, and reports the conditions
    /// `Available` and `Ready`, or deletes the ConfigMap and then removes the finalizer if the object is being deleted. Does nothing if an
    /// operator has installed the definition of the kind, because that operator deploys the releases itself.
    async fn reconcile(&mut self, client: &ControllerClient, key: &ObjectKey) -> ReconcileResult {
        let definition = client.get(&*client.served_kind(DEFINITIONS)?, "", DEPLOYMENTS).unwrap_or_default();
        if object::labels(&definition).any(|label| label == OPERATOR_LABEL) {
            return Ok(Action::AwaitChange);
        }
        let Some((kind, release)) = get_with_finalizer(client, DEPLOYMENTS, key, FINALIZER).await? else {
            return Ok(Action::AwaitChange);
        };
        let retry = Action::RequeueAt(Instant::now() + STEP);
        if object::is_deleting(&release) {
            if !object::finalizers(&release).contains(&FINALIZER) {
                return Ok(Action::AwaitChange);
            }
            let spec_text = |field: &str| object::text(&release, &["spec", field]);
            // A cluster without its kubeconfig Secret counts as deleted, together with the release.
            let is_gone = missing_kubeconfig(client, &release).is_some();
            if !is_gone
                && !deployment::remove(client, &release, Some((spec_text("namespace"), spec_text("release")))).await?
            {
                return Ok(retry);
            }
            client.remove_finalizer(&kind, &release, FINALIZER).await?;
            return Ok(Action::AwaitChange);
        }
        let ((available, ready, reason, message), is_done) = deploy(client, &release).await?;
        let conditions = [("Available", available, reason, &*message), ("Ready", ready, reason, &*message)];
        report(client, &kind, &release, &conditions, json!({})).await?;
        Ok(if is_done { Action::AwaitChange } else { retry })
    }
}

/// Returns the name of the kubeconfig Secret that a release refers to, if this Secret does not exist; `None` otherwise.
fn missing_kubeconfig<'a>(client: &ControllerClient, release: &'a Value) -> Option<&'a str> {
    let name = object::text(&release["spec"], &["kubeconfig", "name"]);
    let secret = client.kind("secrets").and_then(|kind| client.get(&kind, object::namespace(release), name));
    (!name.is_empty() && secret.is_none()).then_some(name)
}

/// The statuses of the conditions `Available` and `Ready`, and their reason and message.
type HelmOutcome = (&'static str, &'static str, &'static str, String);

/// Deploys the release of a HelmDeployment. Returns its conditions, and whether the next attempt waits for a change of the object;
/// otherwise it follows after `STEP`.
async fn deploy(client: &ControllerClient, release: &Value) -> Result<(HelmOutcome, bool), ApiError> {
    let spec = &release["spec"];
    if let Some(kubeconfig) = missing_kubeconfig(client, release) {
        let message = format!("Secret {kubeconfig} with the kubeconfig does not exist");
        return Ok((("False", "Unknown", "KubeconfigMissing", message), false));
    }
    let deployment = Deployment {
        application: release,
        namespace: object::text(spec, &["namespace"]),
        creates_namespace: spec["createNamespace"] == true,
        release: object::text(spec, &["release"]),
        content: json!({
            "repository": spec["repository"], "chart": spec["chart"], "version": spec["version"],
            "values": spec["values"], "parameters": spec["parameters"],
        }),
    };
    Ok(match deployment.deploy(client).await? {
        Deployed::NoNamespace => {
            let message = format!("helm upgrade: namespaces \"{}\" not found", deployment.namespace);
            (("False", "False", "HelmFailed", message), false)
        }
        // The objects of the chart `degraded` never get ready, which is a failure unless `allowDegraded` is set.
        _ if spec["chart"] == DEGRADED_CHART && spec["allowDegraded"] != true => {
            let message = format!("Deployment {}: its progress deadline is exceeded", deployment.release);
            (("False", "Unknown", "Degraded", message), true)
        }
        Deployed::Changed => (("False", "Unknown", "Progressing", "the objects are not ready yet".to_owned()), false),
        Deployed::Unchanged => (("True", "True", "Provisioned", String::new()), true),
    })
}
