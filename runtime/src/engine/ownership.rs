//! Whose an object is.

use crate::{
    cache::{Entry, Header, ObjectKey, OwnerReference},
    engine::{child::Child, desired::MANAGED_BY, owner_mark::Mark, pass::Core},
    error::Error,
    kind::Kind,
};

impl Core<'_> {
    /// A child whose owner reference somebody took away is ours by its marks, as long as nobody else claims it.
    pub(crate) fn is_ours(&self, entry: &Entry<Child>) -> bool {
        let marked = !entry.value.applied.is_empty() && entry.header.controller().is_none();
        marked || self.is_owner_of(&entry.header)
    }

    /// The owner before this one had the same name: its children are the garbage collector's, marked ones the sweep's.
    pub(crate) fn is_of_former_owner(&self, header: &Header) -> bool {
        let (kind, name, uid) = (&self.owner.kind, self.owner.name(), &self.owner.uid);
        let former = |owner: &OwnerReference| owner.kind() == kind.kind && owner.name() == name && owner.uid != *uid;
        let marked = |mark: Mark<'_>| {
            mark.kind == self.owner.kind.full_name() && mark.key() == self.owner.key && mark.uid() != *uid
        };
        header.controller().is_some_and(former) || Mark::of(header).is_some_and(marked)
    }

    /// Whether the watch shows it, now or soon.
    pub(crate) fn is_labelled(&self, header: &Header) -> bool {
        header.labels.get(MANAGED_BY) == Some(self.shared.operator.as_str())
    }

    pub(crate) fn is_owner_of(&self, header: &Header) -> bool {
        let uid = &self.owner.uid;
        header.owners.iter().any(|owner| &owner.uid == uid)
    }
}

/// The error for an object that is not the owner's, and that the node would or would not adopt.
pub(crate) fn foreign(kind: &Kind, key: &ObjectKey, header: &Header, adopts: bool) -> Error {
    let holder = match header.controller() {
        Some(owner) => format!("{} {}", owner.kind(), owner.name()),
        None => "somebody else".to_owned(),
    };
    let way_out = match adopts {
        true => "it can be adopted only once it has no controller",
        false => "delete or rename it, choose another name, or let the node adopt it",
    };
    Error::blocked("NotOwned", format!("{kind} {key} exists and belongs to {holder}; {way_out}"))
}
