//! Resolves the references of an object, adds finalizers to the referenced objects, waits until these objects are ready, and later removes
//! the finalizers.

use super::{
    ALLOW_FROM, NamedTarget, NamespaceRule, Pointer, PointerTarget, TargetState, Targets, allows, finalizer_name,
};
use crate::{
    cache::{Entry, Header, ObjectKey},
    client::Target,
    engine::controller_state::ControllerState,
    error::{Error, Result, yield_because},
    kind::Kind,
    readiness::Readiness,
};
use serde_json::Value;
use std::{collections::BTreeSet, sync::Arc};

impl ControllerState {
    /// Resolves the references of an object (`pointers`) to targets: names to one object each, and selectors to all objects that match
    /// now. Returns the targets without duplicates, and the error of the first reference that can't be resolved.
    pub(crate) fn resolve(
        &self,
        referrer: (&Kind, &ObjectKey),
        pointers: &[Pointer],
    ) -> (Vec<NamedTarget>, Result<()>) {
        let (mut named, mut outcome) = (Vec::new(), Ok(()));
        for pointer in pointers {
            let target =
                |key, selected| NamedTarget { field: pointer.field, kind: pointer.kind.clone(), key, selected };
            match &pointer.to {
                // An object that references itself would wait for its own readiness, and its finalizer would block its deletion.
                PointerTarget::One(key) if pointer.kind == *referrer.0 && key == referrer.1 => {
                    let message = format!("{}: it references itself", pointer.field);
                    let error = Error::user_action("ReferenceToItself", message);
                    outcome = outcome.and(Err(error));
                }
                PointerTarget::One(key) => match self.is_allowed(pointer, key) {
                    Ok(()) => named.push(target(key.clone(), false)),
                    Err(error) => outcome = outcome.and(Err(error)),
                },
                PointerTarget::All(_) => match self.matching_keys(referrer, pointer) {
                    Ok(keys) => named.extend(keys.into_iter().map(|key| target(key, true))),
                    Err(error) => outcome = outcome.and(Err(error)),
                },
            }
        }
        (NamedTarget::deduplicate(named), outcome)
    }

    /// Checks whether the namespace rule of a reference allows its target (`key`).
    ///
    /// # Errors
    /// A user action if the target is in another namespace and the field has no `grant`; a yield if the annotation of the target doesn't
    /// allow the namespace of the referrer, or the target doesn't exist.
    fn is_allowed(&self, pointer: &Pointer, key: &ObjectKey) -> Result<()> {
        let Pointer { field, kind, namespace_rule, .. } = pointer;
        match namespace_rule {
            NamespaceRule::Allowed => Ok(()),
            NamespaceRule::Refused => Err(Error::user_action(
                "ReferenceAcrossNamespaces",
                format!("{field}: {kind} {key} is in another namespace; reference an object of the same namespace"),
            )),
            NamespaceRule::IfAllowedFrom(namespace) => self.check_allowed_from(namespace, (field, kind, key)),
        }
    }

    /// Checks whether an object of another namespace allows references from `namespace` by its annotation [`ALLOW_FROM`]. `field` names
    /// the referring field in the message; it is empty for the reference of a node.
    ///
    /// # Errors
    /// A yield (the pass is tried again later) if the object doesn't allow them, or doesn't exist.
    pub(crate) fn check_allowed_from(
        &self,
        namespace: &str,
        (field, kind, key): (&str, &Kind, &ObjectKey),
    ) -> Result<()> {
        let targets = self.targets(kind)?;
        targets.watched.check_readable()?;
        if targets.get(key).is_some_and(|entry| allows(&entry.header, namespace)) {
            return Ok(());
        }
        let field = if field.is_empty() { String::new() } else { format!("{field}: ") };
        let message = format!(
            "{field}{kind} {key} can't be referenced from namespace {namespace}; its owner can allow it with the annotation \
             {ALLOW_FROM}"
        );
        yield_because("ReferenceNotAllowed", message)
    }

    /// Removes the finalizer of the referrer from targets that no longer allow the reference: objects that `pointers` contain by name, but
    /// not `named`, which contains all targets that may be referenced.
    pub(crate) async fn release_refused(
        &self,
        referrer: (&Kind, &ObjectKey),
        pointers: &[Pointer],
        named: &[NamedTarget],
    ) -> Result<()> {
        for pointer in pointers.iter().filter(|pointer| pointer.namespace_rule != NamespaceRule::Allowed) {
            let PointerTarget::One(key) = &pointer.to else { continue };
            let is_named = named.iter().any(|named| named.kind == pointer.kind && named.key == *key);
            // While the watch of the target has not synced, its annotation is unknown, and the target keeps the finalizer.
            let targets = self.targets(&pointer.kind)?;
            if !is_named && targets.watched.check_readable().is_ok() {
                self.release(targets, key, &finalizer_name(referrer.0, referrer.1)).await?;
            }
        }
        Ok(())
    }

    /// Returns the keys of the cached objects that the selector of a reference matches, without the referrer itself. An object that is
    /// being deleted is included only if it already has the finalizer of the referrer, since a new finalizer would delay its deletion.
    ///
    /// # Errors
    /// A user action if the selector is invalid; fails if the cache has not synced.
    fn matching_keys(&self, (kind, key): (&Kind, &ObjectKey), pointer: &Pointer) -> Result<BTreeSet<ObjectKey>> {
        let PointerTarget::All(selector) = &pointer.to else { return Ok(BTreeSet::new()) };
        if let Some(reason) = selector.invalid_reason() {
            return Err(Error::user_action("InvalidSelector", format!("{}: {reason}", pointer.field)));
        }
        let (targets, finalizer) = (self.targets(&pointer.kind)?, finalizer_name(kind, key));
        // A cache that has not synced lacks objects, and the caller would release the references to them.
        targets.watched.check_readable()?;
        let is_match = |header: &Header| {
            let is_itself = pointer.kind == *kind && header.key == *key;
            selector.matches(header) && !is_itself && (!header.deleting || header.finalizers.contains(&finalizer))
        };
        let matches = targets.watched.store.entries_where(|entry| is_match(&entry.header));
        Ok(matches.into_iter().map(|entry| entry.header.key.clone()).collect())
    }

    /// Adds `finalizer` to the target of a reference, so that the target isn't deleted while it is referenced. Skips a target
    /// that a selector matched and that is missing or being deleted.
    ///
    /// # Errors
    /// Yields if a target named by the reference is missing or being deleted, or if its cache can't be read. Returns a conflict
    /// if the target has changed since the cache saw it.
    pub(crate) async fn add_finalizer_to_target(&self, finalizer: &str, named: &NamedTarget) -> Result<()> {
        let (targets, NamedTarget { kind, key, .. }) = (self.targets(&named.kind)?, named);
        targets.watched.check_readable()?;
        // If there is nothing to write, the lock of the writers is not needed.
        let _lock = if self.is_held(finalizer, named) { None } else { Some(targets.lock_writes(key).await) };
        let Some(entry) = targets.get(key) else { return missing_target(named) };
        let object = &entry.header;
        if object.finalizers.contains(finalizer) {
            return Ok(());
        }
        if object.deleting {
            let deleting = || yield_because("ReferenceDeleting", format!("{named} is being deleted"));
            return if named.selected { Ok(()) } else { deleting() };
        }
        let target = Target { kind, namespace: key.namespace(), name: key.name() };
        let answer = self.client.add_finalizer(target, object, finalizer, &self.operator).await;
        targets.store_response(&answer?)
    }

    /// Returns whether [`ControllerState::add_finalizer_to_target`] has nothing to write: the target has the finalizer, is being
    /// deleted, or does not exist.
    pub(crate) fn is_held(&self, finalizer: &str, named: &NamedTarget) -> bool {
        let entry = self.targets.get(&named.kind).and_then(|targets| targets.get(&named.key));
        entry.is_none_or(|entry| entry.header.deleting || entry.header.finalizers.contains(finalizer))
    }

    /// Checks whether the target of a reference is ready. A target that is being deleted counts as ready: the finalizer keeps it until
    /// the referrer releases it. A missing target counts as ready if a selector matched it.
    ///
    /// # Errors
    /// A yield while the target is not ready, or if the reference names it and it doesn't exist.
    pub(crate) fn is_ready(&self, named: &NamedTarget) -> Result<()> {
        let Some(entry) = self.targets(&named.kind)?.get(&named.key) else { return missing_target(named) };
        match &entry.value.readiness {
            Readiness::Ready => Ok(()),
            // The target waits for the release of this reference, and is not torn down before that.
            _ if entry.header.deleting => Ok(()),
            Readiness::NotReady(why) | Readiness::HeldUp(why) => {
                yield_because("ReferenceNotReady", format!("{named}: {why}"))
            }
        }
    }

    /// Removes the finalizer of a referrer from all objects that have it, except those for which `is_needed` returns true.
    pub(crate) async fn release_except(
        &self,
        finalizer: &str,
        is_needed: impl Fn(&Kind, &ObjectKey) -> bool,
    ) -> Result<()> {
        for (kind, targets) in &self.targets {
            for key in targets.keys_with_reference(finalizer) {
                if !is_needed(kind, &key) {
                    self.release(targets, &key, finalizer).await?;
                }
            }
        }
        Ok(())
    }

    /// Removes the finalizer of a referrer from one target. Succeeds also if the target doesn't exist.
    pub(crate) async fn release(&self, targets: &Targets, key: &ObjectKey, finalizer: &str) -> Result<()> {
        let _lock = targets.lock_writes(key).await;
        let Some(entry) = targets.get(key) else { return Ok(()) };
        let target = Target { kind: &targets.watched.kind, namespace: key.namespace(), name: key.name() };
        match self.client.remove_finalizer(target, &entry.header, finalizer, &self.operator).await {
            // The response is stored, so that the next write starts from its resourceVersion. The removal of the last finalizer of an
            // object in deletion deletes the object; then the response is not stored, and the watch reports the deletion.
            Ok(Some(object)) if !entry.header.deleting || has_finalizers(&object) => targets.store_response(&object),
            Ok(_) => Ok(()),
            Err(error) if error.is_not_found() => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns the cached targets of a kind.
    ///
    /// # Errors
    /// A terminal error if no spec and no node of the controller references the kind.
    pub(crate) fn targets(&self, kind: &Kind) -> Result<&Targets> {
        let targets = self.targets.get(kind).map(AsRef::as_ref);
        targets.ok_or_else(|| Error::terminal("NotWatched", format!("{kind} is not referenced by this controller")))
    }

    /// Returns whether a change removed a finalizer from a target: the `old` object had it, and the `new` one doesn't have it or is gone.
    pub(crate) fn is_lost(
        finalizer: &str,
        old: Option<&Arc<Entry<TargetState>>>,
        new: Option<&Arc<Entry<TargetState>>>,
    ) -> bool {
        let has_reference = |entry: Option<&Arc<Entry<TargetState>>>| {
            entry.is_some_and(|entry| entry.header.finalizers.contains(finalizer))
        };
        has_reference(old) && !has_reference(new)
    }
}

fn has_finalizers(object: &Value) -> bool {
    object["metadata"]["finalizers"].as_array().is_some_and(|finalizers| !finalizers.is_empty())
}

/// Returns the result for a target that doesn't exist: a yield if the reference names the target, and `Ok` if a selector matched it
/// before it was deleted.
fn missing_target(named: &NamedTarget) -> Result<()> {
    if named.selected {
        return Ok(());
    }
    let NamedTarget { field, kind, key, .. } = named;
    let field = if field.is_empty() { String::new() } else { format!("{field}: ") };
    yield_because("ReferenceMissing", format!("{field}{kind} {key} not found"))
}
