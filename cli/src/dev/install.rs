//! Applying objects, and waiting until kinds are there.

use std::{path::Path, time::Duration};

use serde::Deserialize;
use tokio::time::{Instant, sleep};

use super::{api::Api, document::Document, lifeline::Lifeline};
use crate::error::{Error, Explain as _, Result};

/// Who owns the fields, for server-side apply.
const MANAGER: &str = "opgen-dev";

/// How long a kind may take to be served.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long until it is looked for again.
const PAUSE: Duration = Duration::from_millis(20);

#[derive(Deserialize)]
struct Manifests {
    files: Vec<File>,
}

#[derive(Deserialize)]
struct File {
    path: String,
    text: String,
}

/// The kinds, the role and the account that the operator's binary prints. Its Deployment is left out: the operator runs
/// here.
pub(super) async fn manifests(program: &Path, lifeline: &Lifeline) -> Result<Vec<Document>> {
    let failed = || format!("failed to get the manifests from `{}`", program.display());
    let output = lifeline.command(program).args(["manifests", "--output", "json"]).output().await.or_failed(failed)?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).trim().trim_start_matches("error: ").to_owned();
        return Err(Error::failed(failed()).because(said));
    }
    let manifests: Manifests = serde_json::from_slice(&output.stdout)
        .or_failed(failed)
        .map_err(|error| error.hint("the program's `main` is to be `opgen::operator!`"))?;
    let install = manifests.files.iter().find(|file| file.path == "install.yaml");
    let text = install.map(|file| file.text.as_str()).unwrap_or_default();
    Ok(Document::all(text, "`install.yaml`")?.into_iter().filter(|document| !runs(document)).collect())
}

/// Whether it is there for running the operator in a cluster.
fn runs(document: &Document) -> bool {
    let needed = ["Namespace", "ServiceAccount", "CustomResourceDefinition"].contains(&document.kind());
    !needed && document.group() != "rbac.authorization.k8s.io"
}

/// Applies them in their order, each where its kind is served.
pub(super) async fn apply(api: &Api, documents: &[Document], namespace: &str) -> Result<()> {
    for document in documents {
        let path = path(api, document, namespace).await?;
        let answer = api.apply(&format!("{path}?fieldManager={MANAGER}&force=true"), &document.object).await?;
        answer.object(|| format!("failed to apply {}", document.title()))?;
        if document.kind() == "CustomResourceDefinition" {
            established(api, document, &path).await?;
        }
    }
    Ok(())
}

/// Waits until the kind of a document is served.
async fn path(api: &Api, document: &Document, namespace: &str) -> Result<String> {
    let end = Instant::now() + PATIENCE;
    loop {
        let resources = api.get(&document.discovery()).await?.body;
        if let Some(path) = document.path(&resources, namespace) {
            return Ok(path);
        }
        // A group that is the operator's own may only have been defined.
        if Instant::now() > end || !document.discovery().contains('.') {
            let what =
                format!("the cluster knows no kind `{}` of `{}`", document.kind(), document.object["apiVersion"]);
            return Err(Error::failed(what).hint("is it one that the operator brings along?"));
        }
        sleep(PAUSE).await;
    }
}

async fn established(api: &Api, document: &Document, path: &str) -> Result<()> {
    let end = Instant::now() + PATIENCE;
    loop {
        let found = api.get(path).await?.body;
        let conditions = found["status"]["conditions"].as_array().cloned().unwrap_or_default();
        let holds =
            |kind: &str| conditions.iter().find(|it| it["type"] == kind).is_some_and(|it| it["status"] == "True");
        if holds("Established") {
            return Ok(());
        }
        if Instant::now() > end {
            let why = conditions.iter().find(|it| it["status"] == "False").and_then(|it| it["message"].as_str());
            let why = why.unwrap_or("the API server says nothing about it").to_owned();
            return Err(Error::failed(format!("{} is not served", document.title())).because(why));
        }
        sleep(PAUSE).await;
    }
}
