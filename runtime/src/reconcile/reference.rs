//! What a spec names: held before it is used, waited for, and let go when neither it nor a node names it any more.

use crate::{
    cache::{Change, Header, ObjectKey},
    client::{Target, selectors::Selectors},
    engine::pass::Shared,
    error::{Error, Result, yield_because},
    kind::Kind,
    panic::{Closure, catch},
    readiness::Readiness,
    reconcile::{control_loop::Loop, reconciler::Opened, stored_status::Stored},
    reference::{self, ALLOW_FROM, Named, NamespaceRule, Pointer},
};
use serde_json::Value;
use std::collections::BTreeSet;

/// The finalizer by which the garbage collector waits for dependents.
const FOREGROUND: &str = "foregroundDeletion";

/// The reason of an object that waits for others in a ring of references that is about to be broken.
pub(super) const RING: &str = "ReferenceRing";

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
        let of_each = named.iter().map(|named| (named.kind.clone(), named.key.clone()));
        // What does not allow it may come to do so.
        let mut concerning: Vec<(Kind, ObjectKey)> = of_each.collect();
        for key in pointers
            .iter()
            .filter(|pointer| matches!(pointer.reach, NamespaceRule::From(_)))
            .filter_map(Pointer::target)
        {
            if !concerning.contains(&key) {
                concerning.push(key);
            }
        }
        self.shared.referrers.lock().set(&header.key, concerning);
        if let Err(error) = self.shared.release_refused((self.source.kind(), &header.key), pointers, &named).await {
            return (named, Err(error));
        }
        let reference = self.reference_of(&header.key);
        for named in &named {
            let is_held = self.shared.is_held(&reference, named);
            match self.shared.hold(&reference, named).await {
                Ok(()) if is_held => {}
                Ok(()) => self.note_write(header, &named.kind, &named.key),
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
        let client = self.shared.client.of_metadata();
        let key = |object: Value| {
            let text = |field: &str| object["metadata"][field].as_str();
            Some(ObjectKey::new(text("namespace"), text("name").unwrap_or_default()))
        };
        let keys = client.list_each(Target { kind, namespace, name: "" }, Selectors::default(), key).await?;
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
                let allowed = |header: &Header| header.annotations.get(ALLOW_FROM).map(str::to_owned);
                old.value == new.value
                    && before.uid == after.uid
                    && before.deleting == after.deleting
                    && allowed(before) == allowed(after)
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

    /// Waits until nothing needs an object that is to go. A ring of references, in which each would wait for the next, is broken.
    ///
    /// A ring is first said in the condition, and broken in the next pass.
    pub(super) async fn await_holders(&self, header: &Header, stored: &dyn Stored) -> Result<()> {
        let Err(held) = self.is_free(header) else { return Ok(()) };
        let Some(ring) = self.shared.ring_of(self.source.kind(), header) else { return Err(held) };
        if !ring.is_dead() {
            return match held {
                Error::Yield { reason, message } => yield_because(reason, format!("{message}, in {ring}")),
                held => Err(held),
            };
        }
        if self.has_said(header, stored, RING) {
            self.shared.break_ring(&ring).await?;
        }
        yield_because(RING, format!("it is in {ring}"))
    }

    fn has_said(&self, header: &Header, stored: &dyn Stored, reason: &str) -> bool {
        if !self.reconciler.owns_status() {
            return self.states.has_reported(header, reason);
        }
        let status = stored.status();
        status["conditions"].as_array().into_iter().flatten().any(|held| held["reason"] == reason)
    }

    /// Says who still needs an object that is to go: what names it; and what others have made of it, if it is deleted in the
    /// foreground. The collector waits for dependents that say so, and none of the operator's own does.
    fn is_free(&self, header: &Header) -> Result<()> {
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

    pub(super) fn named(&self, opened: &dyn Opened) -> Result<Vec<Pointer>> {
        if self.shared.targets.is_empty() {
            return Ok(Vec::new());
        }
        catch(Closure::Object, || opened.named()).map_err(Error::unexpected)
    }

    fn reference_of(&self, referrer: &ObjectKey) -> String {
        reference::id(self.source.kind(), referrer)
    }
}

/// The references from these objects of a kind.
fn all_of(kind: &Kind, referrers: impl IntoIterator<Item = ObjectKey>) -> BTreeSet<String> {
    referrers.into_iter().map(|key| reference::id(kind, &key)).collect()
}
