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

/// Returns what the operator needs, by the manifests of its binary.
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

fn requirements_of(manifests: &Manifests) -> Result<Requirements> {
    let documents = |path: &str| {
        let text = manifests.files.iter().find(|file| file.path == path).map(|file| file.text.as_str());
        Document::parse(text.unwrap_or_default(), &format!("`{path}`"))
    };
    Ok(Requirements {
        documents: documents("install.yaml")?.into_iter().filter(|document| !is_workload(document)).collect(),
        buckets: buckets_of(manifests)?,
    })
}

/// Returns the buckets that the operator opens, its own and those of other operators, by the permissions of its user.
fn buckets_of(manifests: &Manifests) -> Result<Vec<String>> {
    const PATH: &str = "nats/account.json";
    // A client opens a bucket with a request to this subject.
    const OPENING: &str = "$JS.API.STREAM.INFO.KV_";
    let Some(file) = manifests.files.iter().find(|file| file.path == PATH) else { return Ok(Vec::new()) };
    let account: serde_json::Value =
        serde_json::from_str(&file.text).or_failed(|| format!("failed to parse the generated `{PATH}`"))?;
    let subjects = account["permissions"]["publish"]["allow"].as_array().into_iter().flatten();
    let names = subjects.filter_map(|subject| subject.as_str()?.strip_prefix(OPENING));
    Ok(names.map(str::to_owned).collect())
}

/// Returns whether an object is only needed to run the operator in the cluster.
fn is_workload(document: &Document) -> bool {
    let needed = ["Namespace", "ServiceAccount", "CustomResourceDefinition"].contains(&document.kind());
    !needed && document.group() != "rbac.authorization.k8s.io"
}

/// Applies the objects in their order, each as soon as its kind is served.
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

/// Waits until the kind of a document is served, and returns the path of the object.
async fn wait_served(client: &Client, document: &Document, namespace: &str) -> Result<String> {
    let end = Instant::now() + SERVED_TIMEOUT;
    loop {
        let resources = client.get(&document.discovery_path()).await?.body;
        if let Some(path) = document.path(&resources, namespace) {
            return Ok(path);
        }
        // Only a group with a dot can belong to a CRD that was just applied.
        if Instant::now() > end || !document.discovery_path().contains('.') {
            let problem =
                format!("the cluster does not serve kind `{}` of `{}`", document.kind(), document.object["apiVersion"]);
            return Err(Error::failed(problem).hint("check that its definition is one of the operator's manifests"));
        }
        sleep(POLL_INTERVAL).await;
    }
}

/// Waits until a CRD is established, at most for `SERVED_TIMEOUT`. Fails with the message of its false condition.
async fn wait_established(client: &Client, document: &Document, path: &str) -> Result<()> {
    let end = Instant::now() + SERVED_TIMEOUT;
    loop {
        let definition = client.get(path).await?.body;
        let conditions = definition["status"]["conditions"].as_array().cloned().unwrap_or_default();
        let holds =
            |kind: &str| conditions.iter().find(|it| it["type"] == kind).is_some_and(|it| it["status"] == "True");
        if holds("Established") {
            return Ok(());
        }
        if Instant::now() > end {
            let why = conditions.iter().find(|it| it["status"] == "False").and_then(|it| it["message"].as_str());
            let why = why.unwrap_or("the API server reports no reason").to_owned();
            return Err(Error::failed(format!("{} is not served", document.title())).because(why));
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
        let needed = requirements_of(&Manifests { files }).unwrap();
        assert_eq!(needed.documents.iter().map(Document::kind).collect::<Vec<_>>(), kinds[..2]);
        assert_eq!(needed.buckets, ["tiers", "widgets"]);
        assert!(requirements_of(&Manifests { files: Vec::new() }).unwrap().buckets.is_empty());
    }
}
