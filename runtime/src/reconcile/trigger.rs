//! Which objects are meant, and which of their changes concern a pass.

use crate::{
    cache::{Encoded, Entry, Header},
    engine::{desired::digest, owner_mark::OWNER},
    panic::{Closure, Panics},
    predicate::{Facts, Worth},
    reconcile::{change::RECONCILE, control_loop::Loop},
};
use serde_json::Value;

impl Loop {
    /// What a change of a primary is worth, and what is forgotten by it. During a pass over the object it is nothing, and the end of
    /// the pass says it.
    pub(crate) fn worth(&self, old: &Entry<Encoded>, new: &Entry<Encoded>) -> Worth {
        let (header, worth) = (&new.header, self.worth_if_of_others(old, new));
        let worth = self.shared.echoes.show(&header.key, &header.uid, &header.resource_version, worth, Worth::Own);
        self.heed(header, worth)
    }

    /// What a change is worth if it is no own write.
    fn worth_if_of_others(&self, old: &Entry<Encoded>, new: &Entry<Encoded>) -> Worth {
        let (before, after) = (&old.header, &new.header);
        let is_request = before.uid != after.uid
            || before.deleting != after.deleting
            || self.is_meant(before) != self.is_meant(after)
            || before.annotations.get(RECONCILE) != after.annotations.get(RECONCILE);
        match self.wants_differently(old, new) {
            _ if is_request => Worth::Request,
            Worth::Nothing if self.is_held_differently(before, after) => Worth::Finalizers,
            worth => worth,
        }
    }

    fn wants_differently(&self, old: &Entry<Encoded>, new: &Entry<Encoded>) -> Worth {
        let worth_if = |is_wish: bool, else_: Worth| if is_wish { Worth::Wish } else { else_ };
        let Some(news) = &self.news else { return worth_if(self.wish(old) != self.wish(new), Worth::Nothing) };
        let (before, mut panics) = (self.facts(old, &mut Panics::default()), Panics::default());
        let after = self.facts(new, &mut panics);
        self.reported.report(&self.shared, self.source.kind(), &new.header, &panics);
        let is_news = match (before, after) {
            (Some(before), Some(after)) => (news.passes)(&before, &after),
            // Nobody can know, so it may be.
            _ if !panics.0.is_empty() => true,
            _ => return worth_if(self.wish(old) != self.wish(new), Worth::Nothing),
        };
        let is_wish = || {
            old.header.generation != new.header.generation
                || old.header.labels != new.header.labels
                || self.content(old) != self.content(new)
        };
        if is_news { worth_if(is_wish(), Worth::News) } else { Worth::Nothing }
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
    fn is_held_differently(&self, before: &Header, after: &Header) -> bool {
        let ours = |header: &Header| header.finalizers.contains(&self.finalizer);
        let goes = after.deleting || !self.is_meant(after);
        ours(before) != ours(after) || goes && before.finalizers != after.finalizers
    }

    /// Whether the controller is for this object.
    pub(crate) fn is_meant(&self, header: &Header) -> bool {
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

    /// What is wanted of an object, to be compared. The server counts its changes for kinds that are built for it; those of
    /// others may not be counted, and mean their labels and annotations, too.
    fn wish(&self, entry: &Entry<Encoded>) -> String {
        if self.reconciler.owns_status() {
            return entry.header.generation.to_string();
        }
        self.content(entry)
    }

    /// Digest of all that people write of an object: spec, labels and annotations.
    fn content(&self, entry: &Entry<Encoded>) -> String {
        self.recent.wishes.get(entry, || Some(self.digest_of(entry))).unwrap_or_default()
    }

    fn digest_of(&self, entry: &Entry<Encoded>) -> String {
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
