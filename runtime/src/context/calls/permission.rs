//! Checks that the object of an API call has a name and a namespace that the `access(...)` declaration of the calling tree node allows.

use crate::{
    context::calls::{Target, Within},
    error::Error,
};

/// A right on objects or a subresource, as the node declares it.
pub(crate) struct Permission {
    pub(crate) verb: &'static str,
    /// The subresource; empty for the object itself.
    pub(crate) part: &'static str,
    /// The names and namespaces that the declaration is limited to; empty without a limit.
    pub(crate) within: &'static [Within],
}

impl Permission {
    /// Returns the right to a verb on objects.
    pub(crate) fn on_object(verb: &'static str, within: &'static [Within]) -> Self {
        Self { verb, part: "", within }
    }

    /// Returns the right to a verb on the subresource `part` of objects.
    pub(super) fn on_subresource(part: &'static str, verb: &'static str, within: &'static [Within]) -> Self {
        Self { verb, part, within }
    }

    /// Returns whether the names and namespaces that the declaration is limited to include the target.
    pub(crate) fn allows(&self, target: &Target<'_>) -> bool {
        self.within.is_empty() || self.within.iter().any(|within| within.has(target.namespace, target.name))
    }

    /// Returns the terminal error of a call for an object that the declaration does not include. `other_namespace` is the namespace of the
    /// object if that is not the default namespace of the node's calls.
    pub(super) fn denial_error(&self, target: &Target<'_>, other_namespace: Option<&str>, node: &str) -> Error {
        Error::terminal("NotDeclared", self.denial_message(target, other_namespace, node))
    }

    /// Returns the message of [`Permission::denial_error`], which tells the user what to add to `access(...)`, such as
    /// `Pod("web-0")/status in "shop": get`.
    pub(crate) fn denial_message(&self, target: &Target<'_>, other_namespace: Option<&str>, node: &str) -> String {
        let Self { verb, part: subresource, .. } = self;
        let name = if target.name.is_empty() { String::new() } else { format!("({:?})", target.name) };
        let slash = if subresource.is_empty() { "" } else { "/" };
        let namespace = other_namespace.map_or(String::new(), |namespace| format!(" in {namespace:?}"));
        let entry = format!("{}{name}{slash}{subresource}{namespace}: {verb}", target.kind);
        format!("{node} has no access to this object; add `{entry}` to its `access(...)`")
    }
}
