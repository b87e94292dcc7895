//! Lets the user's code in a tree node add and remove references to other objects. A reference blocks the deletion of the object that it
//! names.

use super::Calls;
use crate::{
    access,
    cache::ObjectKey,
    error::{Error, Result, yield_because},
    kind::{Kind, Typed, kind_of},
    reference::{NamedTarget, ScopedSelector, finalizer_name},
};
use futures::future::{BoxFuture, FutureExt};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use std::{fmt, marker::PhantomData};

impl<'a, P> Calls<'a, P> {
    /// Returns the references to objects of one kind: `cx.references::<Net>().add("blue")`.
    ///
    /// ```
    /// # use k8s_openapi::api::core::v1::{Namespace, Secret};
    /// # use opgen::prelude::*;
    /// // Works with a key that another client creates.
    /// #[derive(Provisioner)]
    /// #[provisioner(access(Secret: reference))]
    /// struct Work;
    ///
    /// impl Provision<Foreign<Namespace>> for Work {
    ///     async fn provision(cx: &Context<'_, Foreign<Namespace>, Self>) -> Result<()> {
    ///         let keys = cx.references::<Secret>();
    ///         keys.add("key").await?; // From now on, a deletion of the Secret waits.
    ///         keys.ready("key")
    ///     }
    ///
    ///     async fn deprovision(_: &Teardown<'_, Foreign<Namespace>, Self>) -> Result<()> {
    ///         Ok(()) // The references are released after this.
    ///     }
    /// }
    /// # let _ = Work;
    /// ```
    pub fn references<K: Typed + access::Reference<P>>(&self) -> References<'_, 'a, P, K> {
        References { calls: self, labels: None, of: PhantomData }
    }
}

/// The references of the object of a pass to objects of one kind. A reference is a finalizer on the referenced object, which
/// blocks its deletion.
///
/// The kind is watched: if a referenced object is created, changes or becomes ready, the objects that reference it are
/// reconciled. If the last reference of an object that is being deleted is released, the object itself is reconciled. Names are
/// in the namespace of the calls ([`Calls::in_namespace`]).
///
/// # Guarantees
/// An existing reference is not written again. A successful pass ends with the release of all references that neither a node has
/// added in this pass nor the spec names; so each pass has to add the references that it wants to keep. A teardown releases all
/// references after the tree. If the object was deleted by force, its references are found and released as well.
///
/// # Errors
/// A conflict, if the cache does not have the newest version of an object; the pass is repeated at once.
pub struct References<'c, 'a, P, K> {
    calls: &'c Calls<'a, P>,
    labels: Option<LabelSelector>,
    of: PhantomData<fn() -> K>,
}

impl<'c, P, K: Typed> References<'c, '_, P, K> {
    /// Limits the following calls to objects with these labels: they neither add nor release references to other objects.
    #[must_use]
    pub fn labelled(mut self, labels: LabelSelector) -> Self {
        self.labels = Some(labels);
        self
    }

    /// References an object. An object in another namespace than that of the pass must allow it with the annotation
    /// [`ALLOW_FROM`](crate::reference::ALLOW_FROM); the reference is released once it does not.
    ///
    /// # Errors
    /// A yield, if the object does not exist (`ReferenceMissing`), is being deleted (`ReferenceDeleting`), or is in another
    /// namespace and does not allow the reference (`ReferenceNotAllowed`).
    pub fn add(&self, name: &str) -> BoxFuture<'c, Result<()>> {
        self.add_all([name])
    }

    /// References several objects. If one of them can't be referenced, the others still are.
    ///
    /// # Errors
    /// The first error; see [`References::add`].
    pub fn add_all<N: Into<String>>(&self, names: impl IntoIterator<Item = N>) -> BoxFuture<'c, Result<()>> {
        let (calls, selection) = (self.calls, self.select(names));
        async move {
            let selection = selection?;
            let mut outcome = Ok(());
            for key in &selection.keys {
                selection.record(calls, key);
                match selection.add(calls, key).await {
                    // An unexpected error, such as a failed call, ends the loop. After a yield or a conflict, the other objects are still
                    // referenced.
                    Err(error @ Error::Unexpected(_)) => return Err(error),
                    added => outcome = outcome.and(added),
                }
            }
            outcome
        }
        .boxed()
    }

    /// Releases the reference to an object, unless the spec of the owner names the object. Succeeds also if the object does not exist or
    /// was never referenced.
    ///
    /// # Errors
    /// The error of the call.
    pub fn remove(&self, name: &str) -> BoxFuture<'c, Result<()>> {
        let (calls, selection) = (self.calls, self.select([name]));
        async move {
            let selection = selection?;
            selection.release_if(calls, |key| selection.keys.contains(key)).await
        }
        .boxed()
    }

    /// Releases the references to all objects of the kind except these, which it does not add.
    ///
    /// # Errors
    /// The first error of a call; references released before it stay released.
    pub fn keep_only<N: Into<String>>(&self, names: impl IntoIterator<Item = N>) -> BoxFuture<'c, Result<()>> {
        let (calls, selection) = (self.calls, self.select(names));
        async move {
            let selection = selection?;
            selection.release_if(calls, |key| !selection.keys.contains(key)).await
        }
        .boxed()
    }

    /// Releases the references to all objects of the kind.
    ///
    /// # Errors
    /// The first error of a call; references released before it stay released.
    pub fn clear(&self) -> BoxFuture<'c, Result<()>> {
        self.keep_only::<String>([])
    }

    /// Checks in the cache that an object is ready, without a call to the API server.
    ///
    /// # Errors
    /// A yield, if the object does not exist or is not ready (`ReferenceNotReady`); the message names the object and the reason.
    pub fn ready(&self, name: &str) -> Result<()> {
        self.all_ready([name])
    }

    /// Checks in the cache that all of these objects are ready, and have the labels to which the references are limited.
    ///
    /// # Errors
    /// The first error; see [`References::ready`].
    pub fn all_ready<N: Into<String>>(&self, names: impl IntoIterator<Item = N>) -> Result<()> {
        let selection = self.select(names)?;
        selection.keys.iter().try_for_each(|key| {
            selection.check_labels(self.calls, key)?;
            self.calls.core.shared.is_ready(&selection.named_target(key))
        })
    }

    /// Returns the selection of the objects with these names: their keys without duplicates, the labels that they must have, and the
    /// finalizer that stands for a reference.
    ///
    /// # Errors
    /// A yield if the cache of the kind can't be read yet. A terminal error without a namespace, or with invalid labels.
    fn select<N: Into<String>>(&self, names: impl IntoIterator<Item = N>) -> Result<SelectedReferences> {
        let (kind, core) = (kind_of::<K>(), self.calls.core);
        core.shared.targets(&kind)?.watched.check_readable()?;
        let namespace = self.calls.namespace.clone().filter(|_| kind.namespaced);
        if kind.namespaced && namespace.is_none() {
            let message = format!("{kind} needs a namespace; set it with `in_namespace`");
            return Err(Error::terminal("NoNamespace", message));
        }
        let selector = ScopedSelector { namespace, labels: self.labels.clone().unwrap_or_default() };
        if let Some(reason) = selector.invalid_reason() {
            return Err(Error::terminal("InvalidSelector", reason));
        }
        let mut keys = Vec::new();
        for name in names {
            let key = ObjectKey::new(selector.namespace.as_deref(), &name.into());
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
        Ok(SelectedReferences { finalizer: finalizer_name(&core.owner.kind, &core.owner.key), kind, selector, keys })
    }
}

/// Objects of one kind that a call adds, releases or checks.
struct SelectedReferences {
    /// The finalizer by which the object of the pass references others.
    finalizer: String,
    kind: Kind,
    /// The namespace and the labels that the objects must have.
    selector: ScopedSelector,
    keys: Vec<ObjectKey>,
}

impl SelectedReferences {
    /// Returns the object with this key as the target of a reference by code, not by a field of the spec.
    fn named_target(&self, key: &ObjectKey) -> NamedTarget {
        NamedTarget { field: "", kind: self.kind.clone(), key: key.clone(), selected: false }
    }

    /// Records that a node wants the reference to an object, before the attempt to add it: else the end of the pass would release an
    /// existing reference if the attempt fails.
    fn record<P>(&self, calls: &Calls<'_, P>, key: &ObjectKey) {
        let (core, reference) = (calls.core, (self.kind.clone(), key.clone()));
        core.shared.referrers.lock().add(&core.owner.key, reference.clone());
        core.side_effects().added_references.push(reference);
    }

    /// Adds the finalizer to an object, after checks that the object has the required labels and allows references from the namespace of
    /// the owner.
    async fn add<P>(&self, calls: &Calls<'_, P>, key: &ObjectKey) -> Result<()> {
        self.check_labels(calls, key)?;
        self.check_allowed(calls, key).await?;
        calls.core.shared.add_finalizer_to_target(&self.finalizer, &self.named_target(key)).await
    }

    /// Checks that an object in another namespace than the owner's allows the reference by its annotation, and releases an existing
    /// reference if it does not.
    async fn check_allowed<P>(&self, calls: &Calls<'_, P>, key: &ObjectKey) -> Result<()> {
        let core = calls.core;
        // A cluster-scoped owner may reference all objects, and every owner may reference cluster-scoped objects.
        let Some(own_namespace) = core.owner.key.namespace() else { return Ok(()) };
        if key.namespace().is_none_or(|namespace| namespace == own_namespace) {
            return Ok(());
        }
        let targets = core.shared.targets(&self.kind)?;
        // Without a complete cache, a missing annotation does not mean that the object refuses the reference.
        targets.watched.check_readable()?;
        let allowed = core.shared.check_allowed_from(own_namespace, ("", &self.kind, key));
        if allowed.is_err() {
            core.shared.release(targets, key, &self.finalizer).await?;
        }
        allowed
    }

    /// Checks in the cache that an object has the required labels. An object without them counts as missing. An object that is not in the
    /// cache passes, because a later check of each caller fails for it.
    fn check_labels<P>(&self, calls: &Calls<'_, P>, key: &ObjectKey) -> Result<()> {
        match calls.core.shared.targets(&self.kind)?.get(key) {
            Some(entry) if !self.selector.matches(&entry.header) => {
                let (kind, labels) = (&self.kind, &self.selector);
                yield_because("ReferenceMissing", format!("{kind} {key} with the labels {labels} not found"))
            }
            _ => Ok(()),
        }
    }

    /// Releases the references to objects that have the required labels and that `filter` accepts, except objects that the spec of the
    /// owner names. A released reference no longer counts as added in this pass.
    async fn release_if<P>(&self, calls: &Calls<'_, P>, filter: impl Fn(&ObjectKey) -> bool) -> Result<()> {
        let core = calls.core;
        let targets = core.shared.targets(&self.kind)?;
        for key in targets.keys_with_reference(&self.finalizer) {
            let is_to_key = |(kind, target): &(Kind, ObjectKey)| *kind == self.kind && *target == key;
            let is_selected = targets.get(&key).is_some_and(|entry| self.selector.matches(&entry.header));
            let is_in_spec = core.spec_references.iter().any(is_to_key);
            if is_selected && !is_in_spec && filter(&key) {
                core.side_effects().added_references.retain(|reference| !is_to_key(reference));
                core.shared.release(targets, &key, &self.finalizer).await?;
            }
        }
        Ok(())
    }
}

impl<P, K> fmt::Debug for References<'_, '_, P, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("References").field("labels", &self.labels).finish_non_exhaustive()
    }
}
