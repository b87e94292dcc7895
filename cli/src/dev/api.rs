//! Requests to the API server.

use bytes::Bytes;
use http::{Method, Request, header};
use http_body_util::BodyExt as _;
use opgen_sandbox::{Sandbox, User};
use serde::Deserialize;
use serde_json::{Value, json};

use super::relay::Relay;

use crate::error::{Error, Explain as _, Result};

/// Whom to ask.
#[derive(Debug)]
pub(super) enum Api {
    /// The sandbox in this process, with all rights.
    Sandbox(Sandbox),
    /// The cluster of the user's kubeconfig, with the user's rights.
    Cluster(Box<Relay>),
}

/// What was answered: an object, or a Status that says why not.
#[derive(Debug, Deserialize)]
pub(super) struct Answer {
    pub(super) code: u16,
    pub(super) body: Value,
}

impl Api {
    pub(super) async fn get(&self, path: &str) -> Result<Answer> {
        self.ask(Method::GET, path, "application/json", None).await
    }

    pub(super) async fn create(&self, path: &str, object: &Value) -> Result<Answer> {
        self.ask(Method::POST, path, "application/json", Some(object)).await
    }

    /// Server-side apply; the path has the field manager in it.
    pub(super) async fn apply(&self, path: &str, object: &Value) -> Result<Answer> {
        // JSON is YAML, too.
        self.ask(Method::PATCH, path, "application/apply-patch+yaml", Some(object)).await
    }

    async fn ask(&self, method: Method, path: &str, form: &str, body: Option<&Value>) -> Result<Answer> {
        match self {
            Self::Sandbox(sandbox) => in_process(sandbox, method, path, form, body).await,
            Self::Cluster(relay) => {
                let request = json!({"method": method.as_str(), "path": path, "form": form, "body": body});
                relay.ask(&request).await
            }
        }
    }
}

impl Answer {
    /// The object; what was wanted, and the server's own sentence where it refused.
    pub(super) fn object(self, what: impl FnOnce() -> String) -> Result<Value> {
        if (200..300).contains(&self.code) {
            return Ok(self.body);
        }
        let said = self.body["message"].as_str().map_or_else(|| format!("the answer was {}", self.code), str::to_owned);
        Err(Error::failed(what()).because(said))
    }
}

async fn in_process(sandbox: &Sandbox, method: Method, path: &str, form: &str, body: Option<&Value>) -> Result<Answer> {
    let failed = || format!("failed to ask the sandbox for `{path}`");
    let body = body.map_or_else(Bytes::new, |body| Bytes::from(body.to_string()));
    let request = Request::builder().method(method).uri(path).header(header::CONTENT_TYPE, form).body(body);
    let response = sandbox.call(User::admin("opgen-dev"), request.or_failed(failed)?).await;
    let code = response.status().as_u16();
    let bytes = response.into_body().collect().await.or_failed(failed)?.to_bytes();
    Ok(Answer { code, body: serde_json::from_slice(&bytes).unwrap_or_default() })
}
