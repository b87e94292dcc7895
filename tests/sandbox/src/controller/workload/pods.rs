//! Contains the functions that all workload controllers share: ownership, adoption, readiness and availability of Pods.

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

/// Returns the owner reference to a controller.
pub(super) fn controlled_by(kind: &Kind, owner: &Value) -> Value {
    json!({
        "apiVersion": kind.api_version(), "kind": kind.kind, "name": object::name(owner), "uid": object::uid(owner),
        "controller": true, "blockOwnerDeletion": true,
    })
}

/// Returns the objects whose controller has this uid, in order of creation.
pub(super) fn controlled(client: &ControllerClient, kind: &Kind, namespace: &str, uid: &str) -> Vec<Value> {
    let (_, items) = client.server.store.list(&kind.group_resource, Some(namespace));
    let own = items.iter().filter(|item| item.owners.iter().any(|owner| **owner == *uid));
    let own = own.map(|item| item.object(kind));
    let mut own: Vec<Value> =
        own.filter(|item| object::owners(item).iter().any(|owner| owner.controller && owner.uid == uid)).collect();
    own.sort_by_cached_key(|item| object::text(item, &["metadata", "creationTimestamp"]).to_owned());
    own
}

/// Returns the controllers of a kind that control the object before or after the change.
pub(super) fn controllers(event: &ChangeEvent, kind: &str) -> Vec<ObjectKey> {
    let states = [Some(&event.object), event.before.as_ref()].into_iter().flatten();
    let with_owners = states.filter(|state| !state.owners.is_empty());
    let mut keys: Vec<ObjectKey> = with_owners.flat_map(|state| controllers_of(state, kind)).collect();
    keys.dedup();
    keys
}

fn controllers_of(state: &Stored, kind: &str) -> Vec<ObjectKey> {
    let own = state.owners().into_iter().filter(|owner| owner.controller && owner.kind == kind);
    own.map(|owner| (state.namespace.to_string(), owner.name)).collect()
}

/// Returns the key of the changed object.
pub(super) fn key(event: &ChangeEvent) -> ObjectKey {
    (event.object.namespace.to_string(), event.object.name.to_string())
}

/// Returns a Pod from a template, controlled by the owner.
pub(super) fn from_template(template: &Value, kind: &Kind, owner: &Value) -> Value {
    let mut metadata = json!({
        "namespace": object::namespace(owner), "ownerReferences": [controlled_by(kind, owner)],
        "generateName": format!("{}-", object::name(owner)),
    });
    for part in ["labels", "annotations", "finalizers"] {
        if let Some(value) = object::at(template, &["metadata", part]) {
            metadata[part] = value.clone();
        }
    }
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template["spec"]})
}

/// Adopts the objects that the owner's selector matches and that have no controller.
pub(super) async fn adopt(client: &ControllerClient, of: &Kind, kind: &Kind, owner: &Value) -> Result<(), ApiError> {
    let selector = &owner["spec"]["selector"];
    if object::is_deleting(owner) || !selector.is_object() {
        return Ok(());
    }
    let selector = LabelSelector::of_object(selector);
    let (_, items) = client.server.store.list(&of.group_resource, Some(object::namespace(owner)));
    for item in items.iter().filter(|item| !item.deleting && selector.matches(|key| item.label(key))) {
        if item.owners().iter().any(|owner| owner.controller) {
            continue;
        }
        let object = item.object(of);
        if is_ended(&object) {
            continue;
        }
        let mut references = object["metadata"]["ownerReferences"].as_array().cloned().unwrap_or_default();
        references.push(controlled_by(kind, owner));
        let patch = json!({"metadata": {"uid": *item.uid, "ownerReferences": references}});
        match client.merge_patch(of, (&item.namespace, &item.name), "", &patch).await {
            Err(refused) if !refused.is_not_found() => return Err(refused),
            _ => {}
        }
    }
    Ok(())
}

pub(super) fn is_ended(pod: &Value) -> bool {
    matches!(object::text(pod, &["status", "phase"]), "Succeeded" | "Failed")
}

pub(super) fn is_active(pod: &Value) -> bool {
    !is_ended(pod) && !object::is_deleting(pod)
}

fn readiness(pod: &Value) -> Option<&Value> {
    let conditions = object::at(pod, &["status", "conditions"]).and_then(Value::as_array);
    conditions?.iter().find(|condition| condition["type"] == "Ready" && condition["status"] == "True")
}

pub(super) fn is_ready(pod: &Value) -> bool {
    readiness(pod).is_some()
}

/// Returns whether the Pod has been ready for this number of seconds.
pub(super) fn availability(pod: &Value, seconds: i64, now: Timestamp) -> Available {
    let Some(ready) = readiness(pod) else { return Available::No };
    if seconds == 0 {
        return Available::Yes;
    }
    let since = ready["lastTransitionTime"].as_str().and_then(|since| since.parse::<Timestamp>().ok());
    let from = since.and_then(|since| since.checked_add(SignedDuration::from_secs(seconds)).ok());
    match from {
        Some(from) if from <= now => Available::Yes,
        Some(from) => Available::From(from),
        None => Available::No,
    }
}

/// Converts a timestamp to the runtime's clock.
pub(super) fn instant(environment: &Environment, at: Timestamp) -> Instant {
    let wait = at.duration_since(environment.now());
    Instant::now() + std::time::Duration::try_from(wait).unwrap_or_default()
}

/// The numbers of ready and available Pods.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    pub(super) ready: i64,
    pub(super) available: i64,
    /// The time at which the next Pod becomes available.
    pub(super) next: Option<Timestamp>,
}

impl Tally {
    pub(super) fn of<'a>(pods: impl IntoIterator<Item = &'a Value>, seconds: i64, now: Timestamp) -> Self {
        let mut tally = Self::default();
        for pod in pods {
            tally.ready += i64::from(is_ready(pod));
            match availability(pod, seconds, now) {
                Available::Yes => tally.available += 1,
                Available::From(from) => tally.next = Some(tally.next.map_or(from, |next| next.min(from))),
                Available::No => {}
            }
        }
        tally
    }

    /// Returns the action that reconciles again when the next Pod becomes available.
    pub(super) fn next_look(&self, environment: &Environment) -> super::Action {
        self.next.map_or(super::Action::AwaitChange, |next| super::Action::RequeueAt(instant(environment, next)))
    }
}

/// Sorts Pods in the order of deletion: unbound, not running and unready ones first, then the youngest.
pub(super) fn sort_by_worth(pods: &mut [Value]) {
    pods.sort_by_cached_key(|pod| {
        let bound = !object::text(pod, &["spec", "nodeName"]).is_empty();
        let phase = match object::text(pod, &["status", "phase"]) {
            "Pending" | "" => 0,
            "Unknown" => 1,
            _ => 2,
        };
        let age = std::cmp::Reverse(object::text(pod, &["metadata", "creationTimestamp"]).to_owned());
        (bound, phase, is_ready(pod), age)
    });
}
