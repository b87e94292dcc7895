//! Writes a kubeconfig of the operator's ServiceAccount, so that only its generated role applies.

use std::{
    fs::OpenOptions,
    io::Write as _,
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};

use super::{client::Client, document::Document};
use crate::error::{Error, Result, ResultExt as _};

/// The lifetime of the token in seconds, longer than any session.
const TOKEN_LIFETIME: u32 = 30 * 24 * 60 * 60;

/// Requests a token for the operator's ServiceAccount, one of the manifests in `documents`, and writes a kubeconfig with it to `folder`.
/// The kubeconfig has the cluster and context of `admin`, the text of the administrator's kubeconfig. Returns its path.
pub(super) async fn write_kubeconfig(
    client: &Client,
    documents: &[Document],
    admin: &str,
    folder: &Path,
) -> Result<PathBuf> {
    let account = documents.iter().find(|document| document.kind() == "ServiceAccount");
    let account = account.ok_or_else(|| Error::failed("the operator's manifests contain no ServiceAccount"))?;
    let (namespace, name) = (account.namespace().unwrap_or_default(), account.name());
    let failed = || format!("failed to get a token for ServiceAccount {namespace}/{name}");
    let path = format!("/api/v1/namespaces/{namespace}/serviceaccounts/{name}/token");
    let request = json!({
        "apiVersion": "authentication.k8s.io/v1",
        "kind": "TokenRequest",
        "spec": {"expirationSeconds": TOKEN_LIFETIME},
    });
    let token_request = client.create(&path, &request).await?.object(failed)?;
    let mut config: Value = serde_saphyr::from_str(admin).or_failed(failed)?;
    config["users"][0]["user"] = json!({"token": token_request["status"]["token"]});
    let file = folder.join("operator.kubeconfig");
    write_privately(&file, &config.to_string()).or_failed(|| format!("failed to write `{}`", file.display()))?;
    Ok(file)
}

/// Writes a file that only its owner can read.
fn write_privately(file: &Path, text: &str) -> std::io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600);
    options.open(file)?.write_all(text.as_bytes())
}
