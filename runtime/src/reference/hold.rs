//! Adds reference finalizers to the targets of an object, waits until the targets are ready, and releases them.

use super::{ALLOW_FROM, Named, NamespaceRule, Pointer, Targets, To, allows, id};
use crate::{
    cache::{Entry, Header, ObjectKey},
    client::Target,
    engine::pass::ControllerState,
    error::{Error, Result, yield_because},
    kind::Kind,
    readiness::Readiness,
};
use serde_json::Value;
use std::{collections::BTreeSet, sync::Arc};

impl ControllerState {
    /// Resolves references to the current set of targets, without duplicates. The second result is an error if some of them can't
    /// be resolved.
    pub(crate) fn resolve(&self, referrer: (&Kind, &ObjectKey), pointers: &[Pointer]) -> (Vec<Named>, Result<()>) {
        let (mut named, mut outcome) = (Vec::new(), Ok(()));
        for pointer in pointers {
            let one = |key, selected| Named { field: pointer.field, kind: pointer.kind.clone(), key, selected };
            match &pointer.to {
                // The object would wait for itself, and never release its own finalizer.
                To::One(key) if pointer.kind == *referrer.0 && key == referrer.1 => {
                    let message = format!("{}: it references itself", pointer.field);
                    let itself = Error::user_action("ReferenceToItself", message);
                    outcome = outcome.and(Err(itself));
                }
                To::One(key) => match self.is_allowed(pointer, key) {
                    Ok(()) => named.push(one(key.clone(), false)),
                    Err(error) => outcome = outcome.and(Err(error)),
                },
                To::All(_) => match self.selected(referrer, pointer) {
                    Ok(keys) => named.extend(keys.into_iter().map(|key| one(key, true))),
                    Err(error) => outcome = outcome.and(Err(error)),
                },
            }
        }
        (Named::once(named), outcome)
    }

    /// Checks whether a target may be referenced from the namespace of the referrer. A missing object counts as not allowed.
    fn is_allowed(&self, pointer: &Pointer, key: &ObjectKey) -> Result<()> {
        let Pointer { field, kind, reach, .. } = pointer;
        match reach {
            NamespaceRule::Home => Ok(()),
            NamespaceRule::Refused => Err(Error::user_action(
                "ReferenceAcrossNamespaces",
                format!("{field}: {kind} {key} is in another namespace; reference an object of the same namespace"),
            )),
            NamespaceRule::From(namespace) => self.is_allowed_from(namespace, (field, kind, key)),
        }
    }

    /// Checks whether an object of another namespace allows references from `namespace`.
    ///
    /// # Errors
    /// A yield if it doesn't, or doesn't exist.
    pub(crate) fn is_allowed_from(&self, namespace: &str, (field, kind, key): (&str, &Kind, &ObjectKey)) -> Result<()> {
        let targets = self.targets(kind)?;
        targets.watched.readable()?;
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

    /// Releases the targets in other namespaces that may no longer be referenced.
    pub(crate) async fn release_refused(
        &self,
        referrer: (&Kind, &ObjectKey),
        pointers: &[Pointer],
        named: &[Named],
    ) -> Result<()> {
        for pointer in pointers.iter().filter(|pointer| pointer.reach != NamespaceRule::Home) {
            let To::One(key) = &pointer.to else { continue };
            let is_named = named.iter().any(|named| named.kind == pointer.kind && named.key == *key);
            // While the informer has not synced, it is unknown whether the target refuses.
            let targets = self.targets(&pointer.kind)?;
            if !is_named && targets.watched.readable().is_ok() {
                self.release(targets, key, &id(referrer.0, referrer.1)).await?;
            }
        }
        Ok(())
    }

    /// Returns the objects that a selector matches. An object that is being deleted is included only if it has the finalizer
    /// already.
    fn selected(&self, (kind, key): (&Kind, &ObjectKey), pointer: &Pointer) -> Result<BTreeSet<ObjectKey>> {
        let To::All(selected) = &pointer.to else { return Ok(BTreeSet::new()) };
        if let Some(fault) = selected.fault() {
            return Err(Error::user_action("InvalidSelector", format!("{}: {fault}", pointer.field)));
        }
        let (targets, reference) = (self.targets(&pointer.kind)?, id(kind, key));
        // With a cache that has not synced, all targets would be released.
        targets.watched.readable()?;
        let is_match = |header: &Header| {
            let is_itself = pointer.kind == *kind && header.key == *key;
            selected.has(header) && !is_itself && (!header.deleting || header.finalizers.contains(&reference))
        };
        let matches = targets.watched.store.entries_where(|entry| is_match(&entry.header));
        Ok(matches.into_iter().map(|entry| entry.header.key.clone()).collect())
    }

    /// Adds the finalizer of a reference to its target.
    ///
    /// # Errors
    /// A yield if the target doesn't exist or is being deleted. A conflict if it has changed since the cache saw it.
    pub(crate) async fn hold(&self, reference: &str, named: &Named) -> Result<()> {
        let (targets, Named { kind, key, .. }) = (self.targets(&named.kind)?, named);
        targets.watched.readable()?;
        let _lock = if self.is_held(reference, named) { None } else { Some(targets.lock_writes(key).await) };
        let Some(entry) = targets.get(key) else { return missing(named) };
        let object = &entry.header;
        if object.finalizers.contains(reference) {
            return Ok(());
        }
        if object.deleting {
            let deleting = || yield_because("ReferenceDeleting", format!("{named} is being deleted"));
            return if named.selected { Ok(()) } else { deleting() };
        }
        let target = Target { kind, namespace: key.namespace(), name: key.name() };
        let answer = self.client.add_finalizer(target, object, reference, &self.operator).await;
        targets.apply_answer(&answer?)
    }

    /// Whether [`ControllerState::hold`] has nothing to write.
    pub(crate) fn is_held(&self, reference: &str, named: &Named) -> bool {
        let entry = self.targets.get(&named.kind).and_then(|targets| targets.get(&named.key));
        entry.is_none_or(|entry| entry.header.deleting || entry.header.finalizers.contains(reference))
    }

    /// Checks whether a target is ready.
    ///
    /// # Errors
    /// A yield while it is not ready.
    pub(crate) fn is_ready(&self, named: &Named) -> Result<()> {
        let Some(entry) = self.targets(&named.kind)?.get(&named.key) else { return missing(named) };
        match &entry.value {
            Readiness::Ready => Ok(()),
            // The target waits for the release of this reference, and is not torn down before that.
            _ if entry.header.deleting => Ok(()),
            Readiness::NotReady(why) | Readiness::HeldUp(why) => {
                yield_because("ReferenceNotReady", format!("{named}: {why}"))
            }
        }
    }

    /// Releases all targets of a reference for which `is_needed` is false (unikorn REF8, REF9).
    pub(crate) async fn release_except(
        &self,
        reference: &str,
        is_needed: impl Fn(&Kind, &ObjectKey) -> bool,
    ) -> Result<()> {
        for (kind, targets) in &self.targets {
            for key in targets.keys_with(reference) {
                if !is_needed(kind, &key) {
                    self.release(targets, &key, reference).await?;
                }
            }
        }
        Ok(())
    }

    /// Removes the finalizer of a reference from one target. Succeeds if the target is gone (unikorn REF7).
    pub(crate) async fn release(&self, targets: &Targets, key: &ObjectKey, reference: &str) -> Result<()> {
        let _lock = targets.lock_writes(key).await;
        let Some(entry) = targets.get(key) else { return Ok(()) };
        let target = Target { kind: &targets.watched.kind, namespace: key.namespace(), name: key.name() };
        match self.client.remove_finalizer(target, &entry.header, reference, &self.operator).await {
            // The next write starts from this response. The removal of the last finalizer of an object in deletion deletes it;
            // then the response is not stored, and the watch reports the deletion.
            Ok(Some(object)) if !entry.header.deleting || has_finalizers(&object) => targets.apply_answer(&object),
            Ok(_) => Ok(()),
            Err(error) if error.is_not_found() => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    pub(crate) fn targets(&self, kind: &Kind) -> Result<&Targets> {
        let targets = self.targets.get(kind).map(AsRef::as_ref);
        targets.ok_or_else(|| Error::terminal("NotWatched", format!("{kind} is not referenced by this controller")))
    }

    /// Whether a target had the finalizer of a reference and doesn't have it any more.
    pub(crate) fn is_lost(
        reference: &str,
        old: Option<&Arc<Entry<Readiness>>>,
        new: Option<&Arc<Entry<Readiness>>>,
    ) -> bool {
        let has_reference = |entry: Option<&Arc<Entry<Readiness>>>| {
            entry.is_some_and(|entry| entry.header.finalizers.contains(reference))
        };
        has_reference(old) && !has_reference(new)
    }
}

fn has_finalizers(object: &Value) -> bool {
    object["metadata"]["finalizers"].as_array().is_some_and(|finalizers| !finalizers.is_empty())
}

/// Returns the yield for a target that doesn't exist; `Ok` if a selector matched it, which needs no particular object.
fn missing(named: &Named) -> Result<()> {
    if named.selected {
        return Ok(());
    }
    let Named { field, kind, key, .. } = named;
    let field = if field.is_empty() { String::new() } else { format!("{field}: ") };
    yield_because("ReferenceMissing", format!("{field}{kind} {key} not found"))
}
