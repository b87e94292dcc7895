//! Permissions as data.

use crate::{
    kind::Kind,
    shape::{location::SourceLocation, verb::Verb},
};
use std::fmt;

/// One permission: what is reached, and what is done with it.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    /// What is reached.
    pub target: AccessTarget,
    /// What is done with it.
    pub verbs: &'static [Verb],
    /// Where it is asked for.
    pub location: SourceLocation,
}

/// What a permission reaches.
#[derive(Clone, Copy, Debug)]
pub enum AccessTarget {
    /// Objects of a kind.
    Objects {
        /// The kind; a function, since a kind's names are not constants in `kube`.
        kind: fn() -> Kind,
        /// The subresource (`status`, `scale`, …), or `""` for the object itself.
        subresource: &'static str,
        /// The objects by name; empty for all.
        names: &'static [&'static str],
        /// The namespace, where it is one and the same; `None` for where the operator watches.
        namespace: Option<&'static str>,
    },
    /// A path of the API server that is no resource (`/metrics`); a `*` at its end stands for anything.
    Url(&'static str),
}

impl Access {
    /// What a node does with the objects that it applies and owns.
    pub(crate) const fn applied(kind: fn() -> Kind) -> Self {
        // `get`: before the first apply of a name, to leave a stranger's object alone; and before its end is believed.
        let verbs = &[Verb::Get, Verb::List, Verb::Watch, Verb::Create, Verb::Patch, Verb::Delete];
        Self::to(kind, verbs, SourceLocation::UNKNOWN)
    }

    /// Verbs on all objects of a kind, where the operator watches.
    pub const fn to(kind: fn() -> Kind, verbs: &'static [Verb], location: SourceLocation) -> Self {
        Self { target: AccessTarget::Objects { kind, subresource: "", names: &[], namespace: None }, verbs, location }
    }

    /// Verbs on a path of the API server that is no resource.
    pub const fn to_url(path: &'static str, verbs: &'static [Verb], location: SourceLocation) -> Self {
        Self { target: AccessTarget::Url(path), verbs, location }
    }

    /// The same for a subresource.
    pub const fn subresource(mut self, of: &'static str) -> Self {
        if let AccessTarget::Objects { subresource, .. } = &mut self.target {
            *subresource = of;
        }
        self
    }

    /// The same for these objects alone.
    pub const fn named(mut self, only: &'static [&'static str]) -> Self {
        if let AccessTarget::Objects { names, .. } = &mut self.target {
            *names = only;
        }
        self
    }

    /// The same in this namespace alone.
    pub const fn within(mut self, only: &'static str) -> Self {
        if let AccessTarget::Objects { namespace, .. } = &mut self.target {
            *namespace = Some(only);
        }
        self
    }

    /// The kind whose objects are reached.
    pub fn kind(&self) -> Option<Kind> {
        match self.target {
            AccessTarget::Objects { kind, .. } => Some(kind()),
            AccessTarget::Url(_) => None,
        }
    }
}

/// As it is declared: `Secret("tls") in "kube-system": get, patch`.
impl fmt::Display for Access {
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
