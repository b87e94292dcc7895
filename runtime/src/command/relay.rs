//! Implements the hidden verb `relay`: sends requests of `opgen dev` to the API server, with the rights of the user.
//!
//! It first prints a line with the URL and the namespace of the cluster. Then each line of standard input is a request, and each
//! line of standard output its response, until the input ends.

use kube::client::Body;
use serde::Deserialize;
use serde_json::{Value, json};
use std::{
    io::{self, BufRead, Write},
    process::ExitCode,
};

use crate::{command::connect::Connection, manifest::exit_with_error};

/// The reasons why the relay ends.
#[derive(Debug, thiserror::Error)]
enum RelayError {
    #[error("failed to load a kubeconfig or the in-cluster configuration")]
    Config(#[source] kube::config::InferConfigError),
    #[error("failed to create a Kubernetes client")]
    Client(#[source] kube::Error),
    #[error("failed to reach the cluster at {url}")]
    Unreachable { url: String, source: kube::Error },
    #[error("failed to read a request or to forward its response")]
    Pipe(#[from] io::Error),
    #[error("failed to parse a request")]
    Request(#[from] serde_json::Error),
}

/// A request of `opgen dev`, one line of standard input.
#[derive(Debug, Deserialize)]
struct RelayedRequest {
    method: String,
    path: String,
    /// The media type of the body.
    #[serde(rename = "form")]
    media_type: String,
    #[serde(default)]
    body: Value,
}

/// Runs the verb `relay`, which forwards the requests of `opgen dev` on standard input to the API server. Ends with the input, or with an
/// error and a hint.
pub(crate) async fn run() -> ExitCode {
    match relay().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error @ (RelayError::Config(_) | RelayError::Unreachable { .. })) => {
            exit_with_error(&error, Some("set KUBECONFIG to the intended cluster"))
        }
        Err(error) => exit_with_error(&error, None),
    }
}

/// Connects to the cluster, prints its URL and namespace, and answers requests line by line until the input ends.
async fn relay() -> Result<(), RelayError> {
    let config = Connection::default().config().await.map_err(RelayError::Config)?;
    let (url, namespace) = (config.cluster_url.to_string(), config.default_namespace.clone());
    let client = kube::Client::try_from(config).map_err(RelayError::Client)?;
    // The version is not needed; the request shows that the API server is reachable.
    let reachable = client.apiserver_version().await;
    reachable.map_err(|source| RelayError::Unreachable { url: url.clone(), source })?;
    let mut out = io::stdout().lock();
    writeln!(out, "{}", json!({"url": url, "namespace": namespace}))?;
    for line in io::stdin().lock().lines() {
        let request: RelayedRequest = serde_json::from_str(&line?)?;
        let result = answer(&client, request).await;
        // A failed request is reported as a response with code 0, and the relay goes on.
        let answer = result.unwrap_or_else(|error| json!({"code": 0, "body": {"message": error.to_string()}}));
        writeln!(out, "{answer}")?;
    }
    Ok(())
}

/// Sends one request to the API server and returns the code and the body of its response; a body that is not JSON becomes null.
async fn answer(
    client: &kube::Client,
    request: RelayedRequest,
) -> Result<Value, Box<dyn std::error::Error + Send + Sync>> {
    let body = if request.body.is_null() { Vec::new() } else { request.body.to_string().into_bytes() };
    let http_request = http::Request::builder().method(&*request.method).uri(&request.path);
    let http_request = http_request.header(http::header::CONTENT_TYPE, &request.media_type).body(Body::from(body))?;
    let response = client.send(http_request).await?;
    let code = response.status().as_u16();
    let bytes = response.into_body().collect_bytes().await?;
    let body: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    Ok(json!({"code": code, "body": body}))
}
