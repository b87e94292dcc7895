//! Calls conversion webhooks, which convert custom resources between versions.

use std::time::Duration;

use serde_json::{Value, json};

use super::call::call;
use crate::{failure::Failure, object, server::Server};

/// The timeout of a conversion.
const PATIENCE: Duration = Duration::from_secs(30);

const VERSION: &str = "apiextensions.k8s.io/v1";

/// Converts objects of one version by the webhook of their kind's `spec.conversion`; `desired` is `GROUP/VERSION`.
pub(crate) async fn convert(
    server: &Server,
    conversion: &Value,
    objects: Vec<Value>,
    desired: &str,
) -> Result<Vec<Value>, Failure> {
    let Some(first) = objects.first() else { return Ok(objects) };
    let is = format!("{}, Kind={}", object::text(first, &["apiVersion"]), object::text(first, &["kind"]));
    convert_all(server, conversion, objects, desired).await.map_err(|why| {
        let mut failure = Failure::internal(format!("conversion webhook for {is} {why}"));
        failure.reason = "";
        failure
    })
}

async fn convert_all(
    server: &Server,
    conversion: &Value,
    objects: Vec<Value>,
    desired: &str,
) -> Result<Vec<Value>, String> {
    let uid = server.environment.uid();
    let sent: Vec<Value> = objects.iter().map(without_version).collect();
    let review = json!({
        "kind": "ConversionReview", "apiVersion": VERSION,
        "request": {"uid": uid, "desiredAPIVersion": desired, "objects": sent},
        "response": {"uid": "", "convertedObjects": null, "result": {"metadata": {}}},
    });
    let config = &conversion["webhook"]["clientConfig"];
    let answer = call(server, config, &review, PATIENCE).await.map_err(|why| format!("failed: {why}"))?;
    let (version, kind) = (object::text(&answer, &["apiVersion"]), object::text(&answer, &["kind"]));
    if (version, kind) != (VERSION, "ConversionReview") {
        return Err(format!(
            "failed: expected webhook response of {VERSION}, Kind=ConversionReview, got {version}, Kind={kind}"
        ));
    }
    let response = &answer["response"];
    let answered = object::text(response, &["uid"]);
    if answered != uid {
        return Err(format!("failed: expected response.uid={uid:?}, got {answered:?}"));
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
    pairs.map(|(index, (before, after))| checked(before, after, desired, index)).collect()
}

fn without_version(object: &Value) -> Value {
    let mut object = object.clone();
    object::metadata_mut(&mut object).remove("resourceVersion");
    object
}

/// Validates a converted object, and restores the metadata that a conversion may not change.
fn checked(before: &Value, after: &Value, desired: &str, index: usize) -> Result<Value, String> {
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
        let (was, is) = (object::text(before, path), object::text(after, path));
        if was != is {
            return Err(format!("returned invalid object: must have the same {field}: {was} != {is}"));
        }
    }
    let mut object = after.clone();
    let mut metadata = before["metadata"].clone();
    for free in ["labels", "annotations"] {
        match object::at(after, &["metadata", free]) {
            Some(value) => metadata[free] = value.clone(),
            None => drop(metadata.as_object_mut().and_then(|metadata| metadata.remove(free))),
        }
    }
    object["metadata"] = metadata;
    Ok(object)
}
