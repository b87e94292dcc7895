//! References that a node gives and takes, for what no field of a spec names.

use super::Calls;
use crate::{
    access,
    cache::ObjectKey,
    error::{Error, Result, yield_because},
    kind::{Kind, Typed, kind_of},
    reference::{Named, Selected, id},
};
use futures::future::{BoxFuture, FutureExt};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use std::{fmt, marker::PhantomData};

impl<'a, P> Calls<'a, P> {
    /// The references to objects of one kind: `cx.references::<Net>().add("blue")`.
    ///
    /// ```
    /// # use k8s_openapi::api::core::v1::{Namespace, Secret};
    /// # use opgen::prelude::*;
    /// // Works with a key that somebody else makes.
    /// #[derive(Provisioner)]
    /// #[provisioner(access(Secret: reference))]
    /// struct Work;
    ///
    /// impl Provision<Foreign<Namespace>> for Work {
    ///     async fn provision(cx: &Context<'_, Foreign<Namespace>, Self>) -> Result<()> {
    ///         let keys = cx.references::<Secret>();
    ///         keys.add("key").await?; // From now on it can't go.
    ///         keys.ready("key")
    ///     }
    ///
    ///     async fn deprovision(_: &Teardown<'_, Foreign<Namespace>, Self>) -> Result<()> {
    ///         Ok(()) // What is referenced is let go after this.
    ///     }
    /// }
    /// # let _ = Work;
    /// ```
    pub fn references<K: Typed + access::Reference<P>>(&self) -> References<'_, 'a, P, K> {
        References { calls: self, labels: None, of: PhantomData }
    }
}

/// The references of the object of a pass to objects of one kind, as a node gives and takes them.
///
/// The kind is watched: an object that comes, changes or becomes ready wakes who references it, and one that is to go and is
/// let go wakes its own controller. Names are meant in the namespace of the calls ([`Calls::in_namespace`]).
///
/// # Guarantees
/// What is there already is not written again. What no node has added in a pass that ended well, and no field of the spec
/// names, is let go at the end of that pass; so each pass adds what it wants to keep. On the way down all is let go after
/// the tree, and if the object is gone by force, that is found out and done as well.
///
/// # Errors
/// A change of an object that the cache has not seen is a conflict, which is tried again at once.
pub struct References<'c, 'a, P, K> {
    calls: &'c Calls<'a, P>,
    labels: Option<LabelSelector>,
    of: PhantomData<fn() -> K>,
}

impl<'c, P, K: Typed> References<'c, '_, P, K> {
    /// Looks only at objects with these labels: no other is added, and no other let go.
    #[must_use]
    pub fn labelled(mut self, labels: LabelSelector) -> Self {
        self.labels = Some(labels);
        self
    }

    /// References an object (unikorn REF5). One in another namespace than the object of the pass has to allow it by the annotation
    /// [`ALLOW_FROM`](crate::reference::ALLOW_FROM); once it does not, it is released.
    ///
    /// # Errors
    /// A yield, if there is no such object (`ReferenceMissing`), it is being deleted (`ReferenceDeleting`), or it is in another
    /// namespace and does not allow it (`ReferenceNotAllowed`).
    pub fn add(&self, name: &str) -> BoxFuture<'c, Result<()>> {
        self.add_all([name])
    }

    /// References several objects; one that can't be had doesn't keep those after it from being referenced (unikorn REF6).
    ///
    /// # Errors
    /// The first of those of [`References::add`].
    pub fn add_all<N: Into<String>>(&self, names: impl IntoIterator<Item = N>) -> BoxFuture<'c, Result<()>> {
        let (calls, set) = (self.calls, self.set(names));
        async move {
            let set = set?;
            let mut outcome = Ok(());
            for key in &set.keys {
                set.note(calls, key);
                match set.hold(calls, key).await {
                    Err(error @ Error::Unexpected(_)) => return Err(error),
                    held => outcome = outcome.and(held),
                }
            }
            outcome
        }
        .boxed()
    }

    /// Lets an object go. That it is gone, or was never referenced, is as good (unikorn REF7). What the spec names stays.
    ///
    /// # Errors
    /// As the call fails.
    pub fn remove(&self, name: &str) -> BoxFuture<'c, Result<()>> {
        let (calls, set) = (self.calls, self.set([name]));
        async move {
            let set = set?;
            set.let_go(calls, |key| set.keys.contains(key)).await
        }
        .boxed()
    }

    /// Lets all objects go but these (unikorn REF8).
    ///
    /// # Errors
    /// As a call fails; those that were let go before stay so.
    pub fn keep_only<N: Into<String>>(&self, names: impl IntoIterator<Item = N>) -> BoxFuture<'c, Result<()>> {
        let (calls, set) = (self.calls, self.set(names));
        async move {
            let set = set?;
            set.let_go(calls, |key| !set.keys.contains(key)).await
        }
        .boxed()
    }

    /// Lets all objects go (unikorn REF9).
    ///
    /// # Errors
    /// As a call fails; those that were let go before stay so.
    pub fn clear(&self) -> BoxFuture<'c, Result<()>> {
        self.keep_only::<String>([])
    }

    /// Whether an object is ready; nothing is asked for, the watch knows it (unikorn REF11).
    ///
    /// # Errors
    /// A yield, if there is no such object or it is not ready (`ReferenceNotReady`); the message names it and says why.
    pub fn ready(&self, name: &str) -> Result<()> {
        self.all_ready([name])
    }

    /// Whether all of these objects are ready.
    ///
    /// # Errors
    /// The first of those of [`References::ready`].
    pub fn all_ready<N: Into<String>>(&self, names: impl IntoIterator<Item = N>) -> Result<()> {
        let set = self.set(names)?;
        set.keys.iter().try_for_each(|key| {
            set.is_labelled(self.calls, key)?;
            self.calls.core.shared.is_ready(&set.named(key))
        })
    }

    fn set<N: Into<String>>(&self, names: impl IntoIterator<Item = N>) -> Result<SelectedReferences> {
        let (kind, core) = (kind_of::<K>(), self.calls.core);
        core.shared.targets(&kind)?.watched.readable()?;
        let namespace = self.calls.namespace.clone().filter(|_| kind.namespaced);
        if kind.namespaced && namespace.is_none() {
            let message = format!("{kind} needs a namespace; say which with `in_namespace`");
            return Err(Error::terminal("NoNamespace", message));
        }
        let selected = Selected { namespace, labels: self.labels.clone().unwrap_or_default() };
        if let Some(fault) = selected.fault() {
            return Err(Error::terminal("InvalidSelector", fault));
        }
        let mut keys = Vec::new();
        for name in names {
            let key = ObjectKey::new(selected.namespace.as_deref(), &name.into());
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
        Ok(SelectedReferences { reference: id(&core.owner.kind, &core.owner.key), kind, selected, keys })
    }
}

/// Objects by their names, and those among which they are looked for.
struct SelectedReferences {
    reference: String,
    kind: Kind,
    selected: Selected,
    keys: Vec<ObjectKey>,
}

impl SelectedReferences {
    fn named(&self, key: &ObjectKey) -> Named {
        Named { field: "", kind: self.kind.clone(), key: key.clone(), selected: false }
    }

    /// What has been added in a pass stays, whatever else the pass does.
    fn note<P>(&self, calls: &Calls<'_, P>, key: &ObjectKey) {
        let (core, named) = (calls.core, (self.kind.clone(), key.clone()));
        core.shared.referrers.lock().add(&core.owner.key, named.clone());
        core.left.referenced.lock().push(named);
    }

    async fn hold<P>(&self, calls: &Calls<'_, P>, key: &ObjectKey) -> Result<()> {
        self.is_labelled(calls, key)?;
        self.is_allowed(calls, key).await?;
        calls.core.shared.hold(&self.reference, &self.named(key)).await
    }

    /// An object of another namespace has to allow the reference; one that no longer does is released.
    async fn is_allowed<P>(&self, calls: &Calls<'_, P>, key: &ObjectKey) -> Result<()> {
        let core = calls.core;
        let Some(home) = core.owner.key.namespace() else { return Ok(()) };
        if key.namespace().is_none_or(|namespace| namespace == home) {
            return Ok(());
        }
        let allowed = core.shared.is_allowed_from(home, ("", &self.kind, key));
        if allowed.is_err() {
            core.shared.release(core.shared.targets(&self.kind)?, key, &self.reference).await?;
        }
        allowed
    }

    /// An object without the labels is as good as none.
    fn is_labelled<P>(&self, calls: &Calls<'_, P>, key: &ObjectKey) -> Result<()> {
        match calls.core.shared.targets(&self.kind)?.get(key) {
            Some(entry) if !self.selected.has(&entry.header) => {
                let (kind, labels) = (&self.kind, &self.selected);
                yield_because("ReferenceMissing", format!("there is no {kind} {key} with the labels {labels}"))
            }
            _ => Ok(()),
        }
    }

    async fn let_go<P>(&self, calls: &Calls<'_, P>, is_meant: impl Fn(&ObjectKey) -> bool) -> Result<()> {
        let core = calls.core;
        let targets = core.shared.targets(&self.kind)?;
        for key in targets.with(&self.reference) {
            let is_selected = targets.get(&key).is_some_and(|entry| self.selected.has(&entry.header));
            let by_spec = core.named.iter().any(|(kind, named)| *kind == self.kind && *named == key);
            if is_selected && !by_spec && is_meant(&key) {
                core.left.referenced.lock().retain(|(kind, named)| *kind != self.kind || *named != key);
                core.shared.release(targets, &key, &self.reference).await?;
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
