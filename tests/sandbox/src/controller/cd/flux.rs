//! Simulates the controllers of Flux: sources, releases and kustomizations.

use std::time::Duration;

use ring::digest::{SHA256, digest};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::{
    Action, ApiError, ChangeEvent, Controller, ControllerClient, EventSources, ObjectKey, ReconcileResult,
    deployment::{self, DEGRADED_CHART, Deployed, Deployment},
    steps::{get_with_finalizer, report},
};
use crate::object;

const SOURCES: &[&str] = &[
    "helmrepositories.source.toolkit.fluxcd.io",
    "ocirepositories.source.toolkit.fluxcd.io",
    "gitrepositories.source.toolkit.fluxcd.io",
];
const HELM_RELEASES: &str = "helmreleases.helm.toolkit.fluxcd.io";
const RELEASES: &[&str] = &[HELM_RELEASES, "kustomizations.kustomize.toolkit.fluxcd.io"];
/// The finalizer of all controllers of Flux.
const FINALIZER: &str = "finalizers.fluxcd.io";
/// The time between two attempts.
const STEP: Duration = Duration::from_millis(500);
/// The maximum length of the name of a Helm release. Flux ends a longer name with a hash.
const MAX_RELEASE_NAME: usize = 53;
/// The length of that hash, in hexadecimal digits.
const NAME_HASH: usize = 12;

/// The group resource and the key of an object.
type FluxKey = (&'static str, ObjectKey);

/// Makes artifacts of sources.
#[derive(Debug)]
pub(super) struct Sources;

/// Deploys releases and kustomizations.
#[derive(Debug)]
pub(super) struct Releases;

/// Returns the key of the changed object if `resources` lists its group resource, which the key contains; otherwise no key.
fn keys(resources: &'static [&'static str], group_resource: &str, event: &ChangeEvent) -> Vec<FluxKey> {
    let key = (event.object.namespace.to_string(), event.object.name.to_string());
    resources
        .iter()
        .find(|resource| **resource == group_resource)
        .map(|resource| (*resource, key))
        .into_iter()
        .collect()
}

impl Controller for Sources {
    type Key = FluxKey;

    fn sources(&self) -> EventSources {
        EventSources::Resources(SOURCES)
    }

    fn keys_for(&mut self, _: &ControllerClient, group_resource: &str, event: &ChangeEvent) -> Vec<FluxKey> {
        keys(SOURCES, group_resource, event)
    }

    /// Reconciles a Flux source (HelmRepository, OCIRepository or GitRepository): reports it as ready at once, without fetching anything,
    /// or removes the finalizer if the source is being deleted.
    async fn reconcile(&mut self, client: &ControllerClient, (resource, key): &FluxKey) -> ReconcileResult {
        let Some((kind, source)) = get_with_finalizer(client, resource, key, FINALIZER).await? else {
            return Ok(Action::AwaitChange);
        };
        if object::is_deleting(&source) {
            client.remove_finalizer(&kind, &source, FINALIZER).await?;
            return Ok(Action::AwaitChange);
        }
        let artifact = json!({"revision": source["spec"]["ref"], "url": source["spec"]["url"]});
        let extra = json!({"artifact": artifact});
        report(client, &kind, &source, &[("Ready", "True", "Succeeded", "stored artifact")], extra).await?;
        Ok(Action::AwaitChange)
    }
}

impl Controller for Releases {
    type Key = FluxKey;

    fn sources(&self) -> EventSources {
        EventSources::Resources(RELEASES)
    }

    fn keys_for(&mut self, _: &ControllerClient, group_resource: &str, event: &ChangeEvent) -> Vec<FluxKey> {
        keys(RELEASES, group_resource, event)
    }

    /// Reconciles a HelmRelease or a Kustomization: deploys the ConfigMap that stands for its objects, and reports the condition `Ready`,
    /// or deletes the ConfigMap and then removes the finalizer if the object is being deleted.
    async fn reconcile(&mut self, client: &ControllerClient, (resource, key): &FluxKey) -> ReconcileResult {
        let Some((kind, release)) = get_with_finalizer(client, resource, key, FINALIZER).await? else {
            return Ok(Action::AwaitChange);
        };
        let retry = Action::RequeueAt(Instant::now() + STEP);
        if object::is_deleting(&release) {
            if !object::finalizers(&release).contains(&FINALIZER) {
                return Ok(Action::AwaitChange);
            }
            // Without the kubeconfig Flux can't reach the cluster of the objects, and retries until the Secret exists.
            if missing_kubeconfig(client, &release).is_some() {
                return Ok(retry);
            }
            // Helm uninstalls a release by its name. A Kustomization has no release.
            let release_name = (*resource == HELM_RELEASES).then(|| release_name(&release));
            let installed = release_name.as_deref().map(|name| (target_namespace(&release), name));
            if !deployment::remove(client, &release, installed).await? {
                return Ok(retry);
            }
            client.remove_finalizer(&kind, &release, FINALIZER).await?;
            return Ok(Action::AwaitChange);
        }
        let ((status, reason, message), is_done) = deploy(client, resource, &release).await?;
        report(client, &kind, &release, &[("Ready", status, reason, &*message)], json!({})).await?;
        Ok(if is_done { Action::AwaitChange } else { retry })
    }
}

/// Returns the name of the kubeconfig Secret that a release refers to, if this Secret does not exist; `None` otherwise.
fn missing_kubeconfig<'a>(client: &ControllerClient, release: &'a Value) -> Option<&'a str> {
    let name = object::text(&release["spec"], &["kubeConfig", "secretRef", "name"]);
    let secret = client.kind("secrets").and_then(|kind| client.get(&kind, object::namespace(release), name));
    (!name.is_empty() && secret.is_none()).then_some(name)
}

/// The status, reason and message of the condition `Ready`.
type Ready = (&'static str, &'static str, String);

/// Returns the namespace into which a HelmRelease or a Kustomization is deployed: `targetNamespace`, or else its own namespace. In Flux the
/// manifests of a Kustomization can name other namespaces; the simulation reads no manifests.
fn target_namespace(release: &Value) -> &str {
    match object::text(release, &["spec", "targetNamespace"]) {
        "" => object::namespace(release),
        namespace => namespace,
    }
}

/// Returns the name of the Helm release of a `HelmRelease`. The default is `TARGETNAMESPACE-NAME`, and `NAME` without a `targetNamespace`.
/// Shortens a name that is too long for Helm, and appends the first digits of its SHA-256 hash.
fn release_name(release: &Value) -> String {
    let spec = &release["spec"];
    let name = match (object::text(spec, &["releaseName"]), object::text(spec, &["targetNamespace"])) {
        ("", "") => object::name(release).to_owned(),
        ("", namespace) => format!("{namespace}-{}", object::name(release)),
        (name, _) => name.to_owned(),
    };
    if name.len() <= MAX_RELEASE_NAME {
        return name;
    }
    let beginning = name.chars().take(MAX_RELEASE_NAME - NAME_HASH - 1);
    let hash: String = digest(&SHA256, name.as_bytes()).as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    beginning.chain(['-']).chain(hash.chars().take(NAME_HASH)).collect()
}

/// Deploys a HelmRelease or a Kustomization, whose group resource is `resource`. Returns the condition `Ready`, and whether the next
/// attempt waits for a change of the object; otherwise it follows after `STEP`.
async fn deploy(client: &ControllerClient, resource: &str, release: &Value) -> Result<(Ready, bool), ApiError> {
    let spec = &release["spec"];
    let Some(source) = source(client, release) else {
        return Ok((("False", "SourceNotReady", "the source does not exist".to_owned()), false));
    };
    if ready(&source) != "True" {
        return Ok((("False", "SourceNotReady", "the source is not ready".to_owned()), false));
    }
    if let Some(kubeconfig) = missing_kubeconfig(client, release) {
        return Ok((("False", "ReconciliationFailed", format!("secrets \"{kubeconfig}\" not found")), false));
    }
    let name = if resource == HELM_RELEASES { release_name(release) } else { object::name(release).to_owned() };
    let deployment = Deployment {
        application: release,
        namespace: target_namespace(release),
        creates_namespace: spec["install"]["createNamespace"] == true,
        release: &name,
        content: json!({
            "source": source["spec"], "chart": spec["chart"], "path": spec["path"], "values": spec["values"],
        }),
    };
    Ok(match deployment.deploy(client).await? {
        Deployed::NoNamespace => {
            let message = format!("namespaces \"{}\" not found", deployment.namespace);
            (("False", "InstallFailed", message), false)
        }
        // Flux waits until the objects are ready unless `disableWait` is set; those of the chart `degraded` never are.
        _ if spec["chart"]["spec"]["chart"] == DEGRADED_CHART && spec["install"]["disableWait"] != true => {
            (("False", "InstallFailed", "context deadline exceeded".to_owned()), true)
        }
        Deployed::Changed => (("Unknown", "Progressing", "the objects are not ready yet".to_owned()), false),
        Deployed::Unchanged => (("True", "InstallSucceeded", "the objects are ready".to_owned()), true),
    })
}

/// Returns the source object to which a HelmRelease or a Kustomization refers; `None` if it does not exist.
fn source(client: &ControllerClient, release: &Value) -> Option<Value> {
    let spec = &release["spec"];
    // The three fields of HelmReleases and Kustomizations that can contain the reference.
    let candidates = [&spec["chartRef"], &spec["chart"]["spec"]["sourceRef"], &spec["sourceRef"]];
    let reference = candidates.into_iter().find(|reference| reference.is_object())?;
    let resource =
        SOURCES.iter().find(|resource| client.kind(resource).is_some_and(|kind| reference["kind"] == *kind.kind))?;
    client.get(&*client.kind(resource)?, object::namespace(release), object::text(reference, &["name"]))
}

/// Returns the status of the condition `Ready`; empty if there is no such condition or the status was written for an older generation.
fn ready(object: &Value) -> &str {
    if object["status"]["observedGeneration"] != object["metadata"]["generation"] {
        return "";
    }
    let conditions = object["status"]["conditions"].as_array().into_iter().flatten();
    let ready = conditions.into_iter().find(|condition| condition["type"] == "Ready");
    ready.and_then(|condition| condition["status"].as_str()).unwrap_or_default()
}
