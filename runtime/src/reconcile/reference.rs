//! What a spec names: held before it is used, waited for, and let go when neither it nor a node names it any more.

use super::{Loop, Opened};
use crate::{
    cache::{Change, Header, ObjectKey},
    client::Target,
    error::{Error, Result, yield_because},
    kind::Kind,
    pass::Shared,
    readiness::Readiness,
    reference::{self, Named, Pointer},
};
use std::collections::BTreeSet;

/// The finalizer by which the garbage collector waits for dependents.
const FOREGROUND: &str = "foregroundDeletion";

impl Loop {
    /// References every object that is named, then waits until each is ready.
    ///
    /// The first that can't be had speaks for all; those after it are referenced nevertheless (unikorn REF6).
    pub(super) async fn hold_named(&self, header: &Header, pointers: &[Pointer]) -> (Vec<Named>, Result<()>) {
        if self.shared.targets.is_empty() {
            return (Vec::new(), Ok(()));
        }
        // First who selects, then what: a change between the two wakes.
        self.shared.referrers.lock().select(&header.key, pointers);
        let (named, mut outcome) = self.resolve(&header.key, pointers);
        let of_each = named.iter().map(|named| (named.kind.clone(), named.key.clone())).collect();
        self.shared.referrers.lock().set(&header.key, of_each);
        let reference = self.reference_of(&header.key);
        for named in &named {
            match self.shared.hold(&reference, named).await {
                Ok(()) => {}
                Err(error @ Error::Unexpected(_)) => {
                    outcome = Err(error);
                    break;
                }
                held => outcome = outcome.and(held),
            }
        }
        let outcome = outcome.and_then(|()| named.iter().try_for_each(|named| self.shared.is_ready(named)));
        (named, outcome)
    }

    /// Which objects a spec means now.
    pub(super) fn resolve(&self, referrer: &ObjectKey, pointers: &[Pointer]) -> (Vec<Named>, Result<()>) {
        self.shared.resolve((self.source.kind(), referrer), pointers)
    }

    /// Takes the reference away from every object that neither the spec nor a node names (unikorn REF8, REF9).
    pub(super) async fn let_go_of_unnamed(
        &self,
        referrer: &ObjectKey,
        named: &[Named],
        by_nodes: &[(Kind, ObjectKey)],
    ) -> Result<()> {
        let is_named = |kind: &Kind, key: &ObjectKey| {
            named.iter().any(|named| named.kind == *kind && named.key == *key)
                || by_nodes.iter().any(|(other, named)| other == kind && named == key)
        };
        self.shared.let_go(&self.reference_of(referrer), is_named).await
    }

    /// Forgets whom an object named that is gone, and takes away what it left behind (unikorn REF15).
    pub(super) async fn release_vanished(&self, key: &ObjectKey) -> Result<()> {
        {
            let mut referrers = self.shared.referrers.lock();
            referrers.select(key, &[]);
            referrers.set(key, Vec::new());
        }
        self.let_go_of_unnamed(key, &[], &[]).await
    }

    /// Takes away the references of objects that are gone, and went while nobody looked. The cache is not believed alone: the
    /// live list decides.
    pub(crate) async fn release_stuck(&self, namespace: Option<&str>) -> Result<()> {
        let kind = self.source.kind();
        let begin = reference::of_kind(kind, namespace.filter(|_| kind.namespaced));
        let cached = all_of(kind, self.source.objects().store().keys());
        let found = self.shared.targets.values().flat_map(|targets| targets.beginning(&begin));
        let mut stuck: BTreeSet<String> = found.filter(|reference| !cached.contains(reference)).collect();
        if stuck.is_empty() {
            return Ok(());
        }
        let live = self.shared.client.list(Target { kind, namespace, name: "" }, None).await?;
        let keys = live["items"].as_array().into_iter().flatten().map(|object| {
            let text = |field: &str| object["metadata"][field].as_str();
            ObjectKey::new(text("namespace"), text("name").unwrap_or_default())
        });
        let live = all_of(kind, keys);
        stuck.retain(|reference| !live.contains(reference));
        for reference in stuck {
            tracing::info!(%kind, reference, "released what an object that is gone had referenced");
            self.shared.let_go(&reference, |_, _| false).await?;
        }
        Ok(())
    }

    /// Whom a change of an object concerns that others name or select.
    pub(crate) fn concerned(&self, kind: &Kind, change: &Change<Readiness>) -> BTreeSet<ObjectKey> {
        let (old, new) = (change.old(), change.new_entry());
        let Some(key) = new.or(old).map(|entry| &entry.header.key) else { return BTreeSet::new() };
        let same = match (old, new) {
            (Some(old), Some(new)) => {
                let (before, after) = (&old.header, &new.header);
                old.value == new.value && before.uid == after.uid && before.deleting == after.deleting
            }
            _ => false,
        };
        let referrers = self.shared.referrers.lock();
        let mut concerned: BTreeSet<_> = referrers.of(kind, key).into_iter().collect();
        if same {
            // A reference that somebody has taken away is given again.
            concerned.retain(|referrer| Shared::is_lost(&self.reference_of(referrer), old, new));
        }
        if !same || old.map(|old| &old.header.labels) != new.map(|new| &new.header.labels) {
            let [before, after] =
                [old, new].map(|entry| entry.map(|entry| referrers.selecting(kind, &entry.header)).unwrap_or_default());
            let is_anew = old.map(|old| &old.header.uid) != new.map(|new| &new.header.uid);
            let all = before.union(&after);
            concerned.extend(all.filter(|who| is_anew || before.contains(*who) != after.contains(*who)).cloned());
        }
        concerned
    }

    /// Says who still needs an object that is to go: what names it; and what others have made of it, if it is deleted in the
    /// foreground. The collector waits for dependents that say so, and none of the operator's own does.
    pub(super) fn is_free(&self, header: &Header) -> Result<()> {
        let holders: Vec<_> = header.finalizers.iter().filter(|held| reference::is_reference(held)).collect();
        let [first, others @ ..] = &holders[..] else {
            return match header.finalizers.contains(FOREGROUND) {
                true => yield_because("DependentsRemain", "what others have made of it is being deleted first"),
                false => Ok(()),
            };
        };
        let more = if others.is_empty() { String::new() } else { format!(" and {} more", others.len()) };
        yield_because("Referenced", format!("it is named by {}{more}", reference::said(first)))
    }

    pub(super) fn named(&self, opened: &dyn Opened) -> Vec<Pointer> {
        if self.shared.targets.is_empty() { Vec::new() } else { opened.named() }
    }

    fn reference_of(&self, referrer: &ObjectKey) -> String {
        reference::id(self.source.kind(), referrer)
    }
}

/// The references from these objects of a kind.
fn all_of(kind: &Kind, referrers: impl IntoIterator<Item = ObjectKey>) -> BTreeSet<String> {
    referrers.into_iter().map(|key| reference::id(kind, &key)).collect()
}
