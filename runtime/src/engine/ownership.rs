//! Decides whether an object belongs to the owner that the pass reconciles, to an earlier owner of the same name, or to others.

use crate::{
    cache::{Entry, Header, ObjectKey, OwnerReference},
    engine::{
        applied_mark::AppliedMark,
        child::{Child, is_removed_owner},
        desired::MANAGED_BY_LABEL,
        identity::{Identity, OwnerNaming},
        owner_mark::OwnerMark,
        pass::PassCore,
    },
    error::Error,
    kind::Kind,
};
use std::borrow::Cow;

impl PassCore<'_> {
    /// Returns the owner in the form in which children of this kind refer to it. A child in a bucket refers to an owner in Kubernetes by an
    /// owner mark (an annotation) instead of an owner reference, since the garbage collector does not handle objects in buckets.
    pub(crate) fn owner_of(&self, child: &Kind) -> Cow<'_, Identity> {
        let needs_mark = self.owner.naming == OwnerNaming::Reference && self.shared.client.is_in_bucket(child);
        if needs_mark { Cow::Owned(self.owner.named_by(OwnerNaming::Mark)) } else { Cow::Borrowed(&self.owner) }
    }

    /// Returns whether a cached object is a child of the owner: its owner reference or owner mark names the owner, or it has the operator's
    /// digest annotation, no controller, and no other owner in this annotation. Objects of another owner can lack an owner reference as
    /// well: the garbage collector orphaned them, or a backup was restored without references.
    pub(crate) fn is_own_child(&self, entry: &Entry<Child>) -> bool {
        let header = &entry.header;
        let is_marked = !entry.applied_digest().is_empty() && header.controller().is_none();
        let names_other_owner = || AppliedMark::owner_of(header).is_some_and(|owner| owner != self.owner.uid);
        self.is_owner_of(header) || is_marked && !names_other_owner()
    }

    /// Returns whether an object belongs to an earlier owner of the same name and another uid. In the operator's cluster, nodes leave such
    /// an object alone: the garbage collector deletes it if it has an owner reference, and the orphan collector if it has an owner mark.
    pub(crate) fn is_of_former_owner(&self, header: &Header) -> bool {
        let (kind, name, uid) = (&self.owner.kind, self.owner.name(), &self.owner.uid);
        let is_former_owner =
            |owner: &OwnerReference| owner.is_of_kind(kind) && owner.name() == name && owner.uid != *uid;
        let names_former_owner = |mark: OwnerMark<'_>| {
            mark.kind == self.owner.kind.full_name() && mark.key() == self.owner.key && mark.uid() != *uid
        };
        header.controller().is_some_and(is_former_owner) || OwnerMark::of(header).is_some_and(names_former_owner)
    }

    /// Returns whether an object has the operator's label, so that the watch of its kind selects it.
    pub(crate) fn has_operator_label(&self, header: &Header) -> bool {
        header.labels.get(MANAGED_BY_LABEL) == Some(self.shared.operator.as_str())
    }

    /// Returns whether the owner references or the owner mark of an object name the owner of the pass.
    pub(crate) fn is_owner_of(&self, header: &Header) -> bool {
        header.owners.iter().any(|owner| owner.uid == self.owner.uid && !is_removed_owner(owner))
    }

    /// Returns whether the owner reference of an object names the owner of the pass in another version of its kind.
    pub(crate) fn has_other_owner_version(&self, header: &Header) -> bool {
        let (kind, uid) = (&self.owner.kind, &self.owner.uid);
        let mut own_references = header.owners.iter().filter(|owner| owner.uid == *uid && owner.is_of_kind(kind));
        own_references.any(|owner| owner.api_version() != kind.api_version())
    }

    /// Returns whether an object belongs to the owner of the pass, also if another client has removed the owner reference.
    pub(crate) fn has_been_owner_of(&self, header: &Header) -> bool {
        header.owners.iter().any(|owner| owner.uid == self.owner.uid)
    }
}

/// Returns the error of a node whose object exists and belongs to another owner. `adopts` is whether the node may adopt objects.
pub(crate) fn not_owned_error(kind: &Kind, key: &ObjectKey, header: &Header, adopts: bool) -> Error {
    let holder = match (header.controller(), AppliedMark::owner_of(header)) {
        (Some(owner), _) => format!("{} {}", owner.kind(), owner.name()),
        (None, Some(uid)) => format!("the owner with the uid {uid}"),
        (None, None) => "another client".to_owned(),
    };
    let way_out = match adopts {
        true => "it can be adopted only when it has no controller",
        false => "delete or rename it, choose another name, or let the node adopt it",
    };
    Error::blocked("NotOwned", format!("{kind} {key} exists and belongs to {holder}; {way_out}"))
}
