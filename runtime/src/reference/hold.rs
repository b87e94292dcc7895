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
    /// Resolves references to the current set of targets, without duplicates. The second result is an error if some of them can't
    /// be resolved.
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
                // The object would wait for itself, and never release its own finalizer.
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

    /// Checks whether a target may be referenced from the namespace of the referrer. A missing object counts as not allowed.
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

    /// Checks whether an object of another namespace allows references from `namespace`.
    ///
    /// # Errors
    /// A yield if it doesn't, or doesn't exist.
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

    /// Releases the targets of pointers by name that may no longer be referenced: `named` lacks them although their kind has
    /// synced.
    pub(crate) async fn release_refused(
        &self,
        referrer: (&Kind, &ObjectKey),
        pointers: &[Pointer],
        named: &[NamedTarget],
    ) -> Result<()> {
        for pointer in pointers.iter().filter(|pointer| pointer.namespace_rule != NamespaceRule::Allowed) {
            let PointerTarget::One(key) = &pointer.to else { continue };
            let is_named = named.iter().any(|named| named.kind == pointer.kind && named.key == *key);
            // While the informer has not synced, it is unknown whether the target refuses.
            let targets = self.targets(&pointer.kind)?;
            if !is_named && targets.watched.check_readable().is_ok() {
                self.release(targets, key, &finalizer_name(referrer.0, referrer.1)).await?;
            }
        }
        Ok(())
    }

    /// Returns the keys of the objects that a selector matches, without the referrer itself. An object that is being deleted is
    /// included only if it has the finalizer already.
    fn matching_keys(&self, (kind, key): (&Kind, &ObjectKey), pointer: &Pointer) -> Result<BTreeSet<ObjectKey>> {
        let PointerTarget::All(selector) = &pointer.to else { return Ok(BTreeSet::new()) };
        if let Some(reason) = selector.invalid_reason() {
            return Err(Error::user_action("InvalidSelector", format!("{}: {reason}", pointer.field)));
        }
        let (targets, finalizer) = (self.targets(&pointer.kind)?, finalizer_name(kind, key));
        // With a cache that has not synced, all targets would be released.
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
        // Without a write, no lock is needed.
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

    /// Checks whether a target is ready. A target that is being deleted counts as ready, since it waits for the release.
    ///
    /// # Errors
    /// A yield while it is not ready.
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

    /// Removes the finalizer of a referrer from all targets for which `is_needed` is false.
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

    /// Removes the finalizer of a referrer from one target. Succeeds if the target is gone.
    pub(crate) async fn release(&self, targets: &Targets, key: &ObjectKey, finalizer: &str) -> Result<()> {
        let _lock = targets.lock_writes(key).await;
        let Some(entry) = targets.get(key) else { return Ok(()) };
        let target = Target { kind: &targets.watched.kind, namespace: key.namespace(), name: key.name() };
        match self.client.remove_finalizer(target, &entry.header, finalizer, &self.operator).await {
            // The next write starts from this response. The removal of the last finalizer of an object in deletion deletes it;
            // then the response is not stored, and the watch reports the deletion.
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

    /// Returns whether a target had a finalizer and doesn't have it any more.
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

/// Returns the yield for a target that doesn't exist; `Ok` if a selector matched it, which needs no particular object.
fn missing_target(named: &NamedTarget) -> Result<()> {
    if named.selected {
        return Ok(());
    }
    let NamedTarget { field, kind, key, .. } = named;
    let field = if field.is_empty() { String::new() } else { format!("{field}: ") };
    yield_because("ReferenceMissing", format!("{field}{kind} {key} not found"))
}
