//! `Right`: a permission that a call needs, checked against the limits of its declaration.

use crate::{
    context::calls::{Target, Within},
    error::Error,
};

/// A right that a call uses, as it is declared.
pub(super) struct Right {
    pub(super) verb: &'static str,
    pub(super) part: &'static str,
    pub(super) within: &'static [Within],
}

impl Right {
    pub(super) fn to(verb: &'static str, within: &'static [Within]) -> Self {
        Self { verb, part: "", within }
    }

    pub(super) fn on(part: &'static str, verb: &'static str, within: &'static [Within]) -> Self {
        Self { verb, part, within }
    }

    pub(super) fn has(&self, target: &Target<'_>) -> bool {
        self.within.is_empty() || self.within.iter().any(|within| within.has(target.namespace, target.name))
    }

    /// Known before the call, so said in the words of the declaration.
    pub(super) fn refused(&self, target: &Target<'_>, elsewhere: Option<&str>, node: &str) -> Error {
        let Self { verb, part, .. } = self;
        let name = if target.name.is_empty() { String::new() } else { format!("({:?})", target.name) };
        let slash = if part.is_empty() { "" } else { "/" };
        let namespace = elsewhere.map_or(String::new(), |namespace| format!(" in {namespace:?}"));
        let entry = format!("{}{name}{slash}{part}{namespace}: {verb}", target.kind);
        let message =
            format!("{node} may not do that, since it is limited to others; add `{entry}` to its `access(...)`");
        Error::terminal("NotDeclared", message)
    }
}
