//! Provides functions that the workload controllers share: owner references, adoption, readiness and availability of
//! Pods.

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::{ApiError, ChangeEvent, ControllerClient, ObjectKey};
use crate::{call::selector::LabelSelector, environment::Environment, kind::Kind, object, store::Stored};

pub(super) const PODS: &str = "pods";

/// Whether a Pod has been ready for the `minReadySeconds` of a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Available {
    Yes,
    No,
    /// The Pod is ready, and becomes available at this time.
    From(Timestamp),
}

/// Returns an owner reference with `controller: true`, like `metav1.NewControllerRef`.
pub(super) fn controller_reference(kind: &Kind, owner: &Value) -> Value {
    json!({
        "apiVersion": kind.api_version(), "kind": kind.kind, "name": object::name(owner), "uid": object::uid(owner),
        "controller": true, "blockOwnerDeletion": true,
    })
}

/// Returns the objects whose controller has this uid, in order of creation.
pub(super) fn controlled_objects(client: &ControllerClient, kind: &Kind, namespace: &str, uid: &str) -> Vec<Value> {
    let (_, items) = client.server.store.list(&kind.group_resource, Some(namespace));
    let owned = items.iter().filter(|item| item.owners.iter().any(|owner| **owner == *uid));
    let owned = owned.map(|item| item.object(kind));
    let mut owned: Vec<Value> =
        owned.filter(|item| object::owners(item).iter().any(|owner| owner.controller && owner.uid == uid)).collect();
    owned.sort_by_cached_key(|item| object::text(item, &["metadata", "creationTimestamp"]).to_owned());
    owned
}

/// Returns the keys of the owners with this kind that control the changed object, before or after the change.
pub(super) fn controller_keys(event: &ChangeEvent, kind: &str) -> Vec<ObjectKey> {
    let states = [Some(&event.object), event.before.as_ref()].into_iter().flatten();
    let with_owners = states.filter(|state| !state.owners.is_empty());
    let mut keys: Vec<ObjectKey> = with_owners.flat_map(|state| controller_keys_of(state, kind)).collect();
    keys.dedup();
    keys
}

/// Returns the keys of the owners with this kind that control a stored object.
fn controller_keys_of(state: &Stored, kind: &str) -> Vec<ObjectKey> {
    let owned = state.owners().into_iter().filter(|owner| owner.controller && owner.kind == kind);
    owned.map(|owner| (state.namespace.to_string(), owner.name)).collect()
}

/// Returns the key of the changed object.
pub(super) fn key(event: &ChangeEvent) -> ObjectKey {
    (event.object.namespace.to_string(), event.object.name.to_string())
}

/// Returns a Pod from a template, controlled by the owner and with a name that the server generates.
pub(super) fn from_template(template: &Value, kind: &Kind, owner: &Value) -> Value {
    let mut metadata = json!({
        "namespace": object::namespace(owner), "ownerReferences": [controller_reference(kind, owner)],
        "generateName": format!("{}-", object::name(owner)),
    });
    for field in ["labels", "annotations", "finalizers"] {
        if let Some(value) = object::at(template, &["metadata", field]) {
            metadata[field] = value.clone();
        }
    }
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template["spec"]})
}

/// Adds a controller reference to the objects that match the selector of the owner and have no controller, if `may_adopt(owner, object)`
/// accepts them. A terminating owner adopts nothing, and a terminating object is not adopted.
pub(super) async fn adopt(
    client: &ControllerClient,
    child_kind: &Kind,
    owner_kind: &Kind,
    owner: &Value,
    may_adopt: fn(&Value, &Value) -> bool,
) -> Result<(), ApiError> {
    let selector = &owner["spec"]["selector"];
    if object::is_deleting(owner) || !selector.is_object() {
        return Ok(());
    }
    let selector = LabelSelector::of_object(selector);
    let (_, items) = client.server.store.list(&child_kind.group_resource, Some(object::namespace(owner)));
    for item in items.iter().filter(|item| !item.deleting && selector.matches(|key| item.label(key))) {
        if item.owners().iter().any(|reference| reference.controller) {
            continue;
        }
        let object = item.object(child_kind);
        if !may_adopt(owner, &object) {
            continue;
        }
        let mut references = object["metadata"]["ownerReferences"].as_array().cloned().unwrap_or_default();
        references.push(controller_reference(owner_kind, owner));
        let patch = json!({"metadata": {"uid": *item.uid, "ownerReferences": references}});
        match client.merge_patch(child_kind, (&item.namespace, &item.name), "", &patch).await {
            Err(refused) if !refused.is_not_found() => return Err(refused),
            _ => {}
        }
    }
    Ok(())
}

/// Returns whether a Pod has succeeded or failed.
pub(super) fn is_ended(pod: &Value) -> bool {
    matches!(object::text(pod, &["status", "phase"]), "Succeeded" | "Failed")
}

/// Returns whether a Pod has neither ended nor is terminating (`controller.IsPodActive`).
pub(super) fn is_active(pod: &Value) -> bool {
    !is_ended(pod) && !object::is_deleting(pod)
}

/// Returns the `Ready` condition of a Pod if it is true; otherwise `None`.
fn ready_condition(pod: &Value) -> Option<&Value> {
    let conditions = object::at(pod, &["status", "conditions"]).and_then(Value::as_array);
    conditions?.iter().find(|condition| condition["type"] == "Ready" && condition["status"] == "True")
}

pub(super) fn is_ready(pod: &Value) -> bool {
    ready_condition(pod).is_some()
}

/// Returns whether a Pod has been ready for `seconds`, the `minReadySeconds` of its workload. For a ready Pod that has not, returns the
/// time at which it becomes available.
pub(super) fn availability(pod: &Value, seconds: i64, now: Timestamp) -> Available {
    let Some(ready) = ready_condition(pod) else { return Available::No };
    if seconds == 0 {
        return Available::Yes;
    }
    let since = ready["lastTransitionTime"].as_str().and_then(|since| since.parse::<Timestamp>().ok());
    let available_at = since.and_then(|since| since.checked_add(SignedDuration::from_secs(seconds)).ok());
    match available_at {
        Some(time) if time <= now => Available::Yes,
        Some(time) => Available::From(time),
        None => Available::No,
    }
}

/// Converts a timestamp of the sandbox's clock to an `Instant` of tokio; a time in the past becomes the current time.
pub(super) fn to_instant(environment: &Environment, at: Timestamp) -> Instant {
    let delay = at.duration_since(environment.now());
    Instant::now() + std::time::Duration::try_from(delay).unwrap_or_default()
}

/// The numbers of ready and available Pods.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    pub(super) ready: i64,
    pub(super) available: i64,
    /// The time at which the next Pod becomes available; `None` if all ready Pods are available.
    pub(super) next: Option<Timestamp>,
}

impl Tally {
    /// Counts the ready Pods, and the available Pods, which have been ready for `seconds`. Also finds the time at which the next Pod
    /// becomes available.
    pub(super) fn of<'a>(pods: impl IntoIterator<Item = &'a Value>, seconds: i64, now: Timestamp) -> Self {
        let mut tally = Self::default();
        for pod in pods {
            tally.ready += i64::from(is_ready(pod));
            match availability(pod, seconds, now) {
                Available::Yes => tally.available += 1,
                Available::From(time) => tally.next = Some(tally.next.map_or(time, |next| next.min(time))),
                Available::No => {}
            }
        }
        tally
    }

    /// Returns the action that reconciles again when the next Pod becomes available.
    pub(super) fn next_action(&self, environment: &Environment) -> super::Action {
        self.next.map_or(super::Action::AwaitChange, |next| super::Action::RequeueAt(to_instant(environment, next)))
    }
}

/// Sorts Pods in the order in which a ReplicaSet deletes them: Pods without a node first, then those that are not running, then unready
/// ones, and the youngest first among equals.
pub(super) fn sort_for_deletion(pods: &mut [Value]) {
    pods.sort_by_cached_key(|pod| {
        let bound = !object::text(pod, &["spec", "nodeName"]).is_empty();
        // Lower numbers and `false` come first.
        let phase = match object::text(pod, &["status", "phase"]) {
            "Pending" | "" => 0,
            "Unknown" => 1,
            _ => 2,
        };
        let age = std::cmp::Reverse(object::text(pod, &["metadata", "creationTimestamp"]).to_owned());
        (bound, phase, is_ready(pod), age)
    });
}
