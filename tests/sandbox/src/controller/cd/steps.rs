//! Functions that the simulated CD controllers share: one reads an object and adds the finalizer of the controller, the other writes the
//! conditions of an object.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{ApiError, ControllerClient, ObjectKey};
use crate::{kind::Kind, object};

/// The type, status, reason and message of a condition.
type CdCondition<'a> = (&'a str, &'a str, &'a str, &'a str);

/// Returns an object and its kind if the object has the finalizer or is being deleted. Otherwise adds the finalizer and returns `None`: the
/// event of this write reconciles the object again. Also returns `None` if the object does not exist.
pub(super) async fn get_with_finalizer(
    client: &ControllerClient,
    resource: &str,
    (namespace, name): &ObjectKey,
    finalizer: &str,
) -> Result<Option<(Arc<Kind>, Value)>, ApiError> {
    let kind = client.served_kind(resource)?;
    let Some(object) = client.get(&kind, namespace, name) else { return Ok(None) };
    if object::is_deleting(&object) || object::finalizers(&object).contains(&finalizer) {
        return Ok(Some((kind, object)));
    }
    let mut finalizers = object::finalizers(&object);
    finalizers.push(finalizer);
    let metadata = json!({
        "uid": object::uid(&object), "resourceVersion": object::version(&object), "finalizers": finalizers,
    });
    client.merge_patch(&kind, (namespace, name), "", &json!({"metadata": metadata})).await?;
    Ok(None)
}

/// Writes `extra`, the conditions and the observed generation into the status of an object, unless the status is equal to them already. A
/// condition whose status did not change keeps its transition time.
pub(super) async fn report(
    client: &ControllerClient,
    kind: &Kind,
    object: &Value,
    conditions: &[CdCondition<'_>],
    mut extra: Value,
) -> Result<(), ApiError> {
    let generation = &object["metadata"]["generation"];
    let now = client.server.environment.time();
    let condition = |(type_, status, reason, message): &CdCondition<'_>| {
        let stored = object["status"]["conditions"].as_array().into_iter().flatten();
        let unchanged = stored.into_iter().find(|stored| stored["type"] == *type_ && stored["status"] == *status);
        let time = unchanged.map_or_else(|| Value::from(now.clone()), |stored| stored["lastTransitionTime"].clone());
        json!({
            "type": type_, "status": status, "reason": reason, "message": message, "observedGeneration": generation,
            "lastTransitionTime": time,
        })
    };
    extra["observedGeneration"] = generation.clone();
    extra["conditions"] = conditions.iter().map(condition).collect();
    if object["status"] == extra {
        return Ok(());
    }
    let patch = json!({"metadata": {"uid": object::uid(object)}, "status": extra});
    client.merge_patch(kind, (object::namespace(object), object::name(object)), "status", &patch).await.map(drop)
}
