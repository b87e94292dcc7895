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
    pub(crate) fn on_object(verb: &'static str, within: &'static [Within]) -> Self {
        Self { verb, part: "", within }
    }

    pub(super) fn on_subresource(part: &'static str, verb: &'static str, within: &'static [Within]) -> Self {
        Self { verb, part, within }
    }

    /// Returns whether the limits of the declaration include an object.
    pub(crate) fn allows(&self, target: &Target<'_>) -> bool {
        self.within.is_empty() || self.within.iter().any(|within| within.has(target.namespace, target.name))
    }

    /// Returns the error for an object outside the limits. `elsewhere` is its namespace, if that is not the default one of the
    /// calls.
    pub(super) fn denial_error(&self, target: &Target<'_>, elsewhere: Option<&str>, node: &str) -> Error {
        Error::terminal("NotDeclared", self.denial_message(target, elsewhere, node))
    }

    /// Returns the sentence of [`Permission::denial_error`].
    pub(crate) fn denial_message(&self, target: &Target<'_>, elsewhere: Option<&str>, node: &str) -> String {
        let Self { verb, part, .. } = self;
        let name = if target.name.is_empty() { String::new() } else { format!("({:?})", target.name) };
        let slash = if part.is_empty() { "" } else { "/" };
        let namespace = elsewhere.map_or(String::new(), |namespace| format!(" in {namespace:?}"));
        let entry = format!("{}{name}{slash}{part}{namespace}: {verb}", target.kind);
        format!("{node} has no access to this object; add `{entry}` to its `access(...)`")
    }
}
