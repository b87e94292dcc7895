//! What a spec names: held before it is used, waited for, and let go when it is no longer named.

use super::{Loop, Opened};
use crate::{
    cache::{Change, Entry, Header, ObjectKey},
    client::Target,
    error::{Error, Result, yield_because},
    kind::Kind,
    readiness::Readiness,
    reference::{self, Named, Targets},
};
use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

/// Who names what, so that a change of what is named wakes those that name it, and nobody else.
#[derive(Debug, Default)]
pub(crate) struct Referrers {
    named: HashMap<ObjectKey, Vec<(Kind, ObjectKey)>>,
    by_target: HashMap<(Kind, ObjectKey), BTreeSet<ObjectKey>>,
}

impl Referrers {
    fn set(&mut self, referrer: &ObjectKey, named: Vec<(Kind, ObjectKey)>) {
        if self.named.get(referrer).map_or(&[][..], Vec::as_slice) == named {
            return;
        }
        for old in self.named.remove(referrer).unwrap_or_default() {
            if let Some(referrers) = self.by_target.get_mut(&old) {
                referrers.remove(referrer);
                if referrers.is_empty() {
                    self.by_target.remove(&old);
                }
            }
        }
        for new in &named {
            self.by_target.entry(new.clone()).or_default().insert(referrer.clone());
        }
        if !named.is_empty() {
            self.named.insert(referrer.clone(), named);
        }
    }

    fn of(&self, kind: &Kind, target: &ObjectKey) -> Vec<ObjectKey> {
        self.by_target.get(&(kind.clone(), target.clone())).into_iter().flatten().cloned().collect()
    }
}

impl Loop {
    /// References every object that is named, then waits until each is ready.
    ///
    /// The first that can't be had speaks for all; those after it are referenced nevertheless (unikorn REF6).
    pub(super) async fn hold_named(&self, header: &Header, named: &[Named]) -> Result<()> {
        let of_each = named.iter().map(|named| (named.kind.clone(), named.key.clone())).collect();
        self.referrers.lock().set(&header.key, of_each);
        let reference = self.reference_of(&header.key);
        let mut outcome = Ok(());
        for named in named {
            match self.hold(&reference, named).await {
                Err(error @ Error::Unexpected(_)) => return Err(error),
                held => outcome = outcome.and(held),
            }
        }
        outcome?;
        named.iter().try_for_each(|named| self.is_ready(named))
    }

    async fn hold(&self, reference: &str, named: &Named) -> Result<()> {
        let (targets, Named { field, kind, key }) = (self.targets(&named.kind)?, named);
        targets.watched.readable()?;
        let Some(entry) = targets.get(key) else {
            return yield_because("ReferenceMissing", format!("{field}: there is no {kind} {key}"));
        };
        let object = &entry.header;
        if object.finalizers.contains(reference) {
            return Ok(());
        }
        if object.deleting {
            return yield_because("ReferenceDeleting", format!("{field}: {kind} {key} is being deleted"));
        }
        let target = Target { kind, namespace: key.namespace(), name: key.name() };
        let answer = self.shared.client.add_finalizer(target, object, reference, &self.shared.operator).await;
        targets.apply(answer?.to_string().as_bytes()).map(drop)
    }

    fn is_ready(&self, named: &Named) -> Result<()> {
        let Named { field, kind, key } = named;
        let entry = self.targets(kind)?.get(key);
        match entry.as_ref().map(|entry| &entry.value) {
            Some(Readiness::Ready) => Ok(()),
            // It is to go and waits for us: until then it is what it was when we took it.
            Some(_) if entry.as_ref().is_some_and(|entry| entry.header.deleting) => Ok(()),
            Some(Readiness::NotReady(why) | Readiness::HeldUp(why)) => {
                yield_because("ReferenceNotReady", format!("{field}: {kind} {key}: {why}"))
            }
            None => yield_because("ReferenceMissing", format!("{field}: there is no {kind} {key}")),
        }
    }

    /// Takes the reference away from every object that is not named (unikorn REF8, REF9).
    pub(super) async fn let_go_of_unnamed(&self, referrer: &ObjectKey, named: &[Named]) -> Result<()> {
        let reference = self.reference_of(referrer);
        for (kind, targets) in &self.shared.targets {
            for key in targets.with(&reference) {
                if !named.iter().any(|named| named.kind == *kind && named.key == key) {
                    self.release(targets, &key, &reference).await?;
                }
            }
        }
        Ok(())
    }

    /// That the object is gone is as good (unikorn REF7).
    async fn release(&self, targets: &Targets, key: &ObjectKey, reference: &str) -> Result<()> {
        let Some(entry) = targets.get(key) else { return Ok(()) };
        let (client, operator) = (&self.shared.client, &self.shared.operator);
        let target = Target { kind: &targets.watched.kind, namespace: key.namespace(), name: key.name() };
        match client.remove_finalizer(target, &entry.header, reference, operator).await {
            // The answer of the last finalizer's end is an object that is gone; the watch says so.
            Ok(Some(object)) if !entry.header.deleting => targets.apply(object.to_string().as_bytes()).map(drop),
            Ok(_) => Ok(()),
            Err(error) if error.is_not_found() => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Forgets whom an object named that is gone, and takes away what it left behind (unikorn REF15).
    pub(super) async fn release_vanished(&self, key: &ObjectKey) -> Result<()> {
        self.referrers.lock().set(key, Vec::new());
        self.let_go_of_unnamed(key, &[]).await
    }

    /// Takes away the references of objects that are gone, and went while nobody looked. The cache is not believed alone: the
    /// live list decides.
    pub(crate) async fn release_stuck(&self, namespace: Option<&str>) -> Result<()> {
        let kind = self.source.kind();
        let begin = reference::of_kind(kind, namespace.filter(|_| kind.namespaced));
        let known = |keys: &mut dyn Iterator<Item = ObjectKey>| keys.map(|key| reference::id(kind, &key)).collect();
        let cached: BTreeSet<String> = known(&mut self.source.objects().store().keys().into_iter());
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
        let live: BTreeSet<String> = known(&mut keys.collect::<Vec<_>>().into_iter());
        stuck.retain(|reference| !live.contains(reference));
        for reference in stuck {
            tracing::info!(%kind, reference, "released what an object that is gone had referenced");
            for targets in self.shared.targets.values() {
                for key in targets.with(&reference) {
                    self.release(targets, &key, &reference).await?;
                }
            }
        }
        Ok(())
    }

    /// Whom a change of an object concerns that others name.
    pub(crate) fn concerned(&self, kind: &Kind, change: &Change<Readiness>) -> Vec<ObjectKey> {
        let (old, new) = (change.old(), change.new_entry());
        let Some(key) = new.or(old).map(|entry| &entry.header.key) else { return Vec::new() };
        let same = match (old, new) {
            (Some(old), Some(new)) => {
                let (before, after) = (&old.header, &new.header);
                old.value == new.value && before.uid == after.uid && before.deleting == after.deleting
            }
            _ => false,
        };
        let mut referrers = self.referrers.lock().of(kind, key);
        if same {
            // A reference that somebody has taken away is given again.
            let lost = |referrer: &ObjectKey| {
                let reference = self.reference_of(referrer);
                let on = |entry: Option<&Arc<Entry<Readiness>>>| {
                    entry.is_some_and(|entry| entry.header.finalizers.contains(&reference))
                };
                on(old) && !on(new)
            };
            referrers.retain(lost);
        }
        referrers
    }

    /// Says who still names an object that is to go.
    pub(super) fn is_free(&self, header: &Header) -> Result<()> {
        let holders: Vec<_> = header.finalizers.iter().filter(|held| reference::is_reference(held)).collect();
        let [first, others @ ..] = &holders[..] else { return Ok(()) };
        let more = if others.is_empty() { String::new() } else { format!(" and {} more", others.len()) };
        yield_because("Referenced", format!("it is named by {}{more}", reference::said(first)))
    }

    pub(super) fn named(&self, opened: &dyn Opened) -> Vec<Named> {
        if self.shared.targets.is_empty() { Vec::new() } else { opened.named() }
    }

    fn reference_of(&self, referrer: &ObjectKey) -> String {
        reference::id(self.source.kind(), referrer)
    }

    fn targets(&self, kind: &Kind) -> Result<&Targets> {
        let targets = self.shared.targets.get(kind).map(AsRef::as_ref);
        targets
            .ok_or_else(|| Error::terminal("NotWatched", format!("{kind} is no kind that this controller references")))
    }
}
