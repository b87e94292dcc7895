//! Implements the namespace controller: deletes the contents of terminating namespaces, then removes the finalizer `kubernetes` from
//! `spec.finalizers`.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use serde_json::{Value, json};
use tokio::time::Instant;

use super::{Action, ApiError, ChangeEvent, Controller, ControllerClient, EventSources, ReconcileResult};
use crate::{kind::Kind, object};

const NAMESPACES: &str = "namespaces";
const PODS: &str = "pods";

/// The finalizer in `spec.finalizers` that this controller removes once the namespace is empty.
const CONTENT_FINALIZER: &str = "kubernetes";

/// The delay between the deletion of Pods and of the other objects, in which the Pods' controllers can update their
/// status. In a cluster it is five seconds or more.
const POD_GRACE: Duration = Duration::from_secs(1);

/// Finalizes terminating namespaces.
#[derive(Debug, Default)]
pub(super) struct Namespaces {
    /// The namespaces that had Pods, each with the time at which the other objects are deleted; `None` until the Pods
    /// are gone.
    deletion_times: BTreeMap<String, Option<Instant>>,
}

/// The remaining contents of a namespace.
#[derive(Debug, Default)]
struct RemainingContent {
    /// The number of objects by resource.
    resources: BTreeMap<String, usize>,
    /// The number of objects that each finalizer holds.
    finalizers: BTreeMap<String, usize>,
    /// The messages of refused deletions.
    failures: Vec<String>,
}

/// A condition in the status of a terminating namespace.
struct NamespaceCondition {
    type_: &'static str,
    holds: bool,
    reason: &'static str,
    message: String,
}

impl Controller for Namespaces {
    /// The name of a namespace.
    type Key = String;

    fn sources(&self) -> EventSources {
        EventSources::Lifecycle
    }

    /// Returns the terminating namespace that contains the changed object, or that is the changed object; none if it is not terminating.
    fn keys_for(&mut self, client: &ControllerClient, group_resource: &str, event: &ChangeEvent) -> Vec<String> {
        let namespace = if group_resource == NAMESPACES { &event.object.name } else { &event.object.namespace };
        let stored = client.server.store.get(NAMESPACES, "", namespace);
        stored.filter(|stored| stored.deleting).map(|_| namespace.to_string()).into_iter().collect()
    }

    /// Deletes the contents of a terminating namespace, Pods first. Once it is empty, removes the finalizer `kubernetes` from
    /// `spec.finalizers`, and the following reconcile deletes the Namespace itself.
    async fn reconcile(&mut self, client: &ControllerClient, name: &String) -> ReconcileResult {
        let Some(kind) = client.kind(NAMESPACES) else { return Ok(Action::AwaitChange) };
        let Some(namespace) = client.get(&kind, "", name).filter(object::is_deleting) else {
            self.deletion_times.remove(name);
            return Ok(Action::AwaitChange);
        };
        let finalizers = spec_finalizers(&namespace);
        if !finalizers.iter().any(|finalizer| finalizer == CONTENT_FINALIZER) {
            // The contents are gone. The remaining finalizers belong to other controllers, and the Namespace is deleted once they are gone,
            // too.
            if finalizers.is_empty() && object::finalizers(&namespace).is_empty() {
                let options = json!({"preconditions": {"uid": object::uid(&namespace)}});
                return ignore_not_found(client.delete(&kind, ("", name), &options).await);
            }
            return Ok(Action::AwaitChange);
        }
        let has_pods = !client.server.store.list(PODS, Some(name)).1.is_empty();
        // After the last Pod is gone, the other objects stay until the grace period is over.
        if let Some(at) = self.next_deletion_at(name, has_pods).filter(|at| Instant::now() < *at) {
            return Ok(Action::RequeueAt(at));
        }
        let remaining = delete_content(client, name, has_pods).await;
        let namespace = update_status(client, &kind, namespace, &remaining).await?;
        if let Some(failure) = remaining.failures.first() {
            return Err(ApiError { code: 0, message: failure.clone(), status: Value::Null });
        }
        if !remaining.resources.is_empty() {
            return Ok(Action::AwaitChange);
        }
        if has_pods {
            // This reconcile has deleted the Pods; the next one deletes the other objects after the grace period.
            return Ok(self.next_deletion_at(name, false).map_or(Action::AwaitChange, Action::RequeueAt));
        }
        let mut namespace = namespace;
        let other_finalizers: Vec<_> =
            finalizers.into_iter().filter(|finalizer| finalizer != CONTENT_FINALIZER).collect();
        object::map_at(&mut namespace, &["spec"]).insert("finalizers".into(), other_finalizers.into());
        ignore_not_found(client.replace(&kind, "finalize", &namespace).await)
    }
}

impl Namespaces {
    /// Returns the time from which objects other than Pods are deleted: `POD_GRACE` after the first call that finds the Pods gone. Returns
    /// `None` while Pods exist, and if the namespace never had Pods.
    fn next_deletion_at(&mut self, name: &str, has_pods: bool) -> Option<Instant> {
        if has_pods {
            self.deletion_times.insert(name.to_owned(), None);
            return None;
        }
        let due = self.deletion_times.get_mut(name)?;
        Some(*due.get_or_insert_with(|| Instant::now() + POD_GRACE))
    }
}

/// Converts the response to a write into the result of a reconcile. Counts the error that the object does not exist as success.
fn ignore_not_found(response: Result<Value, ApiError>) -> ReconcileResult {
    match response {
        Err(refused) if !refused.is_not_found() => Err(refused),
        _ => Ok(Action::AwaitChange),
    }
}

/// Returns `spec.finalizers`, which are the finalizers of the contents, not those in the metadata.
fn spec_finalizers(namespace: &Value) -> Vec<String> {
    let listed = object::at(namespace, &["spec", "finalizers"]).and_then(Value::as_array);
    listed.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// Deletes all objects of a namespace, or only its Pods, and returns the objects that still exist. Mirrors `deleteAllContent` of
/// kube-controller-manager.
async fn delete_content(client: &ControllerClient, namespace: &str, only_pods: bool) -> RemainingContent {
    let mut remaining = RemainingContent::default();
    for kind in deletable_kinds(client).iter().filter(|kind| !only_pods || kind.is("", PODS)) {
        delete_objects(client, kind, namespace, &mut remaining).await;
    }
    remaining
}

/// Returns the namespaced kinds whose objects can be deleted, each in one version.
fn deletable_kinds(client: &ControllerClient) -> Vec<Arc<Kind>> {
    let mut known_resources = std::collections::BTreeSet::new();
    let all = client.server.kinds.all().into_iter();
    let deletable = |kind: &Arc<Kind>| kind.namespaced && kind.verbs.iter().any(|verb| verb == "delete");
    all.filter(deletable).filter(|kind| known_resources.insert(kind.group_resource.clone())).collect()
}

/// Deletes the objects of a kind in a namespace. Adds refused deletions, and the objects that still exist afterwards, to `remaining`.
async fn delete_objects(client: &ControllerClient, kind: &Kind, namespace: &str, remaining: &mut RemainingContent) {
    let list_objects = || client.server.store.list(&kind.group_resource, Some(namespace)).1;
    let existing = list_objects();
    if existing.is_empty() {
        return;
    }
    let options = json!({"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": "Background"});
    if kind.verbs.iter().any(|verb| verb == "deletecollection") {
        if existing.iter().any(|item| !item.deleting)
            && let Err(refused) = client.delete(kind, (namespace, ""), &options).await
        {
            remaining.failures.push(refused.message);
        }
    } else {
        for item in existing.iter().filter(|item| !item.deleting) {
            match client.delete(kind, (namespace, &item.name), &options).await {
                Err(refused) if !refused.is_not_found() => remaining.failures.push(refused.message),
                _ => {}
            }
        }
    }
    let existing = list_objects();
    if existing.is_empty() {
        return;
    }
    remaining.resources.insert(format!("{}.{}", kind.plural, kind.group), existing.len());
    for item in existing {
        for finalizer in object::finalizers(&item.object(kind)) {
            *remaining.finalizers.entry(finalizer.to_owned()).or_default() += 1;
        }
    }
}

/// Writes the conditions about the remaining contents into the status if they changed. Returns the namespace with the current status.
async fn update_status(
    client: &ControllerClient,
    kind: &Kind,
    mut namespace: Value,
    remaining: &RemainingContent,
) -> Result<Value, ApiError> {
    let now = client.server.environment.time();
    let status = object::map_at(&mut namespace, &["status"]);
    let old: Vec<Value> = status.get("conditions").and_then(Value::as_array).cloned().unwrap_or_default();
    let to_json = |condition: NamespaceCondition| {
        let NamespaceCondition { type_, holds, reason, message } = condition;
        let state = if holds { "True" } else { "False" };
        let before = old.iter().find(|old| old["type"] == type_ && old["status"] == state);
        let since = before.map_or_else(|| Value::from(now.as_str()), |old| old["lastTransitionTime"].clone());
        json!({"type": type_, "status": state, "lastTransitionTime": since, "reason": reason, "message": message})
    };
    let conditions: Vec<Value> = conditions_of(remaining).into_iter().map(to_json).collect();
    if old == conditions {
        return Ok(namespace);
    }
    status.insert("conditions".into(), conditions.into());
    client.replace(kind, "status", &namespace).await
}

/// Returns the conditions that report the remaining content, with the messages of kube-controller-manager.
fn conditions_of(remaining: &RemainingContent) -> [NamespaceCondition; 5] {
    let resources: Vec<_> = remaining
        .resources
        .iter()
        .map(|(resource, count)| format!("{resource} has {count} resource instances"))
        .collect();
    let finalizers: Vec<_> = remaining
        .finalizers
        .iter()
        .map(|(finalizer, count)| format!("{finalizer} in {count} resource instances"))
        .collect();
    let condition = |type_, holds, reason, message| NamespaceCondition { type_, holds, reason, message };
    // `if_any` and `if_none` are pairs of a reason and a message. A list with items makes the condition true, and the items follow the
    // message.
    let condition_for = |type_, list: &[String], if_any: (&'static str, &str), if_none: (&'static str, &str)| {
        if list.is_empty() {
            condition(type_, false, if_none.0, if_none.1.to_owned())
        } else {
            condition(type_, true, if_any.0, format!("{}{}", if_any.1, list.join(", ")))
        }
    };
    let discovered = "All resources successfully discovered".to_owned();
    let parsed = "All legacy kube types successfully parsed".to_owned();
    [
        condition("NamespaceDeletionDiscoveryFailure", false, "ResourcesDiscovered", discovered),
        condition("NamespaceDeletionGroupVersionParsingFailure", false, "ParsedGroupVersions", parsed),
        condition_for(
            "NamespaceDeletionContentFailure",
            &remaining.failures,
            ("ContentDeletionFailed", "Failed to delete all resource types, remaining: "),
            ("ContentDeleted", "All content successfully deleted, may be waiting on finalization"),
        ),
        condition_for(
            "NamespaceContentRemaining",
            &resources,
            ("SomeResourcesRemain", "Some resources are remaining: "),
            ("ContentRemoved", "All content successfully removed"),
        ),
        condition_for(
            "NamespaceFinalizersRemaining",
            &finalizers,
            ("SomeFinalizersRemain", "Some content in the namespace has finalizers remaining: "),
            ("ContentHasNoFinalizers", "All content-preserving finalizers finished"),
        ),
    ]
}
