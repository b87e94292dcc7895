//! Calls the sandbox as a cluster administrator: creates, applies, edits and deletes objects.

use std::fmt;

use bytes::Bytes;
use http::{Method, Request};
use http_body_util::BodyExt as _;
use opgen_sandbox::{Sandbox, User};
use serde_json::Value;

use crate::{
    object::finalizers,
    path::{collection_path, object_path},
    schedule::Propagation,
};

/// The user name, user agent and field manager of the administrator.
const ADMIN: &str = "person";

const JSON: &str = "application/json";

/// An error response of the server.
#[derive(Clone, Debug)]
pub(crate) struct ErrorResponse {
    pub(crate) code: u16,
    pub(crate) message: String,
}

impl fmt::Display for ErrorResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.message, self.code)
    }
}

/// Reads the object at a path.
pub(crate) async fn get(sandbox: &Sandbox, path: &str) -> Result<Value, ErrorResponse> {
    call(sandbox, Method::GET, path, (JSON, &Value::Null)).await
}

/// Replaces an object in a dry run, which changes nothing.
pub(crate) async fn replace_dry_run(sandbox: &Sandbox, path: &str, object: &Value) -> Result<(), ErrorResponse> {
    let uri = format!("{path}?dryRun=All");
    call(sandbox, Method::PUT, &uri, (JSON, object)).await.map(drop)
}

/// Creates an object.
pub(crate) async fn create(sandbox: &Sandbox, object: &Value, installed: &[Value]) -> Result<Value, ErrorResponse> {
    call(sandbox, Method::POST, &collection_path(object, installed), (JSON, object)).await
}

/// Applies an object with force.
pub(crate) async fn apply(sandbox: &Sandbox, object: &Value, installed: &[Value]) -> Result<Value, ErrorResponse> {
    let uri = format!("{}?fieldManager={ADMIN}&force=true", object_path(object, installed));
    call(sandbox, Method::PATCH, &uri, ("application/apply-patch+yaml", object)).await
}

/// Replaces the spec of an object, at whatever version the object is.
pub(crate) async fn replace_spec(
    sandbox: &Sandbox,
    object: &Value,
    installed: &[Value],
) -> Result<Value, ErrorResponse> {
    let patch = serde_json::json!([{"op": "replace", "path": "/spec", "value": object["spec"]}]);
    let uri = object_path(object, installed);
    call(sandbox, Method::PATCH, &uri, ("application/json-patch+json", &patch)).await
}

/// Deletes an object; succeeds if the object does not exist.
pub(crate) async fn delete(
    sandbox: &Sandbox,
    object: &Value,
    installed: &[Value],
    propagation: Propagation,
) -> Result<(), ErrorResponse> {
    let uri = format!("{}?propagationPolicy={}", object_path(object, installed), propagation.as_str());
    ignore_not_found(call(sandbox, Method::DELETE, &uri, (JSON, &Value::Null)).await)
}

/// Deletes objects, the last first.
pub(crate) async fn delete_all(
    sandbox: &Sandbox,
    objects: &[Value],
    installed: &[Value],
    propagation: Propagation,
) -> Result<(), ErrorResponse> {
    for object in objects.iter().rev() {
        delete(sandbox, object, installed, propagation).await?;
    }
    Ok(())
}

/// Deletes each object, removes its finalizers and creates a new object of the same name.
pub(crate) async fn recreate_all(
    sandbox: &Sandbox,
    objects: &[Value],
    installed: &[Value],
) -> Result<(), ErrorResponse> {
    for object in objects {
        delete(sandbox, object, installed, Propagation::Background).await?;
        set_finalizers(sandbox, object, installed, &[]).await?;
        create(sandbox, object, installed).await?;
    }
    Ok(())
}

/// Replaces the finalizers of an object; succeeds if the object does not exist.
pub(crate) async fn set_finalizers(
    sandbox: &Sandbox,
    object: &Value,
    installed: &[Value],
    finalizers: &[&str],
) -> Result<(), ErrorResponse> {
    let patch = serde_json::json!({"metadata": {"finalizers": finalizers}});
    let uri = object_path(object, installed);
    ignore_not_found(call(sandbox, Method::PATCH, &uri, ("application/merge-patch+json", &patch)).await)
}

/// Adds a finalizer to those that an object was read with.
pub(crate) async fn add_finalizer(
    sandbox: &Sandbox,
    object: &Value,
    installed: &[Value],
    finalizer: &str,
) -> Result<(), ErrorResponse> {
    let all: Vec<&str> = finalizers(object).chain([finalizer]).collect();
    set_finalizers(sandbox, object, installed, &all).await
}

/// Sends a request as the administrator, and returns the object in the response; null in `body` stands for an empty body.
///
/// # Errors
/// If the server rejects the request; the code is 0 if it can't be sent.
async fn call(
    sandbox: &Sandbox,
    method: Method,
    uri: &str,
    (media_type, body): (&str, &Value),
) -> Result<Value, ErrorResponse> {
    let body = if body.is_null() { Bytes::new() } else { Bytes::from(body.to_string()) };
    let request =
        Request::builder().method(method).uri(uri).header("content-type", media_type).header("user-agent", ADMIN);
    let request = request.body(body).map_err(|error| ErrorResponse { code: 0, message: format!("{uri}: {error}") })?;
    let (parts, body) = sandbox.call(User::admin(ADMIN), request).await.into_parts();
    let Ok(body) = body.collect().await.map(http_body_util::Collected::to_bytes);
    let response: Value = serde_json::from_slice(&body).unwrap_or_default();
    if parts.status.is_success() {
        return Ok(response);
    }
    let message = response["message"].as_str().unwrap_or("no reason given");
    Err(ErrorResponse { code: parts.status.as_u16(), message: message.to_owned() })
}

/// Treats a 404 as a success.
fn ignore_not_found(response: Result<Value, ErrorResponse>) -> Result<(), ErrorResponse> {
    match response {
        Err(error) if error.code != 404 => Err(error),
        _ => Ok(()),
    }
}
