//! Posts a JSON body, such as an AdmissionReview, to a webhook and parses the JSON response.

use std::time::Duration;

use bytes::Bytes;
use http::{Request, StatusCode, header};
use serde_json::Value;
use tokio::time::timeout;

use super::{client, client_config::WebhookClientConfig, wording};
use crate::{fault::WebhookFault, server::Server};

/// The user agent of webhook calls.
const AGENT: &str = "kube-apiserver-admission";

/// Posts a JSON body to the endpoint of a `clientConfig`, and returns the JSON object of the response.
///
/// # Errors
/// The error of the call, with the message of the real server's HTTP client. The call fails after the timeout `limit`.
pub(crate) async fn call(server: &Server, config: &Value, body: &Value, limit: Duration) -> Result<Value, String> {
    let target = WebhookClientConfig::parse(config, limit);
    let request = Request::post(&target.url)
        .header(header::USER_AGENT, AGENT)
        .header(header::ACCEPT, "application/json, */*")
        .header(header::CONTENT_TYPE, "application/json")
        .body(Bytes::from(body.to_string()));
    let request = request.map_err(|error| format!("parse {:?}: {error}", target.display_url))?;
    let fault = server.webhooks.fault(&target.display_url, body["kind"] == "ConversionReview");
    let response = async {
        // An injected `Refused` or `TimedOut` replaces the call.
        match fault {
            Some(WebhookFault::Refused) => return Err(wording::connection_refused(&target.display_url)),
            Some(WebhookFault::TimedOut) => return std::future::pending().await,
            _ => {}
        }
        match server.webhooks.handler(&target.display_url) {
            Some(handler) => Ok(handler(request).await),
            None => {
                let address = server.webhooks.address(&target)?;
                client::send(&server.webhooks.connections, &target.authorities, address, request).await
            }
        }
    };
    let post_error = |why: String| format!("Post {:?}: {why}", target.display_url);
    let response = match timeout(limit, response).await {
        Ok(response) => response.map_err(post_error)?,
        Err(_) => return Err(post_error("context deadline exceeded".to_owned())),
    };
    // A fault other than `Refused` and `TimedOut` changes the response.
    let response = fault.into_iter().fold(response, |response, fault| fault.falsify(response));
    if response.status() >= StatusCode::BAD_REQUEST || response.status() < StatusCode::OK {
        return Err(wording::response_error(response.status(), response.body()));
    }
    let object: Result<Value, _> = serde_json::from_slice(response.body());
    object.ok().filter(Value::is_object).ok_or_else(|| wording::UNREADABLE.to_owned())
}
