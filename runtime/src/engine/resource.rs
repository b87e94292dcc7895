//! Applies, restores and deletes the objects of a resource node, so that the cluster has exactly the wanted ones.
//!
//! # Flow
//! 1. Each wanted object is compared with its state in the cache: the digest of the last apply, and the fields that the operator
//!    still owns. If nothing differs, there is no call.
//! 2. Objects that differ are written, see [`child_write`](crate::engine::child_write). The first write of a name requires that no
//!    object of that name exists; on a conflict, a live read shows the owner of that object.
//! 3. Objects of the node that are no longer wanted are deleted, unless another node of the tree claims them: see
//!    [`claim`](crate::engine::claim). A teardown deletes some of them with their Namespace: see
//!    [`deletion`](crate::engine::deletion).
//! 4. The node succeeds when all wanted objects are ready and all unwanted ones are confirmed to be gone.

use crate::{
    cache::{Entry, Header, ObjectKey},
    client::{CallError, Target},
    engine::{
        child::{Child, LostField, child_header},
        child_write::ApplyPrecondition,
        desired::Desired,
        owner_state::BuiltObject,
        pass::PassCore,
        pending::PendingObjects,
        repair::RepairReason,
    },
    error::{Error, Result},
    informer::watch::{WatchState, WatchedKind},
    kind::Kind,
    readiness::Readiness,
    shape::ResourceOptions,
};
use serde_json::{Value, value::RawValue};
use std::sync::Arc;

impl PassCore<'_> {
    /// Applies the wanted objects of a resource node and deletes all other objects of the node. `inputs` is the hash of the inputs from
    /// which the wanted objects were built.
    ///
    /// # Errors
    /// A yield (the error of a pass that is not done yet) while an object is not ready or still being deleted.
    pub(crate) async fn converge(
        &self,
        node: &Arc<str>,
        kind: &Kind,
        options: ResourceOptions,
        inputs: Option<u64>,
        wanted: Vec<Value>,
    ) -> Result<()> {
        if let Some(tree_harness) = &self.shared.tree_harness {
            return tree_harness.converge(node, &wanted);
        }
        // The node claims the objects first, so that no other node deletes them. The pass of a plan only collects the claims.
        let wanted = self.claim_all(node, wanted.into_iter().map(|object| (kind.clone(), object)).collect())?;
        if self.is_plan {
            return Ok(());
        }
        let children = self.shared.children(kind)?;
        // A kind that is no longer served has no objects.
        if (options.if_api || options.retired) && children.health.state() == WatchState::Missing {
            return Ok(());
        }
        children.check_readable()?;
        let mut pending = PendingObjects::new(node);
        let mut built = Vec::with_capacity(wanted.len());
        for desired in wanted {
            let key = desired.key();
            let readiness = match self.ensure_object(children, options, &key, &desired).await {
                // The API server stopped serving the kind during the pass: with `if_api`, the node then has no objects.
                Err(error) if options.if_api && is_api_going(&error) => {
                    self.side_effects().requeue.soon = true;
                    return Ok(());
                }
                Ok(readiness) if options.pods => self.diagnose_pods(kind, &desired, readiness).await?,
                outcome => outcome?,
            };
            pending.add(kind, &key, &readiness);
            let object = BuiltObject { key, digest: desired.digest.into() };
            self.check_timeout(node, options, children, &object, &readiness);
            built.push(object);
        }
        let mut unwanted = self.children_of_node(children, node);
        unwanted.retain(|entry| !built.iter().any(|built| built.key == entry.header.key));
        self.delete_unwanted(kind, node, unwanted, options.delete).await?;
        self.check_deletions(children, kind, node, &mut pending).await?;
        self.owner_states().record_build(&self.owner, kind, node, inputs, built);
        pending.into_result()
    }

    /// Brings one object to its desired state, without a call if the cache shows this state: creates the object, adopts it, restores the
    /// operator's marks (label, annotations and owner reference), or applies the desired state if it differs. A write that undoes a change
    /// by another client counts as a repair. Returns the readiness of the object.
    ///
    /// # Errors
    /// `NotOwned` if an object of this name exists that the node may not adopt.
    pub(crate) async fn ensure_object(
        &self,
        children: &WatchedKind<Child>,
        options: ResourceOptions,
        key: &ObjectKey,
        desired: &Desired,
    ) -> Result<Readiness> {
        let kind = &children.kind;
        match children.store.get(key) {
            // In another cluster, nothing deletes the objects that a former owner has left, so they are taken over.
            Some(entry) if self.owner.is_remote() && self.is_of_former_owner(&entry.header) => {
                self.take_over(children, options, &entry.header.uid, desired).await
            }
            Some(entry) if self.is_of_former_owner(&entry.header) => {
                Ok(Readiness::HeldUp("it belongs to a deleted owner and is being garbage collected".into()))
            }
            Some(entry) if entry.header.deleting => Ok(Readiness::HeldUp("the old object is being deleted".into())),
            Some(entry) if !self.is_own_child(&entry) => self.adopt(children, options, &entry.header, desired).await,
            Some(entry) if entry.applied_digest().is_empty() => {
                let readiness = self.take_over(children, options, &entry.header.uid, desired).await?;
                self.record_marks_repair(kind, key);
                Ok(readiness)
            }
            // With `once`, any content after the creation is accepted. Only the marks must name the node that wants the object now.
            Some(entry) if options.once && self.is_owner_of(&entry.header) => {
                if entry.node() == &*desired.node {
                    return Ok(entry.value.readiness.clone());
                }
                self.mark_child(children, desired, &entry.header.uid).await
            }
            Some(entry) if options.once => {
                let readiness = self.mark_child(children, desired, &entry.header.uid).await?;
                self.record_marks_repair(kind, key);
                Ok(readiness)
            }
            Some(entry) => match self.reason_to_apply(kind, &entry, desired) {
                None => Ok(entry.value.readiness.clone()),
                Some(ApplyReason { description, repair }) => {
                    tracing::debug!(kind = %kind, object = %key, why = %description, "applying");
                    let readiness = self.update_child(children, desired, &entry).await?;
                    self.record_repair(kind, key, repair);
                    Ok(readiness)
                }
            },
            None => match self.apply_child(children, desired, ApplyPrecondition::Absent).await {
                // An object of that name exists, and the cache does not have it.
                Err(Error::Conflict(_)) => self.ensure_uncached_object(children, options, key, desired).await,
                created => {
                    let readiness = created?;
                    self.record_creation(kind, key);
                    Ok(readiness)
                }
            },
        }
    }

    /// Brings an object to its desired state like [`PassCore::ensure_object`], after its creation was a conflict and the cache does not
    /// have it: reads the object live, and creates, updates or adopts it by what the read shows.
    async fn ensure_uncached_object(
        &self,
        children: &WatchedKind<Child>,
        options: ResourceOptions,
        key: &ObjectKey,
        desired: &Desired,
    ) -> Result<Readiness> {
        let kind = &children.kind;
        match self.look_up_name(kind, key).await? {
            NameLookup::Free => {
                let readiness = self.apply_child(children, desired, ApplyPrecondition::ConfirmedAbsent).await?;
                self.record_creation(kind, key);
                Ok(readiness)
            }
            NameLookup::Own(entry) if entry.applied_digest().is_empty() => {
                let readiness = self.take_over(children, options, &entry.header.uid, desired).await?;
                self.record_marks_repair(kind, key);
                Ok(readiness)
            }
            // An earlier pass created it, and the cache does not have it yet.
            NameLookup::Own(entry) if options.once && self.has_operator_label(&entry.header) => {
                Ok(Readiness::NotReady("it has just been created".into()))
            }
            NameLookup::Own(entry) if options.once => {
                let readiness = self.mark_child(children, desired, &entry.header.uid).await?;
                self.record_marks_repair(kind, key);
                Ok(readiness)
            }
            NameLookup::Own(entry) => {
                let readiness = self.update_child(children, desired, &entry).await?;
                self.record_marks_repair(kind, key);
                Ok(readiness)
            }
            NameLookup::Terminating => Ok(Readiness::HeldUp("an object of the same name is being deleted".into())),
            NameLookup::Foreign(header) => self.adopt(children, options, &header, desired).await,
        }
    }

    /// Returns why a cached object must be applied again: its desired state changed, or another client changed a field. `None` if the
    /// object has its desired state.
    ///
    /// A change by another client always counts as a repair. A change of the desired state counts as a repair only if no change by a user
    /// explains it: a cycle of own writes led to the pass, or only changes of children triggered it.
    fn reason_to_apply(&self, kind: &Kind, entry: &Arc<Entry<Child>>, desired: &Desired) -> Option<ApplyReason> {
        if entry.applied_digest() != desired.digest {
            let by_children = || self.is_triggered_by_children().then(|| self.blame_for_change(kind, desired));
            let repair = RepairReason::of_chain(&self.trigger.chain).or_else(by_children);
            return Some(ApplyReason { description: "the desired state or its digest changed".to_owned(), repair });
        }
        let LostField { path, manager } = entry.value.first_lost_field(desired)?;
        // Some servers change the field owners of an apply themselves; the result of our own apply is no drift.
        if self.owner_states().are_fields_of_last_apply(&self.owner, kind, &entry.header, entry.value.fields) {
            return None;
        }
        let description = format!("another client changed {path}");
        Some(ApplyReason { description, repair: Some(RepairReason::FieldChanged { path, manager }) })
    }

    /// Returns whether the last build of the node contained the same object.
    fn is_last_build(&self, kind: &Kind, desired: &Desired) -> bool {
        self.owner_states().has_built(&self.owner, kind, &desired.node, (&desired.key(), desired.digest.as_str()))
    }

    /// Returns why the desired state differs from the applied state although only children changed, so that the build function should have
    /// returned the same object. If it did, another client changed the digest in the annotation; else it returned another object than
    /// before.
    fn blame_for_change(&self, kind: &Kind, desired: &Desired) -> RepairReason {
        if self.is_last_build(kind, desired) { RepairReason::MarksChanged } else { RepairReason::Rebuilt }
    }

    /// Counts a repair of a child, if there was one.
    pub(crate) fn record_repair(&self, kind: &Kind, key: &ObjectKey, reason: Option<RepairReason>) {
        if let Some(reason) = reason {
            self.owner_states().record_repair(&self.owner, kind, key, reason);
        }
    }

    /// Counts the creation of a child as a repair of its deletion by another client, unless the operator creates it for the first time. In
    /// a cycle of own writes, each creation counts.
    fn record_creation(&self, kind: &Kind, key: &ObjectKey) {
        let is_repeated = self.owner_states().record_write(&self.owner, kind, key);
        let of_chain = RepairReason::of_chain(&self.trigger.chain);
        self.record_repair(kind, key, of_chain.or(is_repeated.then_some(RepairReason::Deleted)));
    }

    /// Counts the restoration of a child's marks as a repair.
    fn record_marks_repair(&self, kind: &Kind, key: &ObjectKey) {
        self.record_repair(kind, key, Some(RepairReason::MarksChanged));
    }

    /// Reads the metadata of the object with this key from the API server, and returns whether it exists and belongs to the owner.
    async fn look_up_name(&self, kind: &Kind, key: &ObjectKey) -> Result<NameLookup> {
        let target = Target { kind, namespace: key.namespace(), name: key.name() };
        let found = self.shared.client.get_metadata::<Box<RawValue>>(target).await?;
        let Some(found) = found else { return Ok(NameLookup::Free) };
        let json = found.get().as_bytes();
        let header = child_header(json)?;
        match self.has_been_owner_of(&header) {
            _ if header.deleting => Ok(NameLookup::Terminating),
            true => {
                let value = Child::project(kind, &self.shared.operator, &header, json, false)?;
                Ok(NameLookup::Own(Entry::new(header, value)))
            }
            false => Ok(NameLookup::Foreign(header)),
        }
    }
}

/// Returns whether a call failed because the API server no longer serves the kind.
fn is_api_going(error: &Error) -> bool {
    match error {
        Error::Unexpected(source) => source.downcast_ref::<CallError>().is_some_and(CallError::is_api_going),
        _ => false,
    }
}

/// The reason why an object is applied again.
struct ApplyReason {
    /// The text in the log.
    description: String,
    /// The repair that the apply counts as, if it is one.
    repair: Option<RepairReason>,
}

/// The result of a live read of an object by its name.
enum NameLookup {
    /// No object has the name.
    Free,
    /// The object belongs to the owner of the pass.
    Own(Entry<Child>),
    /// The object belongs to another owner, or to none.
    Foreign(Header),
    /// The object is being deleted, whoever owns it.
    Terminating,
}
