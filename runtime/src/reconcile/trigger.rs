//! Decides which objects a controller selects, and which of their changes start a pass.

use crate::{
    cache::{Encoded, Entry, Header},
    engine::{desired::digest, owner_mark::OWNER_ANNOTATION},
    panic::{Closure, Panics},
    predicate::{Facts, Significance},
    reconcile::{change::RECONCILE_ANNOTATION, control_loop::Loop},
};
use serde_json::Value;

impl Loop {
    /// Returns the significance of an update of a primary: whether it starts a pass, and whether it ends the backoff. An own write has a
    /// low significance. While a pass over the object runs, this returns `Significance::None`; the result of the pass then includes the
    /// significance, because the versions of its own writes are known only at its end.
    pub(crate) fn significance_of(&self, old: &Entry<Encoded>, new: &Entry<Encoded>) -> Significance {
        let (header, significance) = (&new.header, self.significance_for_others(old, new));
        let (key, uid, version) = (&header.key, &header.uid, &header.resource_version);
        let significance =
            self.shared.own_write_events.classify(key, uid, version, significance, Significance::OwnWrite);
        self.apply_change(header, significance)
    }

    /// Returns the significance of an update of a primary if another client wrote it, and not the operator.
    fn significance_for_others(&self, old: &Entry<Encoded>, new: &Entry<Encoded>) -> Significance {
        let (before, after) = (&old.header, &new.header);
        // A re-created object, a deletion, a change of the selection, and the annotation that requests a pass always start a pass.
        let is_request = before.uid != after.uid
            || before.deleting != after.deleting
            || self.is_selected(before) != self.is_selected(after)
            || before.annotations.get(RECONCILE_ANNOTATION) != after.annotations.get(RECONCILE_ANNOTATION);
        match self.significance_by_predicate(old, new) {
            _ if is_request => Significance::Request,
            Significance::None if self.has_finalizer_change(before, after) => Significance::Finalizers,
            significance => significance,
        }
    }

    /// Returns the significance of an update of a primary by the controller's own predicate, or by the default predicate, which accepts
    /// changes of the wanted state (generation, or content of a foreign kind).
    fn significance_by_predicate(&self, old: &Entry<Encoded>, new: &Entry<Encoded>) -> Significance {
        let by_default = || match self.wanted_state(old) != self.wanted_state(new) {
            true => Significance::UserChange,
            false => Significance::None,
        };
        let Some(predicate) = &self.predicate else { return by_default() };
        let (before, mut panics) = (self.facts(old, &mut Panics::default()), Panics::default());
        let after = self.facts(new, &mut panics);
        self.panic_reports.report(&self.shared, self.source.kind(), &new.header, &panics);
        let passes = match (before, after) {
            (Some(before), Some(after)) => (predicate.passes)(&before, &after),
            // The predicate panicked, so the change may matter.
            _ if !panics.0.is_empty() => true,
            // A state can't be decoded.
            _ => return by_default(),
        };
        let is_by_user = || {
            old.header.generation != new.header.generation
                || old.header.labels != new.header.labels
                || self.content_digest(old) != self.content_digest(new)
        };
        match passes {
            true if is_by_user() => Significance::UserChange,
            true => Significance::Accepted,
            false => Significance::None,
        }
    }

    /// Returns the facts that the controller's own predicate compares; `None` without a predicate, for an object that can't be
    /// decoded, and if the predicate panics.
    fn facts(&self, entry: &Entry<Encoded>, panics: &mut Panics) -> Option<Facts> {
        let predicate = self.predicate.as_ref()?;
        self.recent_states.facts.get(entry, || {
            let json = entry.value.decode(self.source.objects().codec()).ok()?;
            panics.catch(Closure::Predicate, || (predicate.facts)(&json))?.ok()
        })
    }

    /// Returns whether the operator's finalizer was added or removed. On an object that is being torn down, a change of any finalizer
    /// counts, because the teardown waits for the finalizers of references.
    fn has_finalizer_change(&self, before: &Header, after: &Header) -> bool {
        let has_ours = |header: &Header| header.finalizers.contains(&self.finalizer);
        let is_ending = after.deleting || !self.is_selected(after);
        has_ours(before) != has_ours(after) || is_ending && before.finalizers != after.finalizers
    }

    /// Returns whether the controller reconciles the object: its labels match the selector. For a kind that the operator does not define,
    /// excludes the operator's own namespace, and objects that a primary of the same kind owns.
    pub(crate) fn is_selected(&self, header: &Header) -> bool {
        self.selection.matches_labels(header)
            && (self.reconciler.owns_status()
                || !self.is_owned_by_its_kind(header) && !self.is_operator_namespace(header))
    }

    /// Returns whether the object is the namespace of the operator, which must get no finalizer: the deletion of the namespace would end
    /// the operator and then wait forever for the operator to remove the finalizer.
    fn is_operator_namespace(&self, header: &Header) -> bool {
        let kind = self.source.kind();
        kind.group.is_empty() && kind.kind == "Namespace" && header.key.name() == self.shared.namespace
    }

    /// Returns whether the object is a child of an object of its own kind. If such a child were a primary, its tree would create
    /// the next child, without end.
    fn is_owned_by_its_kind(&self, header: &Header) -> bool {
        let kind = self.source.kind();
        let owned = header.controller().is_some_and(|owner| owner.is_of_kind(kind));
        // The owner mark, for an owner without an owner reference, begins with the full name of the owner's kind.
        let mark = header.annotations.get(OWNER_ANNOTATION).and_then(|mark| mark.split_once('/'));
        owned || mark.is_some_and(|(kind_name, _)| kind_name == kind.full_name())
    }

    /// Returns a text that changes when the wanted state of an object changes. For a kind that the operator defines, this is the
    /// generation, which the API server raises with each change of the spec. Another kind may have no generation, and its labels and
    /// annotations count as well, so there it is the digest of the content.
    fn wanted_state(&self, entry: &Entry<Encoded>) -> String {
        if self.reconciler.owns_status() {
            return entry.header.generation.to_string();
        }
        self.content_digest(entry)
    }

    /// Returns the digest of the parts of an object that users write: all but the status and the metadata other than labels and
    /// annotations.
    fn content_digest(&self, entry: &Entry<Encoded>) -> String {
        self.recent_states.content_digests.get(entry, || Some(self.compute_digest(entry))).unwrap_or_default()
    }

    /// Computes the digest of the parts of an object that users write: everything except the status and the metadata other than labels and
    /// annotations.
    fn compute_digest(&self, entry: &Entry<Encoded>) -> String {
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
