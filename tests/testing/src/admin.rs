//! Calls an API server as a cluster administrator: creates, applies, edits and deletes objects.
//!
//! `installed` are the installed manifests, whose CustomResourceDefinitions give the plurals of paths.

use std::fmt;

use bytes::Bytes;
use http::{Method, Request};
use serde_json::Value;

use crate::{
    api_server::{ADMIN, RequestHandler},
    object::finalizers,
    path::{collection_path, object_path},
    schedule::Propagation,
};

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
pub(crate) async fn get(server: &impl RequestHandler, path: &str) -> Result<Value, ErrorResponse> {
    call(server, Method::GET, path, (JSON, &Value::Null)).await
}

/// Sends an update (PUT) of the object at `path` as a dry run, which validates it and stores nothing. Fails if the server rejects the
/// update.
pub(crate) async fn replace_dry_run(
    server: &impl RequestHandler,
    path: &str,
    object: &Value,
) -> Result<(), ErrorResponse> {
    let uri = format!("{path}?dryRun=All");
    call(server, Method::PUT, &uri, (JSON, object)).await.map(drop)
}

/// Creates an object and returns it as the server stored it. `installed` has the CustomResourceDefinition from which its path gets the
/// plural.
pub(crate) async fn create(
    server: &impl RequestHandler,
    object: &Value,
    installed: &[Value],
) -> Result<Value, ErrorResponse> {
    call(server, Method::POST, &collection_path(object, installed), (JSON, object)).await
}

/// Applies an object by server-side apply with force, as the field manager [`ADMIN`], and returns the stored object.
pub(crate) async fn apply(
    server: &impl RequestHandler,
    object: &Value,
    installed: &[Value],
) -> Result<Value, ErrorResponse> {
    let uri = format!("{}?fieldManager={ADMIN}&force=true", object_path(object, installed));
    call(server, Method::PATCH, &uri, ("application/apply-patch+yaml", object)).await
}

/// Replaces the spec of a stored object by that of `object`, without a check of the resourceVersion. Returns the stored object.
pub(crate) async fn replace_spec(
    server: &impl RequestHandler,
    object: &Value,
    installed: &[Value],
) -> Result<Value, ErrorResponse> {
    let patch = serde_json::json!([{"op": "replace", "path": "/spec", "value": object["spec"]}]);
    let uri = object_path(object, installed);
    call(server, Method::PATCH, &uri, ("application/json-patch+json", &patch)).await
}

/// Deletes an object with a propagation policy; succeeds if the object does not exist.
pub(crate) async fn delete(
    server: &impl RequestHandler,
    object: &Value,
    installed: &[Value],
    propagation: Propagation,
) -> Result<(), ErrorResponse> {
    let uri = format!("{}?propagationPolicy={}", object_path(object, installed), propagation.as_str());
    ignore_not_found(call(server, Method::DELETE, &uri, (JSON, &Value::Null)).await)
}

/// Deletes objects in reverse order, so that an object goes before the ones that were created before it.
pub(crate) async fn delete_all(
    server: &impl RequestHandler,
    objects: &[Value],
    installed: &[Value],
    propagation: Propagation,
) -> Result<(), ErrorResponse> {
    for object in objects.iter().rev() {
        delete(server, object, installed, propagation).await?;
    }
    Ok(())
}

/// Deletes each object, removes its finalizers so that the deletion ends at once, and creates a new object of the same name.
pub(crate) async fn recreate_all(
    server: &impl RequestHandler,
    objects: &[Value],
    installed: &[Value],
) -> Result<(), ErrorResponse> {
    for object in objects {
        delete(server, object, installed, Propagation::Background).await?;
        set_finalizers(server, object, installed, &[]).await?;
        create(server, object, installed).await?;
    }
    Ok(())
}

/// Replaces the list of finalizers of a stored object by a merge patch; succeeds if the object does not exist.
pub(crate) async fn set_finalizers(
    server: &impl RequestHandler,
    object: &Value,
    installed: &[Value],
    finalizers: &[&str],
) -> Result<(), ErrorResponse> {
    let patch = serde_json::json!({"metadata": {"finalizers": finalizers}});
    let uri = object_path(object, installed);
    ignore_not_found(call(server, Method::PATCH, &uri, ("application/merge-patch+json", &patch)).await)
}

/// Sets the finalizers of a stored object to the finalizers that `object` has, as it was read, and a further one.
pub(crate) async fn add_finalizer(
    server: &impl RequestHandler,
    object: &Value,
    installed: &[Value],
    finalizer: &str,
) -> Result<(), ErrorResponse> {
    let all: Vec<&str> = finalizers(object).chain([finalizer]).collect();
    set_finalizers(server, object, installed, &all).await
}

/// Sends a request as the administrator, and returns the object in the response; null in `body` stands for an empty body.
///
/// # Errors
/// If the server rejects the request; the code is 0 if it can't be sent.
async fn call(
    server: &impl RequestHandler,
    method: Method,
    uri: &str,
    (media_type, body): (&str, &Value),
) -> Result<Value, ErrorResponse> {
    let body = if body.is_null() { Bytes::new() } else { Bytes::from(body.to_string()) };
    let request =
        Request::builder().method(method).uri(uri).header("content-type", media_type).header("user-agent", ADMIN);
    let request = request.body(body).map_err(|error| ErrorResponse { code: 0, message: format!("{uri}: {error}") })?;
    let (code, body) = server.handle(request).await;
    if code == 0 {
        return Err(ErrorResponse { code, message: String::from_utf8_lossy(&body).into_owned() });
    }
    let response: Value = serde_json::from_slice(&body).unwrap_or_default();
    if (200..300).contains(&code) {
        return Ok(response);
    }
    let message = response["message"].as_str().unwrap_or("no reason given");
    Err(ErrorResponse { code, message: message.to_owned() })
}

/// Converts the response to a call: a 404 counts as a success, and the returned object is dropped.
fn ignore_not_found(response: Result<Value, ErrorResponse>) -> Result<(), ErrorResponse> {
    match response {
        Err(error) if error.code != 404 => Err(error),
        _ => Ok(()),
    }
}
