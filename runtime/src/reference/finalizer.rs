//! Encodes a reference as the name of a finalizer, and decodes the referrer from it.

use crate::{kind::Kind, reference::ObjectKey};
use std::hash::Hash;
use std::hash::Hasher;

/// The prefix of the name part of every reference, which distinguishes it from other finalizers (unikorn REF4, R9). Names of
/// objects and namespaces contain no underscores.
const MARK: &str = "reference_";

/// The limit of the API server for the part of a finalizer after the slash (unikorn REF12).
const LONGEST: usize = 63;

/// Returns the finalizer of the references from an object: `<plural>.<group>/reference_<namespace>_<name>`, where kind, namespace
/// and name are those of the referrer.
///
/// No two objects have the same one (unikorn REF14). A name that is too long for a finalizer is shortened and ends in a hash
/// (REF12).
/// For a kind of the core group, the part before the slash is the plural alone.
pub(crate) fn id(kind: &Kind, key: &ObjectKey) -> String {
    let namespace = key.namespace().map(|namespace| format!("{namespace}_")).unwrap_or_default();
    format!("{}/{}", kind.full_name(), shortened(&format!("{MARK}{namespace}{}", key.name())))
}

/// Returns the prefix of the references from all objects of a kind, in one namespace or in all.
pub(crate) fn of_kind(kind: &Kind, namespace: Option<&str>) -> String {
    let namespace = namespace.map(|namespace| format!("{namespace}_")).unwrap_or_default();
    format!("{}/{MARK}{namespace}", kind.full_name())
}

/// Whether a finalizer is a reference.
pub(crate) fn is_reference(finalizer: &str) -> bool {
    finalizer.split_once('/').is_some_and(|(_, name)| name.starts_with(MARK))
}

/// Returns the text of a reference for messages: `webapps.demo.example.com shop/blue`.
pub(crate) fn describe(finalizer: &str) -> String {
    let (kind, name) = finalizer.split_once('/').unwrap_or((finalizer, ""));
    format!("{kind} {}", name.trim_start_matches(MARK).replacen('_', "/", 1))
}

/// Returns the referrer of a kind, as a reference names it; `None` if the reference contains a shortened name.
pub(crate) fn referrer(kind: &Kind, finalizer: &str) -> Option<ObjectKey> {
    let name = finalizer.strip_prefix(&kind.full_name())?.strip_prefix('/')?.strip_prefix(MARK)?;
    let (namespace, name) = if kind.namespaced { name.split_once('_')? } else { ("", name) };
    let key = ObjectKey::new(Some(namespace), name);
    // A shortened name ends in a hash, and encoding it again gives another finalizer.
    (name.len() + namespace.len() + MARK.len() + 1 < LONGEST && id(kind, &key) == finalizer).then_some(key)
}

fn shortened(name: &str) -> String {
    if name.len() <= LONGEST {
        return name.to_owned();
    }
    // FNV-1a: the finalizer is stored in the cluster, so its hash has to be stable across releases of Rust and opgen.
    let mut hash = Fnv(0xcbf2_9ce4_8422_2325);
    name.as_bytes().iter().for_each(|byte| byte.hash(&mut hash));
    let start: String = name.chars().take(LONGEST - 17).collect();
    format!("{}-{:016x}", start.trim_end_matches(['-', '.']), hash.finish())
}

struct Fnv(u64);

impl Hasher for Fnv {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kind::kind_of;
    use k8s_openapi::api::{
        core::v1::{ConfigMap, Namespace},
        networking::v1::Ingress,
    };

    fn key(namespace: &str, name: &str) -> ObjectKey {
        ObjectKey::namespaced(namespace, name)
    }

    #[test]
    fn reference_ref1_has_kind_group_namespace_and_name() {
        let reference = id(&kind_of::<Ingress>(), &key("shop", "foo"));
        assert_eq!(reference, "ingresses.networking.k8s.io/reference_shop_foo");
        assert_eq!(describe(&reference), "ingresses.networking.k8s.io shop/foo");
        assert_eq!(id(&kind_of::<Namespace>(), &ObjectKey::cluster("shop")), "namespaces/reference_shop");
    }

    #[test]
    fn reference_ref4_other_finalizers_are_no_references() {
        for foreign in ["foregroundDeletion", "kubernetes.io/pvc-protection", "reference.example.com/webapp", "unikorn"]
        {
            assert!(!is_reference(foreign), "{foreign}");
        }
        assert!(is_reference(&id(&kind_of::<ConfigMap>(), &key("a", "b"))));
    }

    #[test]
    fn reference_ref12_a_long_name_is_shortened_and_stays_unique() {
        let long = "n".repeat(250);
        let (one, other) =
            (id(&kind_of::<Ingress>(), &key("a", &long)), id(&kind_of::<Ingress>(), &key("a", &format!("{long}x"))));
        assert_ne!(one, other);
        for reference in [one, other] {
            let name = reference.split_once('/').map_or("", |(_, name)| name);
            assert!(name.len() <= 63 && name.ends_with(|c: char| c.is_ascii_alphanumeric()), "{name}");
        }
        assert_eq!(shortened(&"n".repeat(64)), format!("{}-{}", "n".repeat(46), "078b793dde92c425"));
    }

    #[test]
    fn reference_ref14_equal_names_in_two_namespaces_have_different_finalizers() {
        let kind = kind_of::<Ingress>();
        assert_ne!(id(&kind, &key("a", "web")), id(&kind, &key("b", "web")));
    }
}
