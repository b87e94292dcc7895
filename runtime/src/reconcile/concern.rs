//! Which objects are meant, and which of their changes concern a pass.

use super::Loop;
use crate::{
    cache::{Encoded, Entry, Header},
    provisioner::{desired::digest, mark::OWNER},
};
use serde_json::Value;

impl Loop {
    /// Whether the change of an object is worth a pass. Writes of the status, our own above all, are not.
    pub(crate) fn is_news(&self, old: &Entry<Encoded>, new: &Entry<Encoded>) -> bool {
        let (before, after) = (&old.header, &new.header);
        before.uid != after.uid
            || before.deleting != after.deleting
            || self.is_held_differently(before, after)
            || self.is_meant(before) != self.is_meant(after)
            || self.wish(old) != self.wish(new)
    }

    /// Whether our finalizer came or went; once the object goes, all who hold it matter.
    fn is_held_differently(&self, before: &Header, after: &Header) -> bool {
        let ours = |header: &Header| header.finalizers.contains(&self.finalizer);
        ours(before) != ours(after) || after.deleting && before.finalizers != after.finalizers
    }

    /// Whether the controller is for this object.
    pub(super) fn is_meant(&self, header: &Header) -> bool {
        let labelled = self.labels.iter().all(|(name, value)| header.labels.get(name) == Some(value));
        labelled && (self.reconciler.owns_status() || !self.is_made_for_its_kind(header) && !self.is_home(header))
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
    pub(super) fn wish(&self, entry: &Entry<Encoded>) -> String {
        if self.reconciler.owns_status() {
            return entry.header.generation.to_string();
        }
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
