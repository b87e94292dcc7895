//! Calls to webhooks: over HTTPS, or without a socket to what stands in for them in the same process.

use std::time::Duration;

use bytes::Bytes;
use http::{Request, StatusCode, header};
use serde_json::Value;
use tokio::time::timeout;

use crate::sandbox::Server;

pub(crate) use doors::Doors;
use place::Place;

mod client;
pub(crate) mod conversion;
mod doors;
mod place;
mod wording;

/// What the API server calls itself to webhooks.
const AGENT: &str = "kube-apiserver-admission";

/// Posts a JSON body to where a `clientConfig` points, and reads the JSON of the answer.
///
/// # Errors
/// Why there is no answer, as the real server's HTTP client says it.
pub(crate) async fn call(server: &Server, config: &Value, body: &Value, patience: Duration) -> Result<Value, String> {
    let place = Place::of(config, patience);
    let request = Request::post(&place.target)
        .header(header::USER_AGENT, AGENT)
        .header(header::ACCEPT, "application/json, */*")
        .header(header::CONTENT_TYPE, "application/json")
        .body(Bytes::from(body.to_string()));
    let request = request.map_err(|error| format!("parse {:?}: {error}", place.shown))?;
    let answered = async {
        match server.webhooks.stand_in(&place.shown) {
            Some(stand_in) => Ok(stand_in(request).await),
            None => client::send(&server.webhooks, &place, request).await,
        }
    };
    let posted = |why: String| format!("Post {:?}: {why}", place.shown);
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
