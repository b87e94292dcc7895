//! The resource node: a set of objects of one kind, made exactly the wanted one.
//!
//! # Flow
//! 1. Each wanted object is compared with what the cache remembers of it: the digest of what was applied, and whether the
//!    fields that were applied are still ours. Equal means no call at all.
//! 2. What differs is applied (server-side, by the operator's field manager, taking over fields). Before the first apply
//!    of a name one look tells whether a stranger's object is in the way.
//! 3. What the node made and no longer wants is deleted.
//! 4. The node succeeds when all wanted objects are ready and all unwanted ones are really gone.

use crate::{
    cache::{Entry, Header, ObjectKey, Owner, Uid},
    client::{Deletion, Target},
    error::{Error, Result},
    kind::Kind,
    pass::Core,
    provisioner::{
        child::{Child, header_of},
        desired::Desired,
        memory::Departing,
    },
    readiness::Readiness,
    watch::Watched,
};
use kube::api::{DeleteParams, Preconditions, PropagationPolicy};
use serde_json::Value;
use std::{collections::BTreeSet, sync::Arc};

impl Core<'_> {
    /// Makes the objects of a node exactly the wanted ones.
    pub(crate) async fn converge(&self, node: &str, kind: &Kind, wanted: Vec<Value>) -> Result<()> {
        let children = self.shared.children(kind)?;
        children.readable()?;
        let mut waits = Vec::new();
        let mut kept = BTreeSet::new();
        for object in wanted {
            let desired = Desired::new(object, kind, node, &self.owner, &self.shared.operator)?;
            let key = ObjectKey::new(desired.namespace.as_deref(), &desired.name);
            self.claim(kind, &key, node)?;
            match self.ensure(children, kind, &key, &desired).await? {
                Readiness::Ready => {}
                // How far it is stays out of the sentence: each step on its way would be a write of the owner's status.
                Readiness::NotReady(_) => waits.push(format!("{kind} {key}")),
                Readiness::HeldUp(by) => waits.push(format!("{kind} {key}: {by}")),
            }
            kept.insert(key);
        }
        for entry in children.store.owned_by(&self.owner.uid) {
            if &*entry.value.node == node && !kept.contains(&entry.header.key) {
                self.delete_child(kind, &entry).await?;
            }
        }
        waits.extend(self.still_there(children, kind, node).await?);
        if waits.is_empty() {
            return Ok(());
        }
        Err(Error::yielding("", format!("waiting for {}", waits.join("; "))))
    }

    /// Applies one object unless it is as wanted; says whether it is ready.
    async fn ensure(
        &self,
        children: &Watched<Child>,
        kind: &Kind,
        key: &ObjectKey,
        desired: &Desired,
    ) -> Result<Readiness> {
        match children.store.get(key) {
            Some(entry) if self.is_of_former_owner(&entry.header) => {
                Ok(Readiness::HeldUp("it belongs to an earlier object of this name, and is being collected".into()))
            }
            Some(entry) if !self.is_ours(&entry) => Err(foreign(kind, key, &entry.header)),
            Some(entry) if entry.header.deleting => Ok(Readiness::HeldUp("the one before it is being deleted".into())),
            Some(entry) => match self.difference(kind, &entry, desired) {
                None => Ok(entry.value.readiness.clone()),
                Some(why) => {
                    tracing::debug!(kind = %kind, object = %key, %why, "applying");
                    self.apply_child(children, kind, desired, Some(&entry.header.uid)).await
                }
            },
            None => match self.is_free(kind, key).await? {
                Free::Yes => self.apply_child(children, kind, desired, None).await,
                Free::Ours(uid) => self.apply_child(children, kind, desired, Some(&uid)).await,
                Free::Ending => Ok(Readiness::HeldUp("an object of its name is being deleted".into())),
            },
        }
    }

    /// Why an object has to be applied again, if it has to.
    fn difference(&self, kind: &Kind, entry: &Arc<Entry<Child>>, desired: &Desired) -> Option<String> {
        if *entry.value.applied != *desired.digest {
            return Some("the wanted state changed".to_owned());
        }
        let lost = entry.value.lost(desired)?;
        // Some servers change the ownership of an apply on its way in; what our own apply left is no drift.
        let known = self.memory().is_settled(&self.owner, kind, &entry.header.key, entry.value.fields);
        (!known).then(|| format!("somebody else changed {lost}"))
    }

    /// Applies one object: a new one, or the one with this uid and no other that may have taken its name.
    async fn apply_child(
        &self,
        children: &Watched<Child>,
        kind: &Kind,
        desired: &Desired,
        uid: Option<&Uid>,
    ) -> Result<Readiness> {
        let target = Target { kind, namespace: desired.namespace.as_deref(), name: &desired.name };
        let mut object = desired.object.clone();
        if let Some(uid) = uid {
            object["metadata"]["uid"] = uid.to_string().into();
        }
        let applied = self.shared.client.apply(target, &object, &self.shared.operator).await?;
        let bytes = serde_json::to_vec(&applied.object)?;
        let header = header_of(&bytes)?;
        self.wrote(children, &header);
        if uid.is_none() && !applied.created {
            // Made by somebody else between the look and the apply: from now on it is shared, which nobody asked for.
            return Err(foreign(kind, &header.key, &header));
        }
        let child = Child::project(kind, &self.shared.operator, &header, &bytes)?;
        if child.lost(desired).is_some() {
            self.memory().settle(&self.owner, kind, &header.key, child.fields);
        }
        if applied.created {
            self.shared.recorder.normal(
                &self.owner.regarding(),
                "Created",
                "Apply",
                &format!("created {kind} {}", header.key),
            );
        }
        Ok(child.readiness)
    }

    async fn is_free(&self, kind: &Kind, key: &ObjectKey) -> Result<Free> {
        let target = Target { kind, namespace: key.namespace(), name: key.name() };
        let Some(found) = self.shared.client.get_metadata(target).await? else { return Ok(Free::Yes) };
        let header = header_of(&serde_json::to_vec(&found)?)?;
        match self.is_owner_of(&header) {
            _ if header.deleting => Ok(Free::Ending),
            true => Ok(Free::Ours(header.uid)),
            false => Err(foreign(kind, key, &header)),
        }
    }

    async fn delete_child(&self, kind: &Kind, entry: &Entry<Child>) -> Result<()> {
        let header = &entry.header;
        let child = Departing::new(kind, &entry.value.node, header);
        if header.deleting || self.memory().is_gone(&self.owner, &child) {
            self.memory().depart(&self.owner, child);
            return Ok(());
        }
        let uid = header.uid.to_string();
        let params = DeleteParams {
            propagation_policy: Some(propagation(kind)),
            preconditions: Some(Preconditions { uid: Some(uid), resource_version: None }),
            ..DeleteParams::default()
        };
        let target = Target { kind, namespace: header.key.namespace(), name: header.key.name() };
        let deletion = self.shared.client.delete(target, &params).await?;
        self.memory().depart(&self.owner, Departing { gone: deletion != Deletion::Begun, ..child });
        if deletion != Deletion::Absent {
            let note = format!("deleted {kind} {}", header.key);
            self.shared.recorder.normal(&self.owner.regarding(), "Deleted", "Delete", &note);
        }
        Ok(())
    }

    /// The objects of this node whose deletion was asked for and that are not gone.
    ///
    /// The cache is not believed alone: an object that loses its label leaves the watch just as a deleted one does.
    async fn still_there(&self, children: &Watched<Child>, kind: &Kind, node: &str) -> Result<Vec<String>> {
        let mut waits = Vec::new();
        let departing = self.memory().departing(&self.owner, kind, node);
        for child in departing {
            let cached = children.store.get(&child.key).is_some_and(|entry| entry.header.uid == child.uid);
            if !child.gone && (cached || self.is_alive(kind, &child.key, &child.uid).await?) {
                waits.push(format!("{kind} {}: it is being deleted", child.key));
            } else if !cached {
                self.memory().departed(&self.owner, &child);
            }
        }
        Ok(waits)
    }

    async fn is_alive(&self, kind: &Kind, key: &ObjectKey, uid: &Uid) -> Result<bool> {
        let target = Target { kind, namespace: key.namespace(), name: key.name() };
        let Some(found) = self.shared.client.get_metadata(target).await? else { return Ok(false) };
        Ok(found["metadata"]["uid"].as_str() == Some(uid.to_string().as_str()))
    }

    /// A child whose owner reference somebody took away is ours by its marks, as long as nobody else claims it.
    fn is_ours(&self, entry: &Entry<Child>) -> bool {
        let marked = !entry.value.applied.is_empty() && entry.header.controller().is_none();
        marked || self.is_owner_of(&entry.header)
    }

    /// The owner before this one had the same name: its children are the garbage collector's.
    fn is_of_former_owner(&self, header: &Header) -> bool {
        let (kind, name, uid) = (&self.owner.kind, self.owner.name(), &self.owner.uid);
        let former = |owner: &Owner| owner.kind() == kind.kind && owner.name() == name && owner.uid != *uid;
        header.controller().is_some_and(former)
    }

    fn is_owner_of(&self, header: &Header) -> bool {
        let uid = &self.owner.uid;
        header.owners.iter().any(|owner| &owner.uid == uid)
    }
}

enum Free {
    Yes,
    Ours(Uid),
    Ending,
}

/// Gating on real absence includes what the object itself is made of.
fn propagation(kind: &Kind) -> PropagationPolicy {
    match kind.group.as_ref() {
        "apps" | "batch" => PropagationPolicy::Foreground,
        _ => PropagationPolicy::Background,
    }
}

fn foreign(kind: &Kind, key: &ObjectKey, header: &Header) -> Error {
    let holder = match header.controller() {
        Some(owner) => format!("{} {}", owner.kind(), owner.name()),
        None => "somebody else".to_owned(),
    };
    let way_out = "delete or rename it, or choose another name";
    Error::blocked("NotOwned", format!("{kind} {key} exists and belongs to {holder}; {way_out}"))
}
