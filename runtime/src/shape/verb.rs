//! `Verb`: what a node may do with objects of a kind, as a role spells it.

/// A verb of the Kubernetes API, as a role spells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verb {
    /// Read one object by name.
    Get,
    /// Read all objects of a kind in a scope.
    List,
    /// Follow the changes of a kind.
    Watch,
    /// Make an object.
    Create,
    /// Replace an object.
    Update,
    /// Change an object in part; server-side apply is one.
    Patch,
    /// Remove one object by name.
    Delete,
    /// Remove all objects of a kind in a scope.
    DeleteCollection,
    /// Name objects of a kind, so that they are waited for and can't go: opgen's own, for which a role spells three others.
    Reference,
}

impl Verb {
    /// The verb as it is declared; but for [`Verb::Reference`], a role names it so, too.
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

    /// The verbs that a role spells for it.
    pub(crate) const fn in_roles(&self) -> &'static [&'static str] {
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
