//! `OwnerStates`: the state of each owner and its children that is kept between passes beside the cache, such as pending deletions.

use crate::{
    cache::{Header, ObjectKey, PerObject, Revision, Uid},
    client::Target,
    engine::{
        external_state::ExternalStates,
        hand_written::{NodeWrites, WriteEffect},
        identity::Identity,
        readiness_history::ReadinessHistory,
        repair::{Fight, RepairReason, Repairs},
    },
    kind::Kind,
};
use serde_json::Value;
use std::{
    collections::BTreeMap,
    hash::{DefaultHasher, Hash, Hasher},
    sync::Arc,
};
use tokio::time::Instant;

/// The in-memory state of all owners of a controller. The state of an owner ends with it; a restart loses all of it, which is
/// safe.
#[derive(Debug, Default)]
pub(crate) struct OwnerStates(PerObject<OwnerState>);

#[derive(Debug, Default, PartialEq)]
struct OwnerState {
    pending_deletions: Vec<PendingDeletion>,
    /// The children that have left the watch of their kind, until it is known whether they still exist.
    departed_children: Vec<StrippedChild>,
    /// Hash of the fields that the operator owned after its last write, for each child of which it did not own all written fields.
    accepted_fields: BTreeMap<Kind, PerObject<Option<u64>>>,
    /// Since when the children of nodes with a timeout have not been ready.
    readiness: BTreeMap<Kind, PerObject<Option<ReadinessHistory>>>,
    /// The last build of each resource node.
    builds: Vec<NodeBuild>,
    /// Hashes of kind and key of the objects that the operator has written for the owner.
    written_objects: Vec<u64>,
    node_writes: NodeWrites,
    repairs: Repairs,
    external: ExternalStates,
}

/// The objects that a resource node built, and the hash of the inputs it built them from.
#[derive(Debug, PartialEq)]
struct NodeBuild {
    /// Hash of the kind and the path of the node.
    node: u64,
    inputs: u64,
    objects: Arc<[BuiltObject]>,
}

/// An object that a resource node built.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BuiltObject {
    pub(crate) key: ObjectKey,
    /// Digest of the applied state.
    pub(crate) digest: Box<str>,
}

/// A child that the operator has deleted, until it is known to be gone.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PendingDeletion {
    pub(crate) kind: Kind,
    pub(crate) node: Box<str>,
    pub(crate) key: ObjectKey,
    pub(crate) uid: Uid,
    /// Whether the API server has confirmed that the object is gone; the cache may still have it.
    pub(crate) confirmed: bool,
}

impl PendingDeletion {
    pub(crate) fn new(kind: &Kind, node: &str, header: &Header) -> Self {
        let (key, uid) = (header.key.clone(), header.uid.clone());
        Self { kind: kind.clone(), node: node.into(), key, uid, confirmed: false }
    }

    fn is_same_object(&self, other: &Self) -> bool {
        self.uid == other.uid && self.key == other.key && self.kind == other.kind
    }
}

/// A child without label or owner reference.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct StrippedChild {
    pub(crate) kind: Kind,
    pub(crate) key: ObjectKey,
    pub(crate) uid: Uid,
}

impl StrippedChild {
    pub(crate) fn new(kind: &Kind, header: &Header) -> Self {
        Self { kind: kind.clone(), key: header.key.clone(), uid: header.uid.clone() }
    }

    pub(crate) fn target(&self) -> Target<'_> {
        Target { kind: &self.kind, namespace: self.key.namespace(), name: self.key.name() }
    }
}

impl OwnerStates {
    /// Records that the operator has deleted a child, until the child is known to be gone. A second record of the same object only adds
    /// that the API server has confirmed the deletion.
    pub(crate) fn add_pending_deletion(&mut self, owner: &Identity, deletion: PendingDeletion) {
        self.update(owner, |state| {
            match state.pending_deletions.iter_mut().find(|pending| pending.is_same_object(&deletion)) {
                Some(pending) => pending.confirmed |= deletion.confirmed,
                None => state.pending_deletions.push(deletion),
            }
        });
    }

    /// Returns whether the API server has confirmed that a deleted child is gone.
    pub(crate) fn is_deletion_confirmed(&self, owner: &Identity, deletion: &PendingDeletion) -> bool {
        let mut pending = self.all_pending_deletions(owner).iter();
        pending.any(|pending| pending.confirmed && pending.is_same_object(deletion))
    }

    /// Returns the deleted children of one node and kind that may still exist.
    pub(crate) fn pending_deletions(&self, owner: &Identity, kind: &Kind, node: &str) -> Vec<PendingDeletion> {
        let pending = self.all_pending_deletions(owner).iter();
        pending.filter(|deletion| deletion.kind == *kind && *deletion.node == *node).cloned().collect()
    }

    /// Returns the paths of the nodes with deleted children of a kind that may still exist.
    pub(crate) fn nodes_with_pending_deletions(&self, owner: &Identity, kind: &Kind) -> Vec<String> {
        let pending = self.all_pending_deletions(owner).iter();
        pending.filter(|deletion| deletion.kind == *kind).map(|deletion| deletion.node.to_string()).collect()
    }

    /// Drops the pending deletion of a child that is gone, and the record that the child has left the watch.
    pub(crate) fn remove_pending_deletion(&mut self, owner: &Identity, deletion: &PendingDeletion) {
        self.update(owner, |state| {
            state.pending_deletions.retain(|pending| !pending.is_same_object(deletion));
            state.departed_children.retain(|departed| departed.uid != deletion.uid);
        });
    }

    /// Records that a child has left the watch of its kind (it was deleted or lost its label), unless the operator has deleted it.
    pub(crate) fn add_departed_child(&mut self, owner: &ObjectKey, uid: &Uid, child: StrippedChild) {
        self.0.update(owner, uid, |state| {
            let is_deleted = state.pending_deletions.iter().any(|pending| pending.uid == child.uid);
            if !is_deleted && !state.departed_children.contains(&child) {
                state.departed_children.push(child);
            }
        });
    }

    /// Returns the children that have left the watch of their kind.
    pub(crate) fn departed_children(&self, owner: &Identity) -> Vec<StrippedChild> {
        self.state(owner).map(|state| state.departed_children.clone()).unwrap_or_default()
    }

    pub(crate) fn remove_departed_child(&mut self, owner: &Identity, child: &StrippedChild) {
        self.update(owner, |state| state.departed_children.retain(|departed| departed != child));
    }

    fn all_pending_deletions(&self, owner: &Identity) -> &[PendingDeletion] {
        self.state(owner).map(|state| state.pending_deletions.as_slice()).unwrap_or_default()
    }

    /// Records the hash of the fields that the operator owns after its own write, if it does not own all written fields: some API servers
    /// change the owners. Later passes accept this ownership as unchanged; otherwise the operator would write the object in every pass.
    pub(crate) fn record_accepted_fields(&mut self, owner: &Identity, kind: &Kind, child: &Header, fields: u64) {
        self.update(owner, |state| {
            let accepted = state.accepted_fields.entry(kind.clone()).or_default();
            accepted.update(&child.key, &child.uid, |accepted| *accepted = Some(fields));
        });
    }

    /// Returns whether `fields`, the hash of the fields of a child that the operator owns, equals the hash after its own last write. Only
    /// known for a write after which the operator did not own all written fields.
    pub(crate) fn are_fields_of_last_apply(&self, owner: &Identity, kind: &Kind, child: &Header, fields: u64) -> bool {
        let accepted = self.state(owner).and_then(|state| state.accepted_fields.get(kind));
        accepted.and_then(|accepted| accepted.get(&child.key, &child.uid)) == Some(&Some(fields))
    }

    /// Calls `change` with the stored history of a child's readiness (since when it has not been ready), and returns its result.
    pub(crate) fn update_readiness<R>(
        &mut self,
        owner: &Identity,
        kind: &Kind,
        child: &Header,
        change: impl FnOnce(&mut Option<ReadinessHistory>) -> R,
    ) -> R {
        self.update(owner, |state| {
            state.readiness.entry(kind.clone()).or_default().update(&child.key, &child.uid, change)
        })
    }

    /// Records that the operator writes an object for the owner. Returns whether it has written that object before, so that this
    /// write repairs a change by another client.
    pub(crate) fn record_write(&mut self, owner: &Identity, kind: &Kind, key: &ObjectKey) -> bool {
        let hash = hash_of(kind, key);
        self.update(owner, |state| {
            let is_repeated = state.written_objects.contains(&hash);
            if !is_repeated {
                // Most owners have few children, so the list has no spare room.
                state.written_objects.reserve_exact(1);
                state.written_objects.push(hash);
            }
            is_repeated
        })
    }

    /// Records that the operator itself deletes an object of the owner, so that its next creation does not count as a repair.
    pub(crate) fn forget_write(&mut self, owner: &Identity, kind: &Kind, key: &ObjectKey) {
        let hash = hash_of(kind, key);
        self.update(owner, |state| state.written_objects.retain(|written| *written != hash));
    }

    /// Records that a hand-written node starts to write an object. Returns the revision after the previous write; `None` if it is
    /// unknown.
    pub(crate) fn begin_node_write(&mut self, owner: &Identity, kind: &Kind, key: &ObjectKey) -> Option<Revision> {
        self.update(owner, |state| state.node_writes.begin(hash_of(kind, key)))
    }

    /// Records that the write of a hand-written node failed, and restores `previous`, the revision after the previous write.
    pub(crate) fn fail_node_write(
        &mut self,
        owner: &Identity,
        kind: &Kind,
        key: &ObjectKey,
        previous: Option<Revision>,
    ) {
        self.update(owner, |state| state.node_writes.fail(hash_of(kind, key), previous));
    }

    /// Records that a hand-written node has written `sent` and the object is now at `revision`, and returns the effect of the write. See
    /// [`NodeWrites::finish`].
    pub(crate) fn finish_node_write(
        &mut self,
        owner: &Identity,
        (kind, key): (&Kind, &ObjectKey),
        sent: &Value,
        earlier: [Option<Revision>; 2],
        revision: Revision,
    ) -> WriteEffect {
        self.update(owner, |state| state.node_writes.finish(hash_of(kind, key), sent, earlier, revision))
    }

    /// Returns whether a hand-written node of the owner caused the state of an object in the watch, where `None` means that the object is
    /// deleted.
    pub(crate) fn is_node_write(
        &self,
        owner: &ObjectKey,
        kind: &Kind,
        (key, watched): (&ObjectKey, Option<&Header>),
    ) -> bool {
        let state = self.0.uid_of(owner).and_then(|uid| self.0.get(owner, uid));
        state.is_some_and(|state| state.node_writes.is_own_write(hash_of(kind, key), watched))
    }

    /// Counts a repair: a write of a child that undoes a change by another client, or that nothing but earlier own writes caused.
    pub(crate) fn record_repair(&mut self, owner: &Identity, kind: &Kind, key: &ObjectKey, reason: RepairReason) {
        self.update(owner, |state| state.repairs.add(kind, key, reason, Instant::now()));
    }

    /// Returns the current fight over children of the owner: objects that the operator has to write again and again. `None` without a
    /// fight.
    pub(crate) fn fight(&mut self, owner: &ObjectKey, uid: &Uid) -> Option<Fight> {
        let has_repairs = self.has_repairs(owner, uid);
        has_repairs.then(|| self.0.update(owner, uid, |state| state.repairs.fight(Instant::now()))).flatten()
    }

    /// Returns whether repairs of the owner's children are counted at present.
    pub(crate) fn has_repairs(&self, owner: &ObjectKey, uid: &Uid) -> bool {
        self.0.get(owner, uid).is_some_and(|state| !state.repairs.is_empty())
    }

    /// Resets the counts of repairs of the owner's children, since a user has changed the wanted state.
    pub(crate) fn reset_repairs(&mut self, owner: &Identity) {
        if self.has_repairs(&owner.key, &owner.uid) {
            self.update(owner, |state| state.repairs.clear());
        }
    }

    /// Records the objects that a resource node built and the hash of its inputs. Without inputs, the build can't be reused.
    pub(crate) fn record_build(
        &mut self,
        owner: &Identity,
        kind: &Kind,
        node: &Arc<str>,
        inputs: Option<u64>,
        objects: Vec<BuiltObject>,
    ) {
        let node = hash_of(kind, node);
        self.update(owner, |state| {
            state.builds.retain(|build| build.node != node);
            if let Some(inputs) = inputs {
                state.builds.reserve_exact(1);
                state.builds.push(NodeBuild { node, inputs, objects: objects.into() });
            }
        });
    }

    /// Returns the objects of a node's last build; `None` if no build is recorded, or if its inputs had another hash.
    pub(crate) fn last_build(
        &self,
        owner: &Identity,
        kind: &Kind,
        node: &Arc<str>,
        inputs: u64,
    ) -> Option<Arc<[BuiltObject]>> {
        let build = self.build(owner, hash_of(kind, node))?;
        (build.inputs == inputs).then(|| build.objects.clone())
    }

    /// Returns whether the last build of a node contained the object with this key and digest.
    pub(crate) fn has_built(
        &self,
        owner: &Identity,
        kind: &Kind,
        node: &Arc<str>,
        (key, digest): (&ObjectKey, &str),
    ) -> bool {
        let build = self.build(owner, hash_of(kind, node));
        build.is_some_and(|build| build.objects.iter().any(|object| object.key == *key && *object.digest == *digest))
    }

    /// Returns the states of the external nodes of the owner.
    pub(crate) fn external(&self, owner: &Identity) -> Option<&ExternalStates> {
        self.state(owner).map(|state| &state.external)
    }

    /// Changes the states of the external nodes of the owner.
    pub(crate) fn update_external(&mut self, owner: &Identity, change: impl FnOnce(&mut ExternalStates)) {
        self.update(owner, |state| change(&mut state.external));
    }

    /// Returns whether there is a state of this owner.
    pub(crate) fn has_state(&self, owner: &ObjectKey, uid: &Uid) -> bool {
        self.0.get(owner, uid).is_some()
    }

    /// Drops the state of an owner that is gone.
    pub(crate) fn forget(&mut self, owner: &ObjectKey) {
        self.0.forget(owner);
    }

    /// Returns the last build of the node with this hash.
    fn build(&self, owner: &Identity, node: u64) -> Option<&NodeBuild> {
        self.state(owner)?.builds.iter().find(|build| build.node == node)
    }

    fn state(&self, owner: &Identity) -> Option<&OwnerState> {
        self.0.get(&owner.key, &owner.uid)
    }

    fn update<R>(&mut self, owner: &Identity, change: impl FnOnce(&mut OwnerState) -> R) -> R {
        self.0.update(&owner.key, &owner.uid, change)
    }
}

/// Hashes a kind together with the key of an object or the path of a node.
fn hash_of(kind: &Kind, key: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    (kind, key).hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kind::kind_of;
    use k8s_openapi::api::core::v1::ConfigMap;

    #[test]
    fn a_build_is_recognized_by_the_digests_of_its_objects() {
        let (kind, node) = (kind_of::<ConfigMap>(), Arc::<str>::from("web/configs"));
        let (owner_key, key) = (ObjectKey::namespaced("shop", "web"), ObjectKey::namespaced("shop", "a"));
        let owner = Identity {
            kind: kind.clone(),
            key: owner_key,
            uid: Uid::from("u"),
            naming: crate::engine::identity::OwnerNaming::Reference,
        };
        let mut states = OwnerStates::default();
        assert!(!states.has_built(&owner, &kind, &node, (&key, "1")));
        let built = |digest: &str| vec![BuiltObject { key: key.clone(), digest: digest.into() }];
        states.record_build(&owner, &kind, &node, Some(0), built("1"));
        states.record_build(&owner, &kind, &node, Some(0), built("2"));
        assert!(states.has_built(&owner, &kind, &node, (&key, "2")));
        assert!(!states.has_built(&owner, &kind, &node, (&key, "1")), "only the last build counts");
    }
}
