//! Posts a review to a webhook and parses its response.

use std::time::Duration;

use bytes::Bytes;
use http::{Request, StatusCode, header};
use serde_json::Value;
use tokio::time::timeout;

use super::{client, client_config::WebhookClientConfig, wording};
use crate::server::Server;

/// The user agent of webhook calls.
const AGENT: &str = "kube-apiserver-admission";

/// Posts a JSON body to the endpoint of a `clientConfig`, and returns the JSON of the response.
///
/// # Errors
/// The error of the call, in the words of the real server's HTTP client.
pub(crate) async fn call(server: &Server, config: &Value, body: &Value, patience: Duration) -> Result<Value, String> {
    let target = WebhookClientConfig::of(config, patience);
    let request = Request::post(&target.url)
        .header(header::USER_AGENT, AGENT)
        .header(header::ACCEPT, "application/json, */*")
        .header(header::CONTENT_TYPE, "application/json")
        .body(Bytes::from(body.to_string()));
    let request = request.map_err(|error| format!("parse {:?}: {error}", target.shown))?;
    let answered = async {
        match server.webhooks.handler(&target.shown) {
            Some(handler) => Ok(handler(request).await),
            None => {
                let address = server.webhooks.address(&target)?;
                client::send(&server.webhooks.connections, &target.authorities, address, request).await
            }
        }
    };
    let posted = |why: String| format!("Post {:?}: {why}", target.shown);
    let answer = match timeout(patience, answered).await {
        Ok(answer) => answer.map_err(posted)?,
        Err(_) => return Err(posted("context deadline exceeded".to_owned())),
    };
    if answer.status() >= StatusCode::BAD_REQUEST || answer.status() < StatusCode::OK {
        return Err(wording::refused(answer.status(), answer.body()));
    }
    let read: Result<Value, _> = serde_json::from_slice(answer.body());
    read.ok().filter(Value::is_object).ok_or_else(|| wording::UNREADABLE.to_owned())
}
