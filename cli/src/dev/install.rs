//! Reads the manifests of the operator's executable, applies objects to the API server, and waits until their kinds are served.

use std::{path::Path, time::Duration};

use serde::Deserialize;
use tokio::time::{Instant, sleep};

use super::{client::Client, document::Document, process_group::ProcessGroup};
use crate::error::{Error, Result, ResultExt as _};

/// The field manager for server-side apply.
const FIELD_MANAGER: &str = "opgen-dev";

/// The timeout for a kind to be served.
const SERVED_TIMEOUT: Duration = Duration::from_secs(30);

/// The interval between two requests.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

#[derive(Deserialize)]
struct Manifests {
    files: Vec<ManifestFile>,
}

#[derive(Deserialize)]
struct ManifestFile {
    path: String,
    text: String,
}

/// What an operator needs in order to run.
#[derive(Debug)]
pub(super) struct Requirements {
    /// The CRDs, the role and the ServiceAccount. The Deployment is omitted, since the operator runs locally.
    pub(super) documents: Vec<Document>,
    /// The names of the buckets of the kinds that are in NATS.
    pub(super) buckets: Vec<String>,
}

/// Runs `<operator> manifests`, and returns the objects and NATS buckets that have to exist before the operator runs.
pub(super) async fn requirements(program: &Path, process_group: &ProcessGroup) -> Result<Requirements> {
    let failed = || format!("failed to get the manifests from `{}`", program.display());
    let output =
        process_group.command(program).args(["manifests", "--output", "json"]).output().await.or_failed(failed)?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr).trim().trim_start_matches("error: ").to_owned();
        return Err(Error::failed(failed()).because(message));
    }
    let manifests: Manifests = serde_json::from_slice(&output.stdout)
        .or_failed(failed)
        .map_err(|error| error.hint("write the `main` of the binary with `opgen::operator!`"))?;
    requirements_of(&manifests)
}

/// Selects the requirements of an operator from its manifests: the objects in `install.yaml` that are needed to run it locally, and the
/// NATS buckets.
fn requirements_of(manifests: &Manifests) -> Result<Requirements> {
    let parse_file = |path: &str| {
        let text = manifests.files.iter().find(|file| file.path == path).map(|file| file.text.as_str());
        Document::parse(text.unwrap_or_default(), &format!("`{path}`"))
    };
    Ok(Requirements {
        documents: parse_file("install.yaml")?.into_iter().filter(|document| !is_workload(document)).collect(),
        buckets: buckets_of(manifests)?,
    })
}

/// Returns the NATS buckets that the operator opens, its own and those of other operators. It reads them from the subjects to which the
/// operator's NATS user may publish, in `nats/account.json`.
fn buckets_of(manifests: &Manifests) -> Result<Vec<String>> {
    const PATH: &str = "nats/account.json";
    // A client opens a bucket with a request to this subject.
    const OPENING: &str = "$JS.API.STREAM.INFO.KV_";
    // An operator without buckets has no such file.
    let Some(file) = manifests.files.iter().find(|file| file.path == PATH) else { return Ok(Vec::new()) };
    let account: serde_json::Value =
        serde_json::from_str(&file.text).or_failed(|| format!("failed to parse the generated `{PATH}`"))?;
    let subjects = account["permissions"]["publish"]["allow"].as_array().into_iter().flatten();
    let names = subjects.filter_map(|subject| subject.as_str()?.strip_prefix(OPENING));
    Ok(names.map(str::to_owned).collect())
}

/// Returns whether an object is only needed to run the operator as a Pod, as the Deployment is. The namespace, ServiceAccount, CRDs and
/// RBAC objects are also needed for an operator that runs locally.
fn is_workload(document: &Document) -> bool {
    let needed = ["Namespace", "ServiceAccount", "CustomResourceDefinition"].contains(&document.kind());
    !needed && document.group() != "rbac.authorization.k8s.io"
}

/// Applies the objects one after another: waits until the kind of each is served, and after a CRD until it is established.
pub(super) async fn apply(client: &Client, documents: &[Document], namespace: &str) -> Result<()> {
    for document in documents {
        let path = wait_served(client, document, namespace).await?;
        let response =
            client.apply(&format!("{path}?fieldManager={FIELD_MANAGER}&force=true"), &document.object).await?;
        response.object(|| format!("failed to apply {}", document.title()))?;
        if document.kind() == "CustomResourceDefinition" {
            wait_established(client, document, &path).await?;
        }
    }
    Ok(())
}

/// Waits until the API server serves the kind of an object, at most for `SERVED_TIMEOUT`, and returns the URL path of the object.
/// `namespace` is for a namespaced object without a namespace.
async fn wait_served(client: &Client, document: &Document, namespace: &str) -> Result<String> {
    let end = Instant::now() + SERVED_TIMEOUT;
    loop {
        let resources = client.get(&document.discovery_path()).await?.body;
        if let Some(path) = document.path(&resources, namespace) {
            return Ok(path);
        }
        // Waiting can only help for a kind of a CRD that was just applied. The group of a CRD has a dot.
        if Instant::now() > end || !document.discovery_path().contains('.') {
            let problem =
                format!("the cluster does not serve kind `{}` of `{}`", document.kind(), document.object["apiVersion"]);
            return Err(Error::failed(problem).hint("check that its definition is one of the operator's manifests"));
        }
        sleep(POLL_INTERVAL).await;
    }
}

/// Waits until the condition `Established` of a CRD is true, at most for `SERVED_TIMEOUT`. Then fails with the message of a false
/// condition.
async fn wait_established(client: &Client, document: &Document, path: &str) -> Result<()> {
    let end = Instant::now() + SERVED_TIMEOUT;
    loop {
        let definition = client.get(path).await?.body;
        let conditions = definition["status"]["conditions"].as_array().cloned().unwrap_or_default();
        let established = conditions.iter().find(|condition| condition["type"] == "Established");
        if established.is_some_and(|condition| condition["status"] == "True") {
            return Ok(());
        }
        if Instant::now() > end {
            let failed = conditions.iter().find(|condition| condition["status"] == "False");
            let message = failed.and_then(|condition| condition["message"].as_str());
            let cause = message.unwrap_or("the API server reports no reason").to_owned();
            return Err(Error::failed(format!("{} is not served", document.title())).because(cause));
        }
        sleep(POLL_INTERVAL).await;
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn an_operator_needs_its_definitions_its_role_and_its_buckets() {
        let file = |path: &str, text: &str| ManifestFile { path: path.to_owned(), text: text.to_owned() };
        let kinds = ["CustomResourceDefinition", "ServiceAccount", "Deployment"];
        let install: String = kinds.iter().map(|kind| format!("---\napiVersion: v1\nkind: {kind}\n")).collect();
        let account = r#"{"permissions": {"publish": {"allow": [
            "$JS.API.STREAM.INFO.KV_tiers", "$JS.API.STREAM.INFO.KV_widgets", "$KV.widgets.>"
        ]}}}"#;
        // The bucket of another operator is in no other file.
        let files = vec![file("nats/account.json", account), file("install.yaml", &install)];
        let requirements = requirements_of(&Manifests { files }).unwrap();
        assert_eq!(requirements.documents.iter().map(Document::kind).collect::<Vec<_>>(), kinds[..2]);
        assert_eq!(requirements.buckets, ["tiers", "widgets"]);
        assert!(requirements_of(&Manifests { files: Vec::new() }).unwrap().buckets.is_empty());
    }
}
