//! Which objects are meant, and which of their changes concern a pass.

use super::{Loop, recent::Recent};
use crate::{
    cache::{Encoded, Entry, Header, ObjectKey},
    managed::Managed,
    panic::{Closure, Panics},
    predicate::{Facts, Passes, Predicate},
    provisioner::{desired::digest, mark::OWNER},
};
use serde_json::Value;
use std::{fmt, sync::Arc};

/// The annotation that asks for a pass at once: any value that it didn't have before, for example the time.
///
/// It asks for no more than a pass: nothing is written that wouldn't be, a paused object stays alone, and one that was parked
/// until somebody does something is tried again. `opgen reconcile KIND/NAME` sets it.
pub const RECONCILE: &str = "opgen.dev/reconcile";

/// The predicate of the primaries with its type gone.
#[derive(Clone)]
pub struct News {
    facts: Read,
    passes: Passes,
}

type Read = Arc<dyn Fn(&[u8]) -> serde_json::Result<Facts> + Send + Sync>;

impl News {
    pub(crate) fn new<K: Managed>(predicate: Predicate<K>) -> Self {
        let read = predicate.clone();
        let facts = move |json: &[u8]| {
            let object: K = serde_json::from_slice(json)?;
            Ok(read.facts(object.metadata(), Some(&object)))
        };
        Self { facts: Arc::new(facts), passes: Arc::new(move |old, new| predicate.passes(old, new)) }
    }
}

impl fmt::Debug for News {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("News")
    }
}

/// What was found out of the last states of objects.
#[derive(Debug, Default)]
pub(super) struct LastStates {
    facts: Recent<Facts>,
    wishes: Recent<String>,
}

impl LastStates {
    pub(super) fn forget(&self, key: &ObjectKey) {
        self.facts.forget(key);
        self.wishes.forget(key);
    }
}

impl Loop {
    /// Whether a user changed what is wanted of an object, or asked for a pass. Writes of the status, our own above all, are no
    /// such change.
    pub(crate) fn is_request(&self, old: &Entry<Encoded>, new: &Entry<Encoded>) -> bool {
        let (before, after) = (&old.header, &new.header);
        before.uid != after.uid
            || before.deleting != after.deleting
            || self.is_meant(before) != self.is_meant(after)
            || before.annotations.get(RECONCILE) != after.annotations.get(RECONCILE)
            || self.wants_differently(old, new)
    }

    fn wants_differently(&self, old: &Entry<Encoded>, new: &Entry<Encoded>) -> bool {
        let Some(news) = &self.news else { return self.wish(old) != self.wish(new) };
        let (before, mut panics) = (self.facts(old, &mut Panics::default()), Panics::default());
        let after = self.facts(new, &mut panics);
        self.reported.report(&self.shared, self.source.kind(), &new.header, &panics);
        match (before, after) {
            (Some(before), Some(after)) => (news.passes)(&before, &after),
            // Nobody can know, so it may be.
            _ if !panics.0.is_empty() => true,
            _ => self.wish(old) != self.wish(new),
        }
    }

    /// What the controller's own predicate looks at; `None` without one, for an object that doesn't have the form of its kind, and
    /// where it panics.
    fn facts(&self, entry: &Entry<Encoded>, panics: &mut Panics) -> Option<Facts> {
        let news = self.news.as_ref()?;
        self.recent.facts.get(entry, || {
            let json = entry.value.decode(self.source.objects().codec()).ok()?;
            panics.catch(Closure::Predicate, || (news.facts)(&json))?.ok()
        })
    }

    /// Whether our finalizer came or went; once the object is to go, all who hold it matter.
    pub(crate) fn is_held_differently(&self, before: &Header, after: &Header) -> bool {
        let ours = |header: &Header| header.finalizers.contains(&self.finalizer);
        let goes = after.deleting || !self.is_meant(after);
        ours(before) != ours(after) || goes && before.finalizers != after.finalizers
    }

    /// Whether the controller is for this object.
    pub(super) fn is_meant(&self, header: &Header) -> bool {
        self.selection.has_labels(header)
            && (self.reconciler.owns_status() || !self.is_made_for_its_kind(header) && !self.is_home(header))
    }

    /// The namespace that the operator runs in: deleted, it would take the operator with it, and wait for it for ever.
    fn is_home(&self, header: &Header) -> bool {
        let kind = self.source.kind();
        kind.group.is_empty() && kind.kind == "Namespace" && header.key.name() == self.shared.namespace
    }

    /// Whether an object was made for one of its own kind. Where all objects of a kind are primaries, what a tree makes of the
    /// same kind would have a tree itself, without end.
    fn is_made_for_its_kind(&self, header: &Header) -> bool {
        let kind = self.source.kind();
        let owned = header.controller().is_some_and(|owner| {
            let group = owner.api_version().split_once('/').map_or("", |(group, _)| group);
            owner.kind() == kind.kind && group == kind.group
        });
        let marked = header.annotations.get(OWNER).and_then(|mark| mark.split_once('/'));
        owned || marked.is_some_and(|(name, _)| name == kind.full_name())
    }

    /// The wanted state of an object as a text, with the last request for a pass: it changes when a user acts.
    pub(super) fn wanted(&self, entry: &Entry<Encoded>) -> String {
        let asked = entry.header.annotations.get(RECONCILE).unwrap_or_default();
        match self.facts(entry, &mut Panics::default()) {
            Some(facts) => format!("{facts:?} {asked}"),
            None => format!("{} {asked}", self.wish(entry)),
        }
    }

    /// What is wanted of an object, to be compared. The server counts its changes for kinds that are built for it; those of
    /// others may not be counted, and mean their labels and annotations, too.
    fn wish(&self, entry: &Entry<Encoded>) -> String {
        if self.reconciler.owns_status() {
            return entry.header.generation.to_string();
        }
        self.recent.wishes.get(entry, || Some(self.wish_of_foreign(entry))).unwrap_or_default()
    }

    fn wish_of_foreign(&self, entry: &Entry<Encoded>) -> String {
        let json = entry.value.decode(self.source.objects().codec()).unwrap_or_default();
        let mut object: Value = serde_json::from_slice(&json).unwrap_or_default();
        if let Some(object) = object.as_object_mut() {
            object.remove("status");
        }
        if let Some(metadata) = object["metadata"].as_object_mut() {
            metadata.retain(|field, _| matches!(field.as_str(), "labels" | "annotations"));
        }
        digest(&object)
    }
}
