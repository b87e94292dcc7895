//! The hidden verb `relay`: requests of `opgen dev`, which knows no cluster, sent with the rights of who runs it.
//!
//! The first line that is printed says where it leads. After that each line of standard input is a request, and each line
//! of standard output its answer. It ends with its input.

use kube::client::Body;
use serde::Deserialize;
use serde_json::{Value, json};
use std::{
    io::{self, BufRead, Write},
    process::ExitCode,
};

use crate::{command::connect::Connection, manifest::failed};

/// Why nothing can be relayed.
#[derive(Debug, thiserror::Error)]
enum RelayError {
    #[error("failed to find out how to reach the cluster")]
    Config(#[source] kube::config::InferConfigError),
    #[error("failed to make a client for the cluster")]
    Client(#[source] kube::Error),
    #[error("failed to reach the cluster at {url}")]
    Unreachable { url: String, source: kube::Error },
    #[error("failed to read a request, or to pass its answer on")]
    Pipe(#[from] io::Error),
    #[error("a request can't be read")]
    Request(#[from] serde_json::Error),
}

#[derive(Debug, Deserialize)]
struct RelayedRequest {
    method: String,
    path: String,
    /// The media type of the body.
    form: String,
    #[serde(default)]
    body: Value,
}

pub(crate) async fn run() -> ExitCode {
    match relay().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error @ (RelayError::Config(_) | RelayError::Unreachable { .. })) => {
            failed(&error, Some("set KUBECONFIG to the cluster that is meant"))
        }
        Err(error) => failed(&error, None),
    }
}

async fn relay() -> Result<(), RelayError> {
    let config = Connection::default().config().await.map_err(RelayError::Config)?;
    let (url, namespace) = (config.cluster_url.to_string(), config.default_namespace.clone());
    let client = kube::Client::try_from(config).map_err(RelayError::Client)?;
    let reached = client.apiserver_version().await;
    reached.map_err(|source| RelayError::Unreachable { url: url.clone(), source })?;
    let mut out = io::stdout().lock();
    writeln!(out, "{}", json!({"url": url, "namespace": namespace}))?;
    for line in io::stdin().lock().lines() {
        let request: RelayedRequest = serde_json::from_str(&line?)?;
        let answer = answer(&client, request).await;
        // No answer is one, too: the next request may have better luck.
        let answer = answer.unwrap_or_else(|error| json!({"code": 0, "body": {"message": error.to_string()}}));
        writeln!(out, "{answer}")?;
    }
    Ok(())
}

async fn answer(
    client: &kube::Client,
    request: RelayedRequest,
) -> Result<Value, Box<dyn std::error::Error + Send + Sync>> {
    let body = if request.body.is_null() { Vec::new() } else { request.body.to_string().into_bytes() };
    let sent = http::Request::builder().method(&*request.method).uri(&request.path);
    let sent = sent.header(http::header::CONTENT_TYPE, &request.form).body(Body::from(body))?;
    let response = client.send(sent).await?;
    let code = response.status().as_u16();
    let bytes = response.into_body().collect_bytes().await?;
    let body: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    Ok(json!({"code": code, "body": body}))
}
