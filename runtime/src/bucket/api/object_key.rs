//! Converts the namespace and name of an object to the key of its entry in a bucket, and back.

use crate::{
    bucket::key::CLAIM_PREFIX,
    dns_name::{is_dns_label, is_dns_subdomain},
    kind::Kind,
};

/// The namespace and the name of an object. The namespace is empty for a cluster-scoped kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct KeyedName {
    pub(super) namespace: String,
    pub(super) name: String,
}

/// The meaning of a key of a bucket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum KeyMeaning<'a> {
    Object(KeyedName),
    /// The claim of the object with this key.
    Claim(&'a str),
    /// A key that is reserved for opgen (it begins with `_`) and has no meaning in this version.
    Reserved,
    /// A key that no object of the kind can have.
    Invalid,
}

impl KeyedName {
    /// Returns the namespace and name if they are valid for an object of the kind; `None` otherwise.
    pub(super) fn new(kind: &Kind, namespace: &str, name: &str) -> Option<Self> {
        let has_namespace = if kind.namespaced { is_dns_label(namespace) } else { namespace.is_empty() };
        let is_valid = has_namespace && is_dns_subdomain(name);
        is_valid.then(|| Self { namespace: namespace.to_owned(), name: name.to_owned() })
    }

    /// Returns the key: `namespace.name`, or the name of an object without a namespace.
    pub(super) fn key(&self) -> String {
        if self.namespace.is_empty() { self.name.clone() } else { format!("{}.{}", self.namespace, self.name) }
    }
}

/// Returns the key of the claim, which is the copy of an object with finalizers in a second entry, for the key of the object.
pub(super) fn claim_key(key: &str) -> String {
    format!("{CLAIM_PREFIX}{key}")
}

/// Returns whether a key is that of an object, that of a claim (the copy of an object with finalizers in a second entry), reserved for
/// opgen, or invalid.
pub(super) fn meaning<'a>(kind: &Kind, key: &'a str) -> KeyMeaning<'a> {
    if let Some(claimed) = key.strip_prefix(CLAIM_PREFIX) {
        return if object_name(kind, claimed).is_some() { KeyMeaning::Claim(claimed) } else { KeyMeaning::Reserved };
    }
    match object_name(kind, key) {
        Some(name) => KeyMeaning::Object(name),
        None if key.starts_with('_') => KeyMeaning::Reserved,
        None => KeyMeaning::Invalid,
    }
}

/// Splits the key of an object into the namespace and the name; `None` if no object of the kind can have the key. A namespace has no dots,
/// so the first dot ends it.
pub(super) fn object_name(kind: &Kind, key: &str) -> Option<KeyedName> {
    let (namespace, name) = if kind.namespaced { key.split_once('.')? } else { ("", key) };
    KeyedName::new(kind, namespace, name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kind::kind_of;
    use k8s_openapi::api::core::v1::{ConfigMap, Node};

    /// Returns the meaning of the key of this object.
    fn object(namespace: &str, name: &str) -> KeyMeaning<'static> {
        KeyMeaning::Object(KeyedName { namespace: namespace.to_owned(), name: name.to_owned() })
    }

    #[test]
    fn the_first_dot_of_a_key_ends_the_namespace() {
        let (namespaced, cluster) = (kind_of::<ConfigMap>(), kind_of::<Node>());
        assert_eq!(meaning(&namespaced, "shop.web"), object("shop", "web"));
        assert_eq!(meaning(&namespaced, "shop.web.example.com"), object("shop", "web.example.com"));
        assert_eq!(meaning(&cluster, "web.example.com"), object("", "web.example.com"));
        assert_eq!(meaning(&namespaced, "_claim.shop.web"), KeyMeaning::Claim("shop.web"));
        for key in ["web", "Shop.web", "shop.Web", "shop.", "a/b.c", "shop.a=b"] {
            assert_eq!(meaning(&namespaced, key), KeyMeaning::Invalid, "{key}");
        }
        for key in ["_claim.web", "_lock", "_shop.web"] {
            assert_eq!(meaning(&namespaced, key), KeyMeaning::Reserved, "{key}");
        }
    }

    #[test]
    fn a_name_becomes_the_key_that_leads_back_to_it() {
        for (kind, namespace, name) in
            [(kind_of::<ConfigMap>(), "shop", "web.a"), (kind_of::<Node>(), "", "node-1.example.com")]
        {
            let keyed = KeyedName::new(&kind, namespace, name).map(|name| name.key()).unwrap_or_default();
            assert_eq!(meaning(&kind, &keyed), object(namespace, name));
        }
        assert_eq!(KeyedName::new(&kind_of::<ConfigMap>(), "", "web"), None);
        assert_eq!(KeyedName::new(&kind_of::<Node>(), "shop", "web"), None);
    }
}
