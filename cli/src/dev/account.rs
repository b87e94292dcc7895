//! The operator's own identity: its ServiceAccount, so that its generated role is all it may do.

use std::{
    fs::OpenOptions,
    io::Write as _,
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};

use super::{api::Api, document::Document};
use crate::error::{Error, Explain as _, Result};

/// How long the token is good for, in seconds: longer than a terminal stays open.
const LIFETIME: u32 = 30 * 24 * 60 * 60;

/// Writes a kubeconfig of the ServiceAccount that is among the documents: the administrator's with another token.
pub(super) async fn kubeconfig(api: &Api, documents: &[Document], admin: &str, folder: &Path) -> Result<PathBuf> {
    let account = documents.iter().find(|document| document.kind() == "ServiceAccount");
    let account = account.ok_or_else(|| Error::failed("the operator's manifests have no ServiceAccount"))?;
    let (namespace, name) = (account.namespace().unwrap_or_default(), account.name());
    let failed = || format!("failed to get a token for ServiceAccount {namespace}/{name}");
    let path = format!("/api/v1/namespaces/{namespace}/serviceaccounts/{name}/token");
    let wanted = json!({
        "apiVersion": "authentication.k8s.io/v1",
        "kind": "TokenRequest",
        "spec": {"expirationSeconds": LIFETIME},
    });
    let granted = api.create(&path, &wanted).await?.object(failed)?;
    let mut config: Value = serde_saphyr::from_str(admin).or_failed(failed)?;
    config["users"][0]["user"] = json!({"token": granted["status"]["token"]});
    let file = folder.join("operator.kubeconfig");
    write_privately(&file, &config.to_string()).or_failed(|| format!("failed to write `{}`", file.display()))?;
    Ok(file)
}

/// Only the owner reads the token.
fn write_privately(file: &Path, text: &str) -> std::io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600);
    options.open(file)?.write_all(text.as_bytes())
}
