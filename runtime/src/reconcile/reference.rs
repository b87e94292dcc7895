//! Adds and releases the references of primaries, and waits for referenced objects and for referrers.
//!
//! A reference is a finalizer on the referenced object, so that it can't be deleted while another object needs it.

use crate::{
    cache::{Change, Header, ObjectKey},
    client::{Target, selectors::Selectors},
    engine::controller_state::ControllerState,
    error::{Error, Result, yield_because},
    kind::Kind,
    panic::{Closure, catch},
    reconcile::{control_loop::Loop, reconciler::DecodedPrimary, stored_status::StoredStatus},
    reference::{self, ALLOW_FROM, NamedTarget, NamespaceRule, Pointer, TargetState},
};
use serde_json::Value;
use std::collections::BTreeSet;

/// The finalizer of foreground deletion, with which the garbage collector waits for dependents.
const FOREGROUND_FINALIZER: &str = "foregroundDeletion";

/// The reason of an object that is in a ring of references that the operator is about to break.
pub(super) const RING_REASON: &str = "ReferenceRing";

impl Loop {
    /// Acquires the references of a spec to other objects. Registers them, so that a change of a referenced object enqueues the primary;
    /// releases references that the namespace of the referenced object no longer allows; adds the primary's finalizer to each referenced
    /// object, so that it can't be deleted meanwhile; and checks that each object is ready.
    ///
    /// Returns the referenced objects, and the error of the first object that can't be referenced or is not ready. Later objects get the
    /// finalizer nevertheless, except after an unexpected error.
    pub(super) async fn acquire_references(
        &self,
        header: &Header,
        pointers: &[Pointer],
    ) -> (Vec<NamedTarget>, Result<()>) {
        if self.shared.targets.is_empty() {
            return (Vec::new(), Ok(()));
        }
        // The selectors are registered before they are resolved, so that a change in between enqueues the primary.
        self.shared.referrers.lock().set_selectors(&header.key, pointers);
        let (named, mut outcome) = self.resolve(&header.key, pointers);
        let resolved = named.iter().map(|named| (named.kind.clone(), named.key.clone()));
        // Objects whose namespace does not allow the reference are registered as well: a change of them may allow it.
        let mut related: Vec<(Kind, ObjectKey)> = resolved.collect();
        for key in pointers
            .iter()
            .filter(|pointer| matches!(pointer.namespace_rule, NamespaceRule::IfAllowedFrom(_)))
            .filter_map(Pointer::target)
        {
            if !related.contains(&key) {
                related.push(key);
            }
        }
        self.shared.referrers.lock().set(&header.key, related);
        if let Err(error) = self.shared.release_refused((self.source.kind(), &header.key), pointers, &named).await {
            return (named, Err(error));
        }
        let finalizer = self.reference_finalizer(&header.key);
        for named in &named {
            let is_held = self.shared.is_held(&finalizer, named);
            match self.shared.add_finalizer_to_target(&finalizer, named).await {
                // There was nothing to write.
                Ok(()) if is_held => {}
                Ok(()) => self.note_finalizer_write(header, &named.kind, &named.key),
                Err(error @ Error::Unexpected(_)) => {
                    outcome = Err(error);
                    break;
                }
                result => outcome = outcome.and(result),
            }
        }
        let outcome = outcome.and_then(|()| named.iter().try_for_each(|named| self.shared.is_ready(named)));
        (named, outcome)
    }

    /// Resolves the references of a spec to objects: names, and selectors by the current labels.
    pub(super) fn resolve(&self, referrer: &ObjectKey, pointers: &[Pointer]) -> (Vec<NamedTarget>, Result<()>) {
        self.shared.resolve((self.source.kind(), referrer), pointers)
    }

    /// Releases the references of a primary: removes its finalizer from all objects except `named`, which its spec references, and
    /// `by_nodes`, which its nodes reference.
    pub(super) async fn release_unreferenced(
        &self,
        referrer: &ObjectKey,
        named: &[NamedTarget],
        by_nodes: &[(Kind, ObjectKey)],
    ) -> Result<()> {
        let is_referenced = |kind: &Kind, key: &ObjectKey| {
            named.iter().any(|named| named.kind == *kind && named.key == *key)
                || by_nodes.iter().any(|(other, named)| other == kind && named == key)
        };
        self.shared.release_except(&self.reference_finalizer(referrer), is_referenced).await
    }

    /// Releases all references of a primary, because it is torn down or deleted.
    pub(super) async fn release_all_references(&self, key: &ObjectKey) -> Result<()> {
        {
            let mut referrers = self.shared.referrers.lock();
            referrers.set_selectors(key, &[]);
            referrers.set(key, Vec::new());
        }
        self.release_unreferenced(key, &[], &[]).await
    }

    /// Releases the references of primaries that were deleted while no operator ran: removes the finalizers of these primaries from other
    /// objects. A reference is stale only if its primary is neither in the cache nor in a live list. The orphan collector calls this.
    pub(crate) async fn release_stale_references(&self, namespace: Option<&str>) -> Result<()> {
        let kind = self.source.kind();
        let prefix = reference::finalizer_prefix(kind, namespace.filter(|_| kind.namespaced));
        let cached = reference_finalizers(kind, self.source.objects().store().keys());
        let found = self.shared.targets.values().flat_map(|targets| targets.references_with_prefix(&prefix));
        let mut stale: BTreeSet<String> = found.filter(|reference| !cached.contains(reference)).collect();
        if stale.is_empty() {
            return Ok(());
        }
        let client = self.shared.client.metadata_client();
        let key = |object: Value| {
            let text = |field: &str| object["metadata"][field].as_str();
            Some(ObjectKey::new(text("namespace"), text("name").unwrap_or_default()))
        };
        let keys = client.list_each(Target { kind, namespace, name: "" }, Selectors::default(), key).await?;
        let live = reference_finalizers(kind, keys);
        stale.retain(|reference| !live.contains(reference));
        for reference in stale {
            tracing::info!(%kind, reference, "released the references of a deleted object");
            self.shared.release_except(&reference, |_, _| false).await?;
        }
        Ok(())
    }

    /// Returns the primaries that a change of a referenced object enqueues: primaries that reference the object, if the change matters to
    /// them, and primaries whose selector begins or ceases to match the object.
    pub(crate) fn referrers_to_enqueue(&self, kind: &Kind, change: &Change<TargetState>) -> BTreeSet<ObjectKey> {
        let (old, new) = (change.old(), change.new_entry());
        let Some(key) = new.or(old).map(|entry| &entry.header.key) else { return BTreeSet::new() };
        let is_equivalent = match (old, new) {
            (Some(old), Some(new)) => {
                let (before, after) = (&old.header, &new.header);
                let allowed_from = |header: &Header| header.annotations.get(ALLOW_FROM).map(str::to_owned);
                old.value.readiness == new.value.readiness
                    && before.uid == after.uid
                    // A node may read the content of the object that its owner references.
                    && before.generation == after.generation
                    && old.value.content.is_unchanged_by(&new.value.content)
                    && before.deleting == after.deleting
                    && allowed_from(before) == allowed_from(after)
            }
            _ => false,
        };
        let referrers = self.shared.referrers.lock();
        let mut keys: BTreeSet<_> = referrers.of(kind, key).into_iter().collect();
        if is_equivalent {
            // Nothing that a referrer reads has changed. Only a primary whose finalizer another client removed has to add it again.
            keys.retain(|referrer| ControllerState::is_lost(&self.reference_finalizer(referrer), old, new));
        }
        if !is_equivalent || old.map(|old| &old.header.labels) != new.map(|new| &new.header.labels) {
            let [before, after] =
                [old, new].map(|entry| entry.map(|entry| referrers.matching(kind, &entry.header)).unwrap_or_default());
            let is_new = old.map(|old| &old.header.uid) != new.map(|new| &new.header.uid);
            let matching = before.union(&after);
            keys.extend(matching.filter(|key| is_new || before.contains(*key) != after.contains(*key)).cloned());
        }
        keys
    }

    /// Yields while other objects reference an object that is being torn down, or while the garbage collector still deletes dependents that
    /// other clients created. If the object is in a ring of references (objects that are
    /// all being deleted and wait for each other), the first pass reports the ring in the conditions, and the next pass breaks the ring.
    pub(super) async fn wait_for_referrers(&self, header: &Header, stored: &dyn StoredStatus) -> Result<()> {
        let Err(waiting) = check_not_needed(header) else { return Ok(()) };
        let Some(ring) = self.shared.ring_of(self.source.kind(), header) else { return Err(waiting) };
        // A live object still depends on the ring, so the ring stays and is only named in the message.
        if !ring.is_dead() {
            return match waiting {
                Error::Yield { reason, message } => yield_because(reason, format!("{message}, in {ring}")),
                error => Err(error),
            };
        }
        if self.has_reported(header, stored, RING_REASON) {
            self.shared.break_ring(&ring).await?;
        }
        yield_because(RING_REASON, format!("it is in {ring}"))
    }

    /// Returns whether an earlier pass has reported this reason, in a stored condition or, if the operator doesn't own the status, by an
    /// event.
    fn has_reported(&self, header: &Header, stored: &dyn StoredStatus, reason: &str) -> bool {
        if !self.reconciler.owns_status() {
            return self.states.has_reported_reason(header, reason);
        }
        let status = stored.status();
        status["conditions"].as_array().into_iter().flatten().any(|condition| condition["reason"] == reason)
    }

    /// Returns the references of a primary's spec; none if the controller's kinds have no references.
    pub(super) fn references_of(&self, primary: &dyn DecodedPrimary) -> Result<Vec<Pointer>> {
        if self.shared.targets.is_empty() {
            return Ok(Vec::new());
        }
        catch(Closure::Object, || primary.references()).map_err(Error::unexpected)
    }

    /// Returns the finalizer with which a primary references other objects.
    fn reference_finalizer(&self, referrer: &ObjectKey) -> String {
        reference::finalizer_name(self.source.kind(), referrer)
    }
}

/// Checks that no other object needs an object that is being torn down.
///
/// # Errors
/// A yield that says which objects need it.
fn check_not_needed(header: &Header) -> Result<()> {
    check_unreferenced(header)?;
    check_no_foreign_dependents(header)
}

/// Checks that an object has no finalizer of a reference, which each object that references it has added.
///
/// # Errors
/// A yield that names one referrer and the number of others.
fn check_unreferenced(header: &Header) -> Result<()> {
    let reference_finalizers: Vec<_> = header.finalizers.iter().filter(|name| reference::is_reference(name)).collect();
    let [first, others @ ..] = &reference_finalizers[..] else { return Ok(()) };
    let more = if others.is_empty() { String::new() } else { format!(" and {} more", others.len()) };
    yield_because("Referenced", format!("it is referenced by {}{more}", reference::describe(first)))
}

/// Checks that no dependents of other clients block the foreground deletion of an object.
///
/// An object in foreground deletion has the finalizer `foregroundDeletion` until its dependents with `blockOwnerDeletion` are gone. The
/// operator's children don't have that field, so these dependents belong to other clients.
///
/// # Errors
/// A yield while the object has the finalizer.
fn check_no_foreign_dependents(header: &Header) -> Result<()> {
    if header.finalizers.contains(FOREGROUND_FINALIZER) {
        return yield_because("DependentsRemain", "dependents of other clients are being deleted first");
    }
    Ok(())
}

/// Returns the reference finalizers of these primaries of a kind.
fn reference_finalizers(kind: &Kind, referrers: impl IntoIterator<Item = ObjectKey>) -> BTreeSet<String> {
    referrers.into_iter().map(|key| reference::finalizer_name(kind, &key)).collect()
}
