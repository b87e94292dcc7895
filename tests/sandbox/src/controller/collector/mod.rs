//! Implements the garbage collector: deletes objects whose owners are gone, and finishes foreground and orphan
//! deletions.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{Action, ApiError, ChangeEvent, Controller, ControllerClient, EventSources, ReconcileResult};
use crate::{
    kind::Kind,
    object::{self, Owner},
    store::Stored,
    verb::{FOREGROUND, ORPHAN},
};
use dependency_graph::{DependencyGraph, ObjectIdentity};

mod dependency_graph;

/// The garbage collector, which follows owner references.
#[derive(Debug, Default)]
pub(super) struct Collector {
    graph: DependencyGraph,
}

/// The state of an owner that a reference names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OwnerState {
    Exists,
    /// In foreground deletion: waits until its dependents are deleted.
    AwaitsDependents,
    Absent,
    /// Can't be looked up: its kind is not served, or it is namespaced while the dependent is cluster-scoped.
    Unknown,
}

impl Controller for Collector {
    type Key = ObjectIdentity;

    fn sources(&self) -> EventSources {
        EventSources::Lifecycle
    }

    fn reset(&mut self) {
        self.graph = DependencyGraph::default();
    }

    fn keys_for(&mut self, _: &ControllerClient, group_resource: &str, event: &ChangeEvent) -> Vec<ObjectIdentity> {
        let identity = ObjectIdentity::new(group_resource, &event.object);
        self.graph.update(&identity, event)
    }

    /// Deletes an object whose owners no longer exist, or finishes the foreground or orphan deletion of a terminating object.
    async fn reconcile(&mut self, client: &ControllerClient, identity: &ObjectIdentity) -> ReconcileResult {
        let Some(kind) = client.kind(&identity.group_resource) else { return Ok(Action::AwaitChange) };
        let Some(stored) = client.server.store.get(&identity.group_resource, &identity.namespace, &identity.name)
        else {
            return Ok(Action::AwaitChange);
        };
        let item = Candidate { client, kind, stored, identity };
        let result =
            if item.stored.deleting { self.process_terminating(&item).await } else { self.process_owned(&item).await };
        match result {
            // Another client was faster; the event of its write follows.
            Err(refused) if refused.is_not_found() => Ok(Action::AwaitChange),
            result => result,
        }
    }
}

/// An object that the collector examines in one reconcile.
struct Candidate<'a> {
    client: &'a ControllerClient,
    kind: Arc<Kind>,
    stored: Arc<Stored>,
    identity: &'a ObjectIdentity,
}

impl Candidate<'_> {
    fn object(&self) -> Value {
        self.stored.object(&self.kind)
    }

    /// Patches the metadata of the object, on condition that the object has not changed since it was read.
    async fn change_metadata(&self, mut metadata: Value) -> Result<Value, ApiError> {
        metadata["uid"] = (*self.stored.uid).into();
        metadata["resourceVersion"] = self.stored.version.to_string().into();
        let key = (self.identity.namespace.as_str(), self.identity.name.as_str());
        self.client.merge_patch(&self.kind, key, "", &json!({"metadata": metadata})).await
    }

    /// Deletes the object with a propagation policy, on condition that the object has not changed since it was read.
    async fn delete(&self, propagation: &str) -> Result<Value, ApiError> {
        let key = (self.identity.namespace.as_str(), self.identity.name.as_str());
        let preconditions = json!({"uid": *self.stored.uid, "resourceVersion": self.stored.version.to_string()});
        let options = json!({
            "kind": "DeleteOptions", "apiVersion": "v1",
            "preconditions": preconditions, "propagationPolicy": propagation,
        });
        self.client.delete(&self.kind, key, &options).await
    }

    async fn remove_finalizer(&self, finalizer: &str) -> Result<(), ApiError> {
        self.client.remove_finalizer(&self.kind, &self.object(), finalizer).await
    }

    /// Removes the owner references with these uids from the object.
    async fn remove_owners(&self, uids: &[&str]) -> Result<Value, ApiError> {
        let mut object = self.object();
        let owners = object["metadata"]["ownerReferences"].take();
        let remaining = owners.as_array().into_iter().flatten().filter(|owner| {
            let uid = owner["uid"].as_str().unwrap_or_default();
            !uids.contains(&uid)
        });
        let remaining: Vec<_> = remaining.cloned().collect();
        let remaining = if remaining.is_empty() { Value::Null } else { remaining.into() };
        self.change_metadata(json!({"ownerReferences": remaining})).await
    }
}

impl Collector {
    /// Handles a terminating object. Removes the finalizer `foregroundDeletion` once no dependent blocks the deletion. For the finalizer
    /// `orphan`, removes the owner references to the object from its dependents, and then the finalizer.
    async fn process_terminating(&mut self, item: &Candidate<'_>) -> ReconcileResult {
        let object = item.object();
        let finalizers = object::finalizers(&object);
        if finalizers.contains(&FOREGROUND) {
            let blocks = |dependent: &Candidate<'_>| {
                let dependent = dependent.object();
                object::owners(&dependent).iter().any(|owner| owner.uid == *item.stored.uid && owner.blocks_deletion)
            };
            if self.dependents(item).iter().any(blocks) {
                return Ok(Action::AwaitChange);
            }
            item.remove_finalizer(FOREGROUND).await?;
        } else if finalizers.contains(&ORPHAN) {
            for dependent in self.dependents(item) {
                match dependent.remove_owners(&[&item.stored.uid]).await {
                    Err(refused) if !refused.is_not_found() => return Err(refused),
                    _ => {}
                }
            }
            item.remove_finalizer(ORPHAN).await?;
        }
        Ok(Action::AwaitChange)
    }

    /// Deletes an object if none of its owners exists any more, and removes references to absent owners if another
    /// owner still exists. Mirrors `attemptToDeleteItem` of kube-controller-manager.
    ///
    /// # Errors
    /// If the kind of an owner is not served, so that the object is reconciled again later.
    async fn process_owned(&mut self, item: &Candidate<'_>) -> ReconcileResult {
        let object = item.object();
        let owners = object::owners(&object);
        if owners.is_empty() {
            return Ok(Action::AwaitChange);
        }
        let owner_states: Vec<(&Owner, OwnerState)> =
            owners.iter().map(|owner| (owner, owner_state(item, owner))).collect();
        let has_owner_that_is = |wanted: OwnerState| owner_states.iter().any(|(_, state)| *state == wanted);
        if has_owner_that_is(OwnerState::Unknown) {
            return match owner_states
                .iter()
                .find(|(owner, state)| *state == OwnerState::Unknown && !is_served(item, owner))
            {
                // The error retries the reconcile, since the kind may be served later.
                Some((owner, _)) => Err(no_kind_match(owner)),
                // A cluster-scoped dependent has a namespaced owner, which can never be found.
                None => Ok(Action::AwaitChange),
            };
        }
        if has_owner_that_is(OwnerState::Exists) {
            let obsolete: Vec<&str> = owner_states
                .iter()
                .filter(|(_, state)| *state != OwnerState::Exists)
                .map(|(owner, _)| owner.uid.as_str())
                .collect();
            if !obsolete.is_empty() {
                item.remove_owners(&obsolete).await?;
            }
            return Ok(Action::AwaitChange);
        }
        // An owner in foreground deletion waits for this object, which therefore waits for its own dependents, too.
        let propagation = if has_owner_that_is(OwnerState::AwaitsDependents) && !self.dependents(item).is_empty() {
            self.unblock_cycle(item).await?;
            "Foreground"
        } else if object::finalizers(&object).contains(&ORPHAN) {
            "Orphan"
        } else if object::finalizers(&object).contains(&FOREGROUND) {
            "Foreground"
        } else {
            "Background"
        };
        item.delete(propagation).await?;
        Ok(Action::AwaitChange)
    }

    /// Sets `blockOwnerDeletion` of all owner references to `false` if a dependent of the object is in foreground deletion: the dependent
    /// may also be an owner of the object, and each would wait for the other.
    async fn unblock_cycle(&self, item: &Candidate<'_>) -> Result<(), ApiError> {
        let waits = |dependent: &Candidate<'_>| {
            dependent.stored.deleting && object::finalizers(&dependent.object()).contains(&FOREGROUND)
        };
        if !self.dependents(item).iter().any(waits) {
            return Ok(());
        }
        let mut object = item.object();
        let mut owners = object["metadata"]["ownerReferences"].take();
        for owner in owners.as_array_mut().into_iter().flatten() {
            owner["blockOwnerDeletion"] = false.into();
        }
        item.change_metadata(json!({"ownerReferences": owners})).await.map(drop)
    }

    /// Returns the objects in the graph that depend on an object, if they still exist and their owner references contain its uid.
    fn dependents<'a>(&'a self, item: &Candidate<'a>) -> Vec<Candidate<'a>> {
        let identities = self.graph.dependents(&item.stored.uid);
        let dependent = |identity: &'a ObjectIdentity| {
            let stored = item.client.server.store.get(&identity.group_resource, &identity.namespace, &identity.name)?;
            let is_dependent = stored.owners.contains(&item.stored.uid);
            is_dependent.then_some(Candidate {
                client: item.client,
                kind: item.client.kind(&identity.group_resource)?,
                stored,
                identity,
            })
        };
        identities.filter_map(dependent).collect()
    }
}

/// Returns whether the kind that an owner reference names is served.
fn is_served(item: &Candidate<'_>, owner: &Owner) -> bool {
    item.client.server.kinds.of_kind(&owner.api_version, &owner.kind).is_some()
}

/// Returns the error for an owner whose kind is not served.
fn no_kind_match(owner: &Owner) -> ApiError {
    let message = format!("no matches for kind {:?} in version {:?}", owner.kind, owner.api_version);
    ApiError { code: 0, message, status: Value::Null }
}

/// Returns the state of the owner that a reference names. An object with the name of the owner but another uid counts as absent.
fn owner_state(item: &Candidate<'_>, owner: &Owner) -> OwnerState {
    let server = &item.client.server;
    let Some(kind) = server.kinds.of_kind(&owner.api_version, &owner.kind) else { return OwnerState::Unknown };
    let namespace = if kind.namespaced { item.identity.namespace.as_str() } else { "" };
    if kind.namespaced && namespace.is_empty() {
        return OwnerState::Unknown;
    }
    match server.store.get(&kind.group_resource, namespace, &owner.name) {
        Some(stored) if *stored.uid != *owner.uid => OwnerState::Absent,
        None => OwnerState::Absent,
        Some(stored) if stored.deleting && object::finalizers(&stored.object(&kind)).contains(&FOREGROUND) => {
            OwnerState::AwaitsDependents
        }
        Some(_) => OwnerState::Exists,
    }
}
