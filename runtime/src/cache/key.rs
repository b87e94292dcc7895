//! The place of an object among those of its kind.

use std::{cmp::Ordering, fmt, sync::Arc};

/// Namespace and name of an object.
///
/// One shared allocation: a clone is a reference count, so keys travel freely between cache, queue and workers.
/// Ordered by namespace, then name; objects without a namespace come first. Shown as `namespace/name` or `name`.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct ObjectKey(
    /// `namespace/name`, with nothing before the slash for an object without a namespace. The name may hold more
    /// slashes (keys of a key-value bucket do), the namespace may not.
    Arc<str>,
);

impl ObjectKey {
    /// The key of `name` in `namespace`; an empty namespace is none.
    pub fn new(namespace: Option<&str>, name: &str) -> Self {
        Self([namespace.unwrap_or_default(), "/", name].concat().into())
    }

    /// The key of an object in a namespace.
    pub fn namespaced(namespace: &str, name: &str) -> Self {
        Self::new(Some(namespace), name)
    }

    /// The key of an object of a cluster-scoped kind.
    pub fn cluster(name: &str) -> Self {
        Self::new(None, name)
    }

    /// The namespace, or `None` for a cluster-scoped object.
    pub fn namespace(&self) -> Option<&str> {
        Some(self.parts().0).filter(|namespace| !namespace.is_empty())
    }

    /// The name.
    pub fn name(&self) -> &str {
        self.parts().1
    }

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
