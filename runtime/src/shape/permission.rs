//! Defines `Access`: a permission on the API server that a tree node declares, as constant data.

use crate::{
    kind::Kind,
    shape::{location::SourceLocation, verb::Verb},
};
use opgen_api::bucket::KindInBucket;
use std::fmt;

/// A permission: verbs on a target.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    /// The objects or the URL that the permission covers.
    pub target: AccessTarget,
    /// The permitted verbs.
    pub verbs: &'static [Verb],
    /// The line that declares the permission.
    pub location: SourceLocation,
    /// Returns the bucket of the kind; `None` for a kind in Kubernetes.
    pub bucket: fn() -> Option<KindInBucket>,
}

/// The target of a permission: objects or a URL.
#[derive(Clone, Copy, Debug)]
pub enum AccessTarget {
    /// Objects of a kind.
    Objects {
        /// Returns the kind. It is a function because the names of a kind are not constants in `kube`.
        kind: fn() -> Kind,
        /// The subresource (`status`, `scale`, …), or `""` for the object itself.
        subresource: &'static str,
        /// The names of the objects; empty for all.
        names: &'static [&'static str],
        /// The only namespace of the permission; `None` for all namespaces that the operator watches.
        namespace: Option<&'static str>,
    },
    /// A non-resource URL of the API server (`/metrics`); a `*` at its end matches anything.
    Url(&'static str),
}

impl Access {
    /// Returns the permission that a node needs for the objects of a kind that it applies and owns.
    pub const fn applied(kind: fn() -> Kind) -> Self {
        // `get`: a live read before the first apply of a name, so that a foreign object is not overwritten, and one after a
        // deletion, to confirm that the object is gone.
        let verbs = &[Verb::Get, Verb::List, Verb::Watch, Verb::Create, Verb::Patch, Verb::Delete];
        Self::to(kind, verbs, SourceLocation::UNKNOWN)
    }

    /// Returns the permission for all objects of a kind in the namespaces that the operator watches.
    pub const fn to(kind: fn() -> Kind, verbs: &'static [Verb], location: SourceLocation) -> Self {
        let target = AccessTarget::Objects { kind, subresource: "", names: &[], namespace: None };
        Self { target, verbs, location, bucket: || None }
    }

    /// Returns the permission for a non-resource URL of the API server.
    pub const fn to_url(path: &'static str, verbs: &'static [Verb], location: SourceLocation) -> Self {
        Self { target: AccessTarget::Url(path), verbs, location, bucket: || None }
    }

    /// Sets the bucket of the kind. Default: the kind is in Kubernetes.
    pub const fn in_bucket(self, bucket: fn() -> Option<KindInBucket>) -> Self {
        Self { bucket, ..self }
    }

    /// Limits the permission to a subresource.
    pub const fn subresource(mut self, name: &'static str) -> Self {
        if let AccessTarget::Objects { subresource, .. } = &mut self.target {
            *subresource = name;
        }
        self
    }

    /// Limits the permission to the objects with these names.
    pub const fn named(mut self, object_names: &'static [&'static str]) -> Self {
        if let AccessTarget::Objects { names, .. } = &mut self.target {
            *names = object_names;
        }
        self
    }

    /// Limits the permission to one namespace.
    pub const fn within(mut self, name: &'static str) -> Self {
        if let AccessTarget::Objects { namespace, .. } = &mut self.target {
            *namespace = Some(name);
        }
        self
    }

    /// Returns whether the permission covers only the verbs `get` and `list` of objects, and no subresource.
    pub(crate) fn is_read(&self) -> bool {
        let is_object = matches!(self.target, AccessTarget::Objects { subresource: "", .. });
        is_object && self.verbs.iter().all(|verb| matches!(verb, Verb::Get | Verb::List))
    }

    /// Returns the kind of the objects; `None` for a URL.
    pub fn kind(&self) -> Option<Kind> {
        match self.target {
            AccessTarget::Objects { kind, .. } => Some(kind()),
            AccessTarget::Url(_) => None,
        }
    }
}

impl fmt::Display for Access {
    /// Writes the permission in the syntax of `access(...)`: `Secret("tls") in "kube-system": get, patch`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.target {
            AccessTarget::Url(path) => write!(f, "{path:?}")?,
            AccessTarget::Objects { kind, subresource, names, namespace } => {
                write!(f, "{}", kind())?;
                if !names.is_empty() {
                    write!(f, "({})", names.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", "))?;
                }
                if !subresource.is_empty() {
                    write!(f, "/{subresource}")?;
                }
                if let Some(namespace) = namespace {
                    write!(f, " in {namespace:?}")?;
                }
            }
        }
        write!(f, ": {}", self.verbs.iter().copied().map(Verb::as_str).collect::<Vec<_>>().join(", "))
    }
}
