//! Reads objects in buckets, and waits for their states.

use opgen_tests::wait::{PATIENCE, until};
use serde_json::Value;

use super::store::CaseBucket;

/// Reads an object; `None` if there is no entry.
pub(super) async fn object(bucket: &CaseBucket, key: &str) -> Option<Value> {
    let entry = bucket.get(key).await?;
    Some(serde_json::from_slice(&entry.value).unwrap())
}

/// Waits until `accept` accepts an object, and returns it. An object that does not exist is null.
#[track_caller]
pub(super) fn until_stored(
    bucket: &CaseBucket,
    key: &str,
    what: &str,
    accept: impl Fn(&Value) -> bool,
) -> impl Future<Output = Value> {
    until(format!("{key} {what}"), PATIENCE, async move || {
        let found = object(bucket, key).await.unwrap_or_default();
        if accept(&found) { Ok(found) } else { Err(found.to_string()) }
    })
}

pub(super) async fn has_text(bucket: &CaseBucket, key: &str, text: &str) {
    until_stored(bucket, key, &format!("has the text {text}"), |found| found["spec"]["text"] == text).await;
}

/// Waits until a bucket has no entry, and so no claim of the operator either.
pub(super) async fn is_empty(bucket: &CaseBucket) {
    until("the bucket is empty", PATIENCE, async || {
        let entries = bucket.list().await;
        if entries.is_empty() { Ok(()) } else { Err(format!("{entries:?}")) }
    })
    .await;
}

/// Returns the conditions of an object.
pub(super) fn conditions(object: &Value) -> impl Iterator<Item = &Value> {
    object["status"]["conditions"].as_array().into_iter().flatten()
}

/// Returns the condition of a type; `None` if the object has none.
pub(super) fn condition<'a>(object: &'a Value, type_: &str) -> Option<&'a Value> {
    conditions(object).find(|condition| condition["type"] == type_)
}

/// Returns whether the status of an object is that of its current generation.
pub(super) fn is_observed(object: &Value) -> bool {
    let generation = &object["metadata"]["generation"];
    generation.is_u64() && object["status"]["observedGeneration"] == *generation
}
