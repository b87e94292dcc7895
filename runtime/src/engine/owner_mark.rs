//! Reads and writes the annotation that names the owner of a child where no owner reference is allowed.
//!
//! An owner reference can't name an owner in another namespace, nor a namespaced owner of a cluster-scoped child, nor one in a bucket: the
//! garbage collector would delete the child, since it doesn't know the owner.

use crate::{
    cache::{Header, ObjectKey, Uid},
    engine::applied_mark::AppliedMark,
};
use std::fmt;

/// The annotation with the owner mark.
pub(crate) const OWNER_ANNOTATION: &str = "opgen.dev/owner";

/// The end of a mark whose owner is in another cluster.
const REMOTE: &str = "remote";

/// An owner, as the annotation has it: `<plural>.<group>/<namespace>/<name>/<uid>`, with `/remote` at the end for an owner in another
/// cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OwnerMark<'a> {
    /// The full name of the owner's kind.
    pub(crate) kind: &'a str,
    /// Empty for a cluster-scoped owner.
    pub(crate) namespace: &'a str,
    pub(crate) name: &'a str,
    pub(crate) uid: &'a str,
    /// Whether the owner is in another cluster than the object. An operator of the same name in the cluster of the object must not
    /// take the object for an orphan.
    pub(crate) is_remote: bool,
}

impl<'a> OwnerMark<'a> {
    /// Parses the value of the annotation; `None` if it does not have the form of a mark.
    pub(crate) fn parse(text: &'a str) -> Option<Self> {
        let mut parts = text.split('/');
        let (kind, namespace, name, uid) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        let (suffix, rest) = (parts.next(), parts.next());
        let has_valid_end = rest.is_none() && suffix.is_none_or(|suffix| suffix == REMOTE);
        let is_valid = has_valid_end && !kind.is_empty() && !name.is_empty() && !uid.is_empty();
        is_valid.then_some(Self { kind, namespace, name, uid, is_remote: suffix.is_some() })
    }

    /// Returns the mark in the annotations of an object; `None` if there is none, or an invalid one, and for a copy of a child.
    pub(crate) fn of(header: &'a Header) -> Option<Self> {
        header.annotations.get(OWNER_ANNOTATION).filter(|_| !AppliedMark::is_copy(header)).and_then(Self::parse)
    }

    pub(crate) fn key(&self) -> ObjectKey {
        ObjectKey::new(Some(self.namespace), self.name)
    }

    pub(crate) fn uid(&self) -> Uid {
        Uid::from(self.uid)
    }
}

impl fmt::Display for OwnerMark<'_> {
    /// Writes the mark as the annotation has it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}/{}", self.kind, self.namespace, self.name, self.uid)?;
        if self.is_remote { write!(f, "/{REMOTE}") } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_read_as_it_was_written() {
        for text in [
            "webapps.demo.example.com/shop/web/6f2a",
            "regions.demo.example.com//north/6f2a",
            "webapps.demo.example.com/shop/web/6f2a/remote",
        ] {
            assert_eq!(OwnerMark::parse(text).map(|mark| mark.to_string()).as_deref(), Some(text));
        }
    }

    #[test]
    fn an_invalid_text_is_no_mark() {
        for text in
            ["", "webapps", "webapps.demo.example.com/shop/web", "a/b/c/", "a/b/c/d/e", "a/b/c/d/remote/e", "/b/c/d"]
        {
            assert_eq!(OwnerMark::parse(text), None, "{text}");
        }
    }
}
