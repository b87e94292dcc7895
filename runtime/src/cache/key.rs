//! `ObjectKey`: the namespace and the name of an object.

use std::{cmp::Ordering, fmt, sync::Arc};

/// The namespace and the name of an object.
///
/// A key is one shared allocation, so a clone only increments a reference count. Keys are ordered by namespace, then name;
/// cluster-scoped objects come first. The text form is `namespace/name` or `name`.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct ObjectKey(
    /// `namespace/name`, with nothing before the slash for a cluster-scoped object. The name may contain more slashes (keys of a
    /// key-value bucket do), the namespace may not.
    Arc<str>,
);

impl ObjectKey {
    /// Returns the key of `name` in `namespace`; an empty namespace counts as none.
    pub fn new(namespace: Option<&str>, name: &str) -> Self {
        Self([namespace.unwrap_or_default(), "/", name].concat().into())
    }

    /// Returns the key of a namespaced object.
    pub fn namespaced(namespace: &str, name: &str) -> Self {
        Self::new(Some(namespace), name)
    }

    /// Returns the key of a cluster-scoped object.
    pub fn cluster(name: &str) -> Self {
        Self::new(None, name)
    }

    /// Returns the namespace, or `None` for a cluster-scoped object.
    pub fn namespace(&self) -> Option<&str> {
        Some(self.parts().0).filter(|namespace| !namespace.is_empty())
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        self.parts().1
    }

    /// Returns the namespace and the name; the namespace of a cluster-scoped object is empty.
    fn parts(&self) -> (&str, &str) {
        self.0.split_once('/').unwrap_or(("", &self.0))
    }
}

impl Ord for ObjectKey {
    fn cmp(&self, other: &Self) -> Ordering {
        self.parts().cmp(&other.parts())
    }
}

impl PartialOrd for ObjectKey {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for ObjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.strip_prefix('/').unwrap_or(&self.0))
    }
}

impl fmt::Debug for ObjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::ObjectKey;

    #[test]
    fn key_keeps_namespace_and_name_apart() {
        let key = ObjectKey::namespaced("web", "app");
        assert_eq!((key.namespace(), key.name()), (Some("web"), "app"));
        assert_eq!(key.to_string(), "web/app");
    }

    #[test]
    fn key_without_namespace_shows_its_name_alone() {
        let key = ObjectKey::cluster("a/b");
        assert_eq!((key.namespace(), key.name()), (None, "a/b"));
        assert_eq!(key.to_string(), "a/b");
        assert_eq!(key, ObjectKey::namespaced("", "a/b"));
        assert_ne!(key, ObjectKey::namespaced("a", "b"));
    }

    #[test]
    fn keys_order_by_namespace_then_name() {
        let mut keys =
            [("a-b", "x"), ("a", "z"), ("", "q"), ("a", "b")].map(|(ns, name)| ObjectKey::namespaced(ns, name));
        keys.sort();
        assert_eq!(keys.map(|key| key.to_string()), ["q", "a/b", "a/z", "a-b/x"]);
    }
}
