//! Implements the garbage collector: deletes dependents without an owner, and finishes foreground deletions.

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
    family: DependencyGraph,
}

/// The state of an owner that a reference names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OwnerState {
    Lives,
    /// In foreground deletion: waits until its dependents are gone.
    Waits,
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
        self.family = DependencyGraph::default();
    }

    fn keys_for(&mut self, _: &ControllerClient, group_resource: &str, event: &ChangeEvent) -> Vec<ObjectIdentity> {
        let member = ObjectIdentity::new(group_resource, &event.object);
        self.family.learn(&member, event)
    }

    async fn reconcile(&mut self, client: &ControllerClient, member: &ObjectIdentity) -> ReconcileResult {
        let Some(kind) = client.kind(&member.group_resource) else { return Ok(Action::AwaitChange) };
        let Some(held) = client.server.store.get(&member.group_resource, &member.namespace, &member.name) else {
            return Ok(Action::AwaitChange);
        };
        let item = Candidate { client, kind, held, member };
        let done = if item.held.deleting { self.deleted(&item).await } else { self.owned(&item).await };
        match done {
            // Another client was faster; the event of its write follows.
            Err(refused) if refused.is_gone() => Ok(Action::AwaitChange),
            done => done,
        }
    }
}

/// An object that the collector examines.
struct Candidate<'a> {
    client: &'a ControllerClient,
    kind: Arc<Kind>,
    held: Arc<Stored>,
    member: &'a ObjectIdentity,
}

impl Candidate<'_> {
    fn object(&self) -> Value {
        self.held.object(&self.kind)
    }

    /// Patches the metadata of the object, on condition that its version is still the one read.
    async fn change_metadata(&self, mut metadata: Value) -> Result<Value, ApiError> {
        metadata["uid"] = (*self.held.uid).into();
        metadata["resourceVersion"] = self.held.version.to_string().into();
        let at = (self.member.namespace.as_str(), self.member.name.as_str());
        self.client.merge(&self.kind, at, "", &json!({"metadata": metadata})).await
    }

    async fn delete(&self, propagation: &str) -> Result<Value, ApiError> {
        let at = (self.member.namespace.as_str(), self.member.name.as_str());
        let preconditions = json!({"uid": *self.held.uid, "resourceVersion": self.held.version.to_string()});
        let options = json!({
            "kind": "DeleteOptions", "apiVersion": "v1",
            "preconditions": preconditions, "propagationPolicy": propagation,
        });
        self.client.delete(&self.kind, at, &options).await
    }

    async fn without_finalizer(&self, finalizer: &str) -> Result<(), ApiError> {
        self.client.release(&self.kind, &self.object(), finalizer).await
    }

    /// Removes the references to the owners with these uids.
    async fn without_owners(&self, uids: &[&str]) -> Result<Value, ApiError> {
        let mut object = self.object();
        let owners = object["metadata"]["ownerReferences"].take();
        let kept = owners.as_array().into_iter().flatten().filter(|owner| {
            let uid = owner["uid"].as_str().unwrap_or_default();
            !uids.contains(&uid)
        });
        let kept: Vec<_> = kept.cloned().collect();
        let kept = if kept.is_empty() { Value::Null } else { kept.into() };
        self.change_metadata(json!({"ownerReferences": kept})).await
    }
}

impl Collector {
    /// Handles a terminating object, which may wait for its dependents to be deleted or orphaned.
    async fn deleted(&mut self, item: &Candidate<'_>) -> ReconcileResult {
        let object = item.object();
        let finalizers = object::finalizers(&object);
        if finalizers.contains(&FOREGROUND) {
            let blocks = |dependent: &Candidate<'_>| {
                let dependent = dependent.object();
                object::owners(&dependent).iter().any(|owner| owner.uid == *item.held.uid && owner.blocks_deletion)
            };
            if self.dependents(item).iter().any(blocks) {
                return Ok(Action::AwaitChange);
            }
            item.without_finalizer(FOREGROUND).await?;
        } else if finalizers.contains(&ORPHAN) {
            for dependent in self.dependents(item) {
                match dependent.without_owners(&[&item.held.uid]).await {
                    Err(refused) if !refused.is_gone() => return Err(refused),
                    _ => {}
                }
            }
            item.without_finalizer(ORPHAN).await?;
        }
        Ok(Action::AwaitChange)
    }

    /// Deletes an object if none of its owners exists any more.
    async fn owned(&mut self, item: &Candidate<'_>) -> ReconcileResult {
        let object = item.object();
        let owners = object::owners(&object);
        if owners.is_empty() {
            return Ok(Action::AwaitChange);
        }
        let fates: Vec<(&Owner, OwnerState)> = owners.iter().map(|owner| (owner, fate(item, owner))).collect();
        let any = |wanted: OwnerState| fates.iter().any(|(_, fate)| *fate == wanted);
        if any(OwnerState::Unknown) {
            return match fates.iter().find(|(owner, fate)| *fate == OwnerState::Unknown && !is_known(item, owner)) {
                // The kind may be served later.
                Some((owner, _)) => Err(unknown(owner)),
                None => Ok(Action::AwaitChange),
            };
        }
        if any(OwnerState::Lives) {
            let useless: Vec<&str> = fates
                .iter()
                .filter(|(_, fate)| *fate != OwnerState::Lives)
                .map(|(owner, _)| owner.uid.as_str())
                .collect();
            if !useless.is_empty() {
                item.without_owners(&useless).await?;
            }
            return Ok(Action::AwaitChange);
        }
        let propagation = if any(OwnerState::Waits) && !self.dependents(item).is_empty() {
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

    /// Clears `blockOwnerDeletion` if dependents of the object are in foreground deletion: they may also be its owners,
    /// and the object must not block them.
    async fn unblock_cycle(&self, item: &Candidate<'_>) -> Result<(), ApiError> {
        let waits = |dependent: &Candidate<'_>| {
            dependent.held.deleting && object::finalizers(&dependent.object()).contains(&FOREGROUND)
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

    fn dependents<'a>(&'a self, item: &Candidate<'a>) -> Vec<Candidate<'a>> {
        let members = self.family.dependents(&item.held.uid);
        let dependent = |member: &'a ObjectIdentity| {
            let held = item.client.server.store.get(&member.group_resource, &member.namespace, &member.name)?;
            let is_still = held.owners.contains(&item.held.uid);
            is_still.then_some(Candidate {
                client: item.client,
                kind: item.client.kind(&member.group_resource)?,
                held,
                member,
            })
        };
        members.filter_map(dependent).collect()
    }
}

fn is_known(item: &Candidate<'_>, owner: &Owner) -> bool {
    item.client.server.kinds.of_kind(&owner.api_version, &owner.kind).is_some()
}

fn unknown(owner: &Owner) -> ApiError {
    let message = format!("no matches for kind {:?} in version {:?}", owner.kind, owner.api_version);
    ApiError { code: 0, message, status: Value::Null }
}

/// Returns the state of the owner that a reference names; an owner with the same name but another uid counts as absent.
fn fate(item: &Candidate<'_>, owner: &Owner) -> OwnerState {
    let server = &item.client.server;
    let Some(kind) = server.kinds.of_kind(&owner.api_version, &owner.kind) else { return OwnerState::Unknown };
    let namespace = if kind.namespaced { item.member.namespace.as_str() } else { "" };
    if kind.namespaced && namespace.is_empty() {
        return OwnerState::Unknown;
    }
    match server.store.get(&kind.group_resource, namespace, &owner.name) {
        Some(held) if *held.uid != *owner.uid => OwnerState::Absent,
        None => OwnerState::Absent,
        Some(held) if held.deleting && object::finalizers(&held.object(&kind)).contains(&FOREGROUND) => {
            OwnerState::Waits
        }
        Some(_) => OwnerState::Lives,
    }
}
