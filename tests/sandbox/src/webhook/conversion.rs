//! Calls conversion webhooks, which convert custom resources between versions.

use std::time::Duration;

use serde_json::{Value, json};

use super::call::call;
use crate::{failure::Failure, object, server::Server};

/// The timeout of a conversion.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The API version of a `ConversionReview`.
const VERSION: &str = "apiextensions.k8s.io/v1";

/// Converts custom resources to the API version `desired` by a conversion webhook. `conversion` is `spec.conversion` of the CRD. Returns a
/// 500 error if the call fails or the response is invalid.
pub(crate) async fn convert(
    server: &Server,
    conversion: &Value,
    objects: Vec<Value>,
    desired: &str,
) -> Result<Vec<Value>, Failure> {
    let Some(first) = objects.first() else { return Ok(objects) };
    let first_kind = format!("{}, Kind={}", object::text(first, &["apiVersion"]), object::text(first, &["kind"]));
    let converted = convert_all(server, conversion, objects, desired).await;
    converted.map_err(|why| failure(format!("conversion webhook for {first_kind} {why}")))
}

/// Returns the failure of a conversion: a 500 error without a reason.
pub(crate) fn failure(message: String) -> Failure {
    Failure { reason: "", ..Failure::internal(message) }
}

/// Sends a `ConversionReview` with the objects and returns the converted objects. On failure, returns the end of the error message, which
/// [`convert`] puts after the kind of the objects.
async fn convert_all(
    server: &Server,
    conversion: &Value,
    objects: Vec<Value>,
    desired: &str,
) -> Result<Vec<Value>, String> {
    let uid = server.environment.uid();
    let sent_objects: Vec<Value> = objects.iter().map(without_version).collect();
    let request = json!({
        "kind": "ConversionReview", "apiVersion": VERSION,
        "request": {"uid": uid, "desiredAPIVersion": desired, "objects": sent_objects},
        "response": {"uid": "", "convertedObjects": null, "result": {"metadata": {}}},
    });
    let config = &conversion["webhook"]["clientConfig"];
    let review = call(server, config, &request, TIMEOUT).await.map_err(|why| format!("failed: {why}"))?;
    let (version, kind) = (object::text(&review, &["apiVersion"]), object::text(&review, &["kind"]));
    if (version, kind) != (VERSION, "ConversionReview") {
        return Err(format!(
            "failed: expected webhook response of {VERSION}, Kind=ConversionReview, got {version}, Kind={kind}"
        ));
    }
    let response = &review["response"];
    let response_uid = object::text(response, &["uid"]);
    if response_uid != uid {
        return Err(format!("failed: expected response.uid={uid:?}, got {response_uid:?}"));
    }
    if response["result"]["status"] != "Success" {
        let why = object::text(response, &["result", "message"]);
        let why = if why.is_empty() { "no message provided by webhook" } else { why };
        return Err(format!("failed: {why}"));
    }
    let converted = response["convertedObjects"].as_array().map(Vec::as_slice).unwrap_or_default();
    if converted.len() != objects.len() {
        return Err(format!("returned {} objects, expected {}", converted.len(), objects.len()));
    }
    let pairs = objects.iter().zip(converted).enumerate();
    pairs.map(|(index, (before, after))| check_converted(before, after, desired, index)).collect()
}

/// Returns the object without its `resourceVersion`, which webhooks do not receive.
fn without_version(object: &Value) -> Value {
    let mut object = object.clone();
    object::metadata_mut(&mut object).remove("resourceVersion");
    object
}

/// Returns the converted object `after` with the metadata of the original `before`, except that labels and annotations may change. Returns
/// an error if the version is not `desired`, or if kind, name, namespace or uid differ from those of the original.
fn check_converted(before: &Value, after: &Value, desired: &str, index: usize) -> Result<Value, String> {
    let version = object::text(after, &["apiVersion"]);
    if version != desired {
        let why = format!("invalid groupVersion (expected {desired}, received {version})");
        return Err(format!("returned invalid object at index {index}: {why}"));
    }
    for (field, path) in [
        ("kind", &["kind"][..]),
        ("name", &["metadata", "name"]),
        ("namespace", &["metadata", "namespace"]),
        ("UID", &["metadata", "uid"]),
    ] {
        let (old_value, new_value) = (object::text(before, path), object::text(after, path));
        if old_value != new_value {
            return Err(format!("returned invalid object: must have the same {field}: {old_value} != {new_value}"));
        }
    }
    let mut object = after.clone();
    let mut metadata = before["metadata"].clone();
    for field in ["labels", "annotations"] {
        match object::at(after, &["metadata", field]) {
            Some(value) => metadata[field] = value.clone(),
            None => drop(metadata.as_object_mut().and_then(|metadata| metadata.remove(field))),
        }
    }
    object["metadata"] = metadata;
    Ok(object)
}
