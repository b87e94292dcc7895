//! Sends requests to the API server of the sandbox or of a cluster.

use bytes::Bytes;
use http::{Method, Request, header};
use http_body_util::BodyExt as _;
use opgen_sandbox::{Sandbox, User};
use serde_json::{Value, json};

use super::{relay::Relay, response::ApiResponse};
use crate::error::{Result, ResultExt as _};

/// A client of a sandbox or of a cluster.
#[derive(Debug)]
pub(super) enum Client {
    /// The sandbox in this process, with all rights.
    Sandbox(Sandbox),
    /// The cluster of the user's kubeconfig, with the user's rights.
    Cluster(Box<Relay>),
}

impl Client {
    pub(super) async fn get(&self, path: &str) -> Result<ApiResponse> {
        self.request(Method::GET, path, "application/json", None).await
    }

    pub(super) async fn create(&self, path: &str, object: &Value) -> Result<ApiResponse> {
        self.request(Method::POST, path, "application/json", Some(object)).await
    }

    /// Sends a server-side apply; `path` includes the field manager.
    pub(super) async fn apply(&self, path: &str, object: &Value) -> Result<ApiResponse> {
        // JSON is YAML, too.
        self.request(Method::PATCH, path, "application/apply-patch+yaml", Some(object)).await
    }

    /// Sends a request to the sandbox or through the relay. A response with an error code is not an `Err`.
    async fn request(
        &self,
        method: Method,
        path: &str,
        content_type: &str,
        body: Option<&Value>,
    ) -> Result<ApiResponse> {
        match self {
            Self::Sandbox(sandbox) => call_sandbox(sandbox, method, path, content_type, body).await,
            Self::Cluster(relay) => {
                let request = json!({"method": method.as_str(), "path": path, "form": content_type, "body": body});
                relay.send(&request).await
            }
        }
    }
}

/// Calls the sandbox in this process as an administrator.
async fn call_sandbox(
    sandbox: &Sandbox,
    method: Method,
    path: &str,
    content_type: &str,
    body: Option<&Value>,
) -> Result<ApiResponse> {
    let failed = || format!("failed to get `{path}` from the sandbox");
    let body = body.map_or_else(Bytes::new, |body| Bytes::from(body.to_string()));
    let request = Request::builder().method(method).uri(path).header(header::CONTENT_TYPE, content_type).body(body);
    let response = sandbox.call(User::admin("opgen-dev"), request.or_failed(failed)?).await;
    let code = response.status().as_u16();
    let bytes = response.into_body().collect().await.or_failed(failed)?.to_bytes();
    Ok(ApiResponse { code, body: serde_json::from_slice(&bytes).unwrap_or_default() })
}
