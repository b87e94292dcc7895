//! Defines `Verb`: a verb of an RBAC rule, such as `get`, that a tree node declares.

/// A verb of an RBAC rule, or opgen's own verb [`Reference`](Verb::Reference).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verb {
    /// Read one object by name.
    Get,
    /// Read all objects of a kind in a scope.
    List,
    /// Watch the changes of objects of a kind.
    Watch,
    /// Create an object.
    Create,
    /// Replace an object.
    Update,
    /// Patch an object; includes server-side apply.
    Patch,
    /// Delete one object by name.
    Delete,
    /// Delete all objects of a kind in a scope.
    DeleteCollection,
    /// Reference objects of a kind: wait for them, and keep them from being deleted. This verb is opgen's own; a role has `list`,
    /// `patch` and `watch` for it.
    Reference,
}

impl Verb {
    /// Returns the name of the verb in `access(...)`. It is also the name in a role, except for [`Verb::Reference`].
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::List => "list",
            Self::Watch => "watch",
            Self::Create => "create",
            Self::Update => "update",
            Self::Patch => "patch",
            Self::Delete => "delete",
            Self::DeleteCollection => "deletecollection",
            Self::Reference => "reference",
        }
    }

    /// Returns the RBAC verbs that the generated role contains for this verb.
    pub(crate) const fn rbac_verbs(&self) -> &'static [&'static str] {
        match self {
            Self::Get => &["get"],
            Self::List => &["list"],
            Self::Watch => &["watch"],
            Self::Create => &["create"],
            Self::Update => &["update"],
            Self::Patch => &["patch"],
            Self::Delete => &["delete"],
            Self::DeleteCollection => &["deletecollection"],
            Self::Reference => &["list", "patch", "watch"],
        }
    }
}
