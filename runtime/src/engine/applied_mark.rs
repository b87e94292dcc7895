//! Reads and writes the annotation on each child with the digest of its last applied state and the uid of its owner.
//!
//! Another client can remove the owner reference of a child. If the operator restarts before it has repaired that, the annotation
//! is the only trace of the owner. The annotation has a hash of the child's namespace and name. If a user copies the object to another
//! name or namespace, the hash does not match, and the copy is not treated as a child.

use crate::cache::{Header, ObjectKey, Uid};
use sha2::{Digest as _, Sha256};

/// The annotation on every child with the digest of its last applied state and the uid of its owner.
pub(crate) const APPLIED_ANNOTATION: &str = "opgen.dev/applied";

/// The parts of the annotation, whose value is `<digest>/<uid of the owner>/<hash of the child's key>`, and `/<hash of the paths>`
/// for an object that is written without apply, see [`plain`](crate::engine::plain).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AppliedMark<'a> {
    owner: &'a str,
    child: &'a str,
    paths_hash: Option<&'a str>,
}

impl<'a> AppliedMark<'a> {
    /// Parses the annotation of an object; `None` if it has none, or one that names no owner.
    fn of(header: &'a Header) -> Option<Self> {
        Self::parse(header.annotations.get(APPLIED_ANNOTATION)?)
    }

    /// Parses the value of the annotation; `None` if it is a digest without an owner, or without a hash of the child's key.
    fn parse(mark: &'a str) -> Option<Self> {
        let mut parts = mark.splitn(4, '/').skip(1);
        Some(Self { owner: parts.next()?, child: parts.next()?, paths_hash: parts.next() })
    }

    /// Returns the hash of the field paths in a value of the annotation; `None` if the object is always written by server-side apply.
    pub(crate) fn paths_hash(mark: &'a str) -> Option<&'a str> {
        Self::parse(mark)?.paths_hash
    }

    /// Returns the uid of the owner for whom an object was applied, by its annotation. `None` if the annotation names no owner, or if a
    /// user copied the object from a child: then the annotation has the hash of another namespace and name.
    pub(crate) fn owner_of(header: &'a Header) -> Option<Uid> {
        let mark = Self::of(header)?;
        (mark.child == hash_of_key(&header.key)).then(|| Uid::from(mark.owner))
    }

    /// Returns whether an object is a copy of a child: its annotation has the hash of another namespace and name.
    pub(crate) fn is_copy(header: &'a Header) -> bool {
        Self::of(header).is_some_and(|mark| mark.child != hash_of_key(&header.key))
    }
}

/// Returns the value of the annotation `opgen.dev/applied` for a child: the digest of its applied state, the uid of its owner, and the
/// hash of its namespace and name. `paths_hash`, the hash of its field paths, is only set for an object that is written without apply.
pub(crate) fn applied_mark(digest: &str, owner: &Uid, child: &ObjectKey, paths_hash: Option<&str>) -> String {
    let child = hash_of_key(child);
    match paths_hash {
        Some(paths_hash) => format!("{digest}/{owner}/{child}/{paths_hash}"),
        None => format!("{digest}/{owner}/{child}"),
    }
}

/// Returns a short hash of the namespace and the name of an object, the same in every build and release.
fn hash_of_key(key: &ObjectKey) -> String {
    let text = format!("{}/{}", key.namespace().unwrap_or_default(), key.name());
    Sha256::digest(text).iter().take(4).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Returns the header of an object in the namespace `shop` whose annotation has this value.
    fn header(name: &str, mark: &str) -> Header {
        let object =
            json!({"metadata": {"namespace": "shop", "name": name, "annotations": {APPLIED_ANNOTATION: mark}}});
        Header::parse(object.to_string().as_bytes()).unwrap()
    }

    #[test]
    fn a_mark_names_the_owner_of_its_child_and_of_no_copy() {
        let owner = Uid::from("6f2a");
        let mark = applied_mark("0f1e", &owner, &ObjectKey::namespaced("shop", "web"), Some("77aa"));
        assert_eq!(AppliedMark::paths_hash(&mark), Some("77aa"));
        let (child, copy) = (header("web", &mark), header("web-backup", &mark));
        assert_eq!((AppliedMark::owner_of(&child), AppliedMark::is_copy(&child)), (Some(owner), false));
        assert_eq!((AppliedMark::owner_of(&copy), AppliedMark::is_copy(&copy)), (None, true));
    }

    #[test]
    fn a_digest_alone_names_no_owner_and_is_valid_for_any_object() {
        for mark in ["0f1e", "0f1e/6f2a"] {
            let child = header("web", mark);
            assert_eq!((AppliedMark::owner_of(&child), AppliedMark::is_copy(&child)), (None, false), "{mark}");
        }
    }
}
