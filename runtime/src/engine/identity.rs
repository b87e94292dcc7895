//! `Identity`: the kind, key and uid of the object that a pass reconciles, which owns the children.

use crate::{
    cache::{ObjectKey, Uid},
    engine::owner_mark::OwnerMark,
    event::EventObject,
    kind::Kind,
};

/// The object of a pass: the owner of all children that the pass applies.
#[derive(Clone, Debug)]
pub(crate) struct Identity {
    pub(crate) kind: Kind,
    pub(crate) key: ObjectKey,
    pub(crate) uid: Uid,
    pub(crate) naming: OwnerNaming,
}

/// How the children of a pass name their owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OwnerNaming {
    /// By an owner reference, where one is possible, else by a mark.
    Reference,
    /// By a mark, since the garbage collector must not delete them with the owner, or doesn't know the owner, which is in a bucket.
    Mark,
    /// By the mark of an owner in another cluster.
    RemoteMark,
}

/// The namespace of children in another cluster that name none.
pub(crate) const REMOTE_NAMESPACE: &str = "default";

impl Identity {
    pub(crate) fn name(&self) -> &str {
        self.key.name()
    }

    pub(crate) fn namespace(&self) -> Option<&str> {
        self.key.namespace()
    }

    /// Returns the same owner, named in another way.
    pub(crate) fn named_by(&self, naming: OwnerNaming) -> Self {
        Self { naming, ..self.clone() }
    }

    /// Returns whether the children are in another cluster.
    pub(crate) fn is_remote(&self) -> bool {
        self.naming == OwnerNaming::RemoteMark
    }

    /// Returns the namespace of children whose metadata has no namespace: the namespace of the owner, the owner itself if it is a
    /// Namespace, or `default` for children in another cluster.
    pub(crate) fn default_namespace(&self) -> Option<&str> {
        if self.is_remote() {
            return Some(REMOTE_NAMESPACE);
        }
        let is_namespace = self.kind.group.is_empty() && self.kind.kind == "Namespace";
        if is_namespace { Some(self.name()) } else { self.namespace() }
    }

    /// Returns the owner mark: the value of the annotation that names the owner on children that can't have an owner reference.
    pub(crate) fn mark(&self) -> String {
        let (kind, uid) = (self.kind.full_name(), self.uid.to_string());
        let namespace = self.namespace().unwrap_or_default();
        let is_remote = self.is_remote();
        OwnerMark { kind: &kind, namespace, name: self.name(), uid: &uid, is_remote }.to_string()
    }

    /// Returns the object as an event names it.
    pub(crate) fn event_object(&self) -> EventObject {
        EventObject { kind: self.kind.clone(), key: self.key.clone(), uid: self.uid.clone() }
    }
}
