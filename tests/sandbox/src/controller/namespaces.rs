//! Deletes the contents of terminating namespaces and removes their finalizer.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use serde_json::{Value, json};
use tokio::time::Instant;

use super::{Action, ApiError, ChangeEvent, Controller, ControllerClient, EventSources, ReconcileResult};
use crate::{kind::Kind, object};

const NAMESPACES: &str = "namespaces";
const PODS: &str = "pods";

/// The finalizer in the spec of a namespace that stands for its contents.
const CONTENT: &str = "kubernetes";

/// The delay between the deletion of Pods and of the other objects, in which the Pods' controllers can update their
/// status. In a cluster it is five seconds or more.
const AFTER_PODS: Duration = Duration::from_secs(1);

/// Finalizes terminating namespaces.
#[derive(Debug, Default)]
pub(super) struct Namespaces {
    /// The namespaces that had Pods; once the Pods are gone, with the time at which the other objects are deleted.
    after_pods: BTreeMap<String, Option<Instant>>,
}

/// The remaining contents of a namespace.
#[derive(Debug, Default)]
struct Left {
    /// The number of objects by resource.
    resources: BTreeMap<String, usize>,
    /// The number of objects that each finalizer holds.
    finalizers: BTreeMap<String, usize>,
    /// The messages of refused deletions.
    failures: Vec<String>,
}

impl Controller for Namespaces {
    /// The name of a namespace.
    type Key = String;

    fn sources(&self) -> EventSources {
        EventSources::Lifecycle
    }

    fn keys_for(&mut self, client: &ControllerClient, group_resource: &str, event: &ChangeEvent) -> Vec<String> {
        let namespace = if group_resource == NAMESPACES { &event.object.name } else { &event.object.namespace };
        let held = client.server.store.get(NAMESPACES, "", namespace);
        held.filter(|held| held.deleting).map(|_| namespace.to_string()).into_iter().collect()
    }

    async fn reconcile(&mut self, client: &ControllerClient, name: &String) -> ReconcileResult {
        let Some(kind) = client.kind(NAMESPACES) else { return Ok(Action::AwaitChange) };
        let Some(namespace) = client.get(&kind, "", name).filter(object::is_deleting) else {
            self.after_pods.remove(name);
            return Ok(Action::AwaitChange);
        };
        let finalizers = own_finalizers(&namespace);
        if !finalizers.iter().any(|own| own == CONTENT) {
            // No finalizer in its spec is left; those in its metadata belong to other controllers.
            if finalizers.is_empty() && object::finalizers(&namespace).is_empty() {
                let options = json!({"preconditions": {"uid": object::uid(&namespace)}});
                return rest_if_gone(client.delete(&kind, ("", name), &options).await);
            }
            return Ok(Action::AwaitChange);
        }
        let has_pods = !client.server.store.list(PODS, Some(name)).1.is_empty();
        if let Some(at) = self.rest_is_due(name, has_pods).filter(|at| Instant::now() < *at) {
            return Ok(Action::RequeueAt(at));
        }
        let left = empty(client, name, has_pods).await;
        let namespace = update_status(client, &kind, namespace, &left).await?;
        if let Some(failure) = left.failures.first() {
            return Err(ApiError { code: 0, message: failure.clone(), status: Value::Null });
        }
        if !left.resources.is_empty() {
            return Ok(Action::AwaitChange);
        }
        if has_pods {
            return Ok(self.rest_is_due(name, false).map_or(Action::AwaitChange, Action::RequeueAt));
        }
        let mut namespace = namespace;
        let kept: Vec<_> = finalizers.into_iter().filter(|own| own != CONTENT).collect();
        object::map_at(&mut namespace, &["spec"]).insert("finalizers".into(), kept.into());
        rest_if_gone(client.replace(&kind, "finalize", &namespace).await)
    }
}

impl Namespaces {
    /// Returns the time at which objects other than Pods are deleted; `None` if there were no Pods, or some still
    /// exist.
    fn rest_is_due(&mut self, name: &str, has_pods: bool) -> Option<Instant> {
        if has_pods {
            self.after_pods.insert(name.to_owned(), None);
            return None;
        }
        let due = self.after_pods.get_mut(name)?;
        Some(*due.get_or_insert_with(|| Instant::now() + AFTER_PODS))
    }
}

fn rest_if_gone(answer: Result<Value, ApiError>) -> ReconcileResult {
    match answer {
        Err(refused) if !refused.is_not_found() => Err(refused),
        _ => Ok(Action::AwaitChange),
    }
}

fn own_finalizers(namespace: &Value) -> Vec<String> {
    let listed = object::at(namespace, &["spec", "finalizers"]).and_then(Value::as_array);
    listed.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// Deletes the Pods of a namespace, or all of its contents.
async fn empty(client: &ControllerClient, namespace: &str, only_pods: bool) -> Left {
    let mut left = Left::default();
    for kind in content(client).iter().filter(|kind| !only_pods || kind.is("", PODS)) {
        delete_all(client, kind, namespace, &mut left).await;
    }
    left
}

/// Returns each namespaced kind whose objects can be deleted, once.
fn content(client: &ControllerClient) -> Vec<Arc<Kind>> {
    let mut event = std::collections::BTreeSet::new();
    let all = client.server.kinds.all().into_iter();
    let deletable = |kind: &Arc<Kind>| kind.namespaced && kind.verbs.iter().any(|verb| verb == "delete");
    all.filter(deletable).filter(|kind| event.insert(kind.group_resource.clone())).collect()
}

async fn delete_all(client: &ControllerClient, kind: &Kind, namespace: &str, left: &mut Left) {
    let items = || client.server.store.list(&kind.group_resource, Some(namespace)).1;
    let there = items();
    if there.is_empty() {
        return;
    }
    let options = json!({"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": "Background"});
    if kind.verbs.iter().any(|verb| verb == "deletecollection") {
        if there.iter().any(|item| !item.deleting)
            && let Err(refused) = client.delete(kind, (namespace, ""), &options).await
        {
            left.failures.push(refused.message);
        }
    } else {
        for item in there.iter().filter(|item| !item.deleting) {
            match client.delete(kind, (namespace, &item.name), &options).await {
                Err(refused) if !refused.is_not_found() => left.failures.push(refused.message),
                _ => {}
            }
        }
    }
    let there = items();
    if there.is_empty() {
        return;
    }
    left.resources.insert(format!("{}.{}", kind.plural, kind.group), there.len());
    for item in there {
        for finalizer in object::finalizers(&item.object(kind)) {
            *left.finalizers.entry(finalizer.to_owned()).or_default() += 1;
        }
    }
}

/// Writes the remaining contents into the status.
async fn update_status(
    client: &ControllerClient,
    kind: &Kind,
    mut namespace: Value,
    left: &Left,
) -> Result<Value, ApiError> {
    let now = client.server.environment.time();
    let status = object::map_at(&mut namespace, &["status"]);
    let held: Vec<Value> = status.get("conditions").and_then(Value::as_array).cloned().unwrap_or_default();
    let condition = |(type_, holds, reason, message): (&str, bool, &str, String)| {
        let state = if holds { "True" } else { "False" };
        let before = held.iter().find(|own| own["type"] == type_ && own["status"] == state);
        let since = before.map_or_else(|| Value::from(now.as_str()), |own| own["lastTransitionTime"].clone());
        json!({"type": type_, "status": state, "lastTransitionTime": since, "reason": reason, "message": message})
    };
    let conditions: Vec<Value> = conditions(left).into_iter().map(condition).collect();
    if held == conditions {
        return Ok(namespace);
    }
    status.insert("conditions".into(), conditions.into());
    client.replace(kind, "status", &namespace).await
}

fn conditions(left: &Left) -> [(&'static str, bool, &'static str, String); 5] {
    let resources: Vec<_> =
        left.resources.iter().map(|(resource, count)| format!("{resource} has {count} resource instances")).collect();
    let finalizers: Vec<_> =
        left.finalizers.iter().map(|(finalizer, count)| format!("{finalizer} in {count} resource instances")).collect();
    let condition_for = |list: &[String], yes: (&'static str, &str), no: (&'static str, &str)| {
        if list.is_empty() {
            (false, no.0, no.1.to_owned())
        } else {
            (true, yes.0, format!("{}{}", yes.1, list.join(", ")))
        }
    };
    let failed = condition_for(
        &left.failures,
        ("ContentDeletionFailed", "Failed to delete all resource types, remaining: "),
        ("ContentDeleted", "All content successfully deleted, may be waiting on finalization"),
    );
    let remains = condition_for(
        &resources,
        ("SomeResourcesRemain", "Some resources are remaining: "),
        ("ContentRemoved", "All content successfully removed"),
    );
    let held = condition_for(
        &finalizers,
        ("SomeFinalizersRemain", "Some content in the namespace has finalizers remaining: "),
        ("ContentHasNoFinalizers", "All content-preserving finalizers finished"),
    );
    let discovered = (false, "ResourcesDiscovered", "All resources successfully discovered".to_owned());
    let parsed = (false, "ParsedGroupVersions", "All legacy kube types successfully parsed".to_owned());
    let named = |type_, (holds, reason, message)| (type_, holds, reason, message);
    [
        named("NamespaceDeletionDiscoveryFailure", discovered),
        named("NamespaceDeletionGroupVersionParsingFailure", parsed),
        named("NamespaceDeletionContentFailure", failed),
        named("NamespaceContentRemaining", remains),
        named("NamespaceFinalizersRemaining", held),
    ]
}
