//! `Identity`: kind, key and uid of the object that a pass is for.

use crate::{
    cache::{ObjectKey, Uid},
    engine::owner_mark::Mark,
    event::Regarding,
    kind::Kind,
};

/// Which object a pass is about.
#[derive(Clone, Debug)]
pub(crate) struct Identity {
    pub(crate) kind: Kind,
    pub(crate) key: ObjectKey,
    pub(crate) uid: Uid,
}

impl Identity {
    pub(crate) fn name(&self) -> &str {
        self.key.name()
    }

    pub(crate) fn namespace(&self) -> Option<&str> {
        self.key.namespace()
    }

    /// Where what is made for it lives, unless that says otherwise: with it, or for a Namespace in it.
    pub(crate) fn home(&self) -> Option<&str> {
        let is_namespace = self.kind.group.is_empty() && self.kind.kind == "Namespace";
        if is_namespace { Some(self.name()) } else { self.namespace() }
    }

    /// Who the owner is, where no owner reference can say it.
    pub(crate) fn mark(&self) -> String {
        let (kind, uid) = (self.kind.full_name(), self.uid.to_string());
        let namespace = self.namespace().unwrap_or_default();
        Mark { kind: &kind, namespace, name: self.name(), uid: &uid }.to_string()
    }

    pub(crate) fn regarding(&self) -> Regarding {
        Regarding { kind: self.kind.clone(), key: self.key.clone(), uid: self.uid.clone() }
    }
}
