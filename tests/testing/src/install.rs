//! A sandbox with what a program needs, and calls of the one who set it up.

use bytes::Bytes;
use http::{Method, Request};
use http_body_util::BodyExt as _;
use opgen_sandbox::{Sandbox, User};
use serde_json::Value;

use crate::course::Propagation;

/// Who installs the program and works on its objects.
const PERSON: &str = "person";

/// What the server said no with.
#[derive(Clone, Debug)]
pub(crate) struct Refused {
    pub(crate) code: u16,
    pub(crate) message: String,
}

/// Where an object is, without its name; the plural is taken from the kind as Kubernetes forms it, or from a definition.
pub(crate) fn collection(object: &Value, plural: &str) -> String {
    let version = object["apiVersion"].as_str().unwrap_or_default();
    let root = if version.contains('/') { format!("/apis/{version}") } else { format!("/api/{version}") };
    match object["metadata"]["namespace"].as_str() {
        Some(namespace) => format!("{root}/namespaces/{namespace}/{plural}"),
        None => format!("{root}/{plural}"),
    }
}

/// The plural of a kind: what a definition says, else the usual form.
pub(crate) fn plural(object: &Value, installed: &[Value]) -> String {
    let kind = object["kind"].as_str().unwrap_or_default();
    let group = object["apiVersion"].as_str().unwrap_or_default().split_once('/').map_or("", |(group, _)| group);
    let spec = definition(group, kind, installed).map(|definition| &definition["spec"]["names"]["plural"]);
    if let Some(plural) = spec.and_then(Value::as_str) {
        return plural.to_owned();
    }
    let lower = kind.to_lowercase();
    match lower.strip_suffix('y') {
        Some(stem) if !stem.ends_with(['a', 'e', 'o']) => format!("{stem}ies"),
        _ if lower.ends_with('s') || lower.ends_with('x') => format!("{lower}es"),
        _ => format!("{lower}s"),
    }
}

/// The definition of a kind.
pub(crate) fn definition<'a>(group: &str, kind: &str, installed: &'a [Value]) -> Option<&'a Value> {
    installed.iter().find(|object| {
        object["kind"] == "CustomResourceDefinition"
            && object["spec"]["group"] == group
            && object["spec"]["names"]["kind"] == kind
    })
}

/// A call with all rights.
pub(crate) async fn call(
    sandbox: &Sandbox,
    method: Method,
    uri: &str,
    (media, body): (&str, &Value),
) -> Result<Value, Refused> {
    let body = if body.is_null() { Bytes::new() } else { Bytes::from(body.to_string()) };
    let request = Request::builder().method(method).uri(uri).header("content-type", media).header("user-agent", PERSON);
    let request = request.body(body).map_err(|error| Refused { code: 0, message: format!("{uri}: {error}") })?;
    let (head, body) = sandbox.call(User::admin(PERSON), request).await.into_parts();
    let Ok(body) = body.collect().await.map(http_body_util::Collected::to_bytes);
    let answer: Value = serde_json::from_slice(&body).unwrap_or_default();
    if head.status.is_success() {
        return Ok(answer);
    }
    let message = answer["message"].as_str().unwrap_or("no reason given").to_owned();
    Err(Refused { code: head.status.as_u16(), message })
}

/// Reads an object.
pub(crate) async fn read(sandbox: &Sandbox, place: &str) -> Result<Value, Refused> {
    call(sandbox, Method::GET, place, ("application/json", &Value::Null)).await
}

/// Asks whether an object could be replaced by one of other content, and changes nothing.
pub(crate) async fn could_replace(sandbox: &Sandbox, place: &str, object: &Value) -> Result<(), Refused> {
    let uri = format!("{place}?dryRun=All");
    call(sandbox, Method::PUT, &uri, ("application/json", object)).await.map(drop)
}

/// Makes an object.
pub(crate) async fn create(sandbox: &Sandbox, object: &Value, installed: &[Value]) -> Result<Value, Refused> {
    let uri = collection(object, &plural(object, installed));
    call(sandbox, Method::POST, &uri, ("application/json", object)).await
}

/// Makes an object, or makes it what it should be.
pub(crate) async fn apply(sandbox: &Sandbox, object: &Value, installed: &[Value]) -> Result<Value, Refused> {
    let name = object["metadata"]["name"].as_str().unwrap_or_default();
    let uri = format!("{}/{name}?fieldManager={PERSON}&force=true", collection(object, &plural(object, installed)));
    call(sandbox, Method::PATCH, &uri, ("application/apply-patch+yaml", object)).await
}

/// Replaces the spec of an object, whatever became of the rest.
pub(crate) async fn respecify(sandbox: &Sandbox, object: &Value, installed: &[Value]) -> Result<Value, Refused> {
    let uri = place(object, installed);
    let patch = serde_json::json!([{"op": "replace", "path": "/spec", "value": object["spec"]}]);
    call(sandbox, Method::PATCH, &uri, ("application/json-patch+json", &patch)).await
}

/// Deletes an object; one that isn't there is deleted.
pub(crate) async fn delete(
    sandbox: &Sandbox,
    object: &Value,
    installed: &[Value],
    propagation: Propagation,
) -> Result<(), Refused> {
    let uri = format!("{}?propagationPolicy={}", place(object, installed), propagation.as_str());
    match call(sandbox, Method::DELETE, &uri, ("application/json", &Value::Null)).await {
        Err(refused) if refused.code != 404 => Err(refused),
        _ => Ok(()),
    }
}

/// Deletes objects, the last first.
pub(crate) async fn delete_all(
    sandbox: &Sandbox,
    objects: &[Value],
    installed: &[Value],
    propagation: Propagation,
) -> Result<(), Refused> {
    for object in objects.iter().rev() {
        delete(sandbox, object, installed, propagation).await?;
    }
    Ok(())
}

/// Sets the finalizers of an object; one that isn't there has none.
pub(crate) async fn set_finalizers(
    sandbox: &Sandbox,
    object: &Value,
    installed: &[Value],
    finalizers: &[&str],
) -> Result<(), Refused> {
    let patch = serde_json::json!({"metadata": {"finalizers": finalizers}});
    match call(sandbox, Method::PATCH, &place(object, installed), ("application/merge-patch+json", &patch)).await {
        Err(refused) if refused.code != 404 => Err(refused),
        _ => Ok(()),
    }
}

/// Adds finalizers to those that an object has.
pub(crate) async fn finalize(
    sandbox: &Sandbox,
    object: &Value,
    installed: &[Value],
    more: &[&str],
) -> Result<(), Refused> {
    let own = object["metadata"]["finalizers"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let all: Vec<&str> = own.chain(more.iter().copied()).collect();
    set_finalizers(sandbox, object, installed, &all).await
}

/// The path of an object.
pub(crate) fn place(object: &Value, installed: &[Value]) -> String {
    let name = object["metadata"]["name"].as_str().unwrap_or_default();
    format!("{}/{name}", collection(object, &plural(object, installed)))
}

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({})", self.message, self.code)
    }
}
