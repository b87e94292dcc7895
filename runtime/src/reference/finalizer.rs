//! Encodes a reference from an object as the name of a finalizer, and decodes the key of the referring object from this name.

use crate::{kind::Kind, reference::ObjectKey};
use std::hash::Hash;
use std::hash::Hasher;

/// The prefix of the name part of every reference, which distinguishes it from other finalizers. Names of
/// objects and namespaces contain no underscores.
const NAME_PREFIX: &str = "reference_";

/// The limit of the API server for the part of a finalizer after the slash.
const MAX_NAME_LENGTH: usize = 63;

/// The length of the hash at the end of a shortened name: a dash and 16 hexadecimal digits.
const HASH_LENGTH: usize = 17;

/// Returns the finalizer that a referrer sets on each object that it references: `<plural>.<group>/reference_<namespace>_<name>`, where
/// kind, namespace and name are those of the referrer.
///
/// Each referrer has a different finalizer. A name that is too long for a finalizer is shortened and ends in a hash. For a kind of the
/// core group, the part before the slash is the plural alone.
pub(crate) fn finalizer_name(kind: &Kind, key: &ObjectKey) -> String {
    let namespace = key.namespace().map(|namespace| format!("{namespace}_")).unwrap_or_default();
    format!("{}/{}", kind.full_name(), shorten(&format!("{NAME_PREFIX}{namespace}{}", key.name())))
}

/// Returns the prefix of the reference finalizers of all referrers of a kind, in one namespace or, for `None`, in all.
pub(crate) fn finalizer_prefix(kind: &Kind, namespace: Option<&str>) -> String {
    let namespace = namespace.map(|namespace| format!("{namespace}_")).unwrap_or_default();
    format!("{}/{NAME_PREFIX}{namespace}", kind.full_name())
}

/// Returns whether a finalizer is one of a reference, which [`finalizer_name`] has returned.
pub(crate) fn is_reference(finalizer: &str) -> bool {
    finalizer.split_once('/').is_some_and(|(_, name)| name.starts_with(NAME_PREFIX))
}

/// Describes the referrer in a reference finalizer for messages: `webapps.demo.example.com shop/blue`.
pub(crate) fn describe(finalizer: &str) -> String {
    let (kind, name) = finalizer.split_once('/').unwrap_or((finalizer, ""));
    format!("{kind} {}", name.trim_start_matches(NAME_PREFIX).replacen('_', "/", 1))
}

/// Decodes the key of the referrer from a reference finalizer. Returns `None` if the referrer is not of this kind, or if the name in the
/// finalizer may be a shortened one, which does not contain the whole key.
pub(crate) fn referrer(kind: &Kind, finalizer: &str) -> Option<ObjectKey> {
    let name = finalizer.strip_prefix(&kind.full_name())?.strip_prefix('/')?.strip_prefix(NAME_PREFIX)?;
    let (namespace, name) = if kind.namespaced { name.split_once('_')? } else { ("", name) };
    let key = ObjectKey::new(Some(namespace), name);
    // The comparison of the finalizers rejects malformed names.
    (!ends_in_hash(name) && finalizer_name(kind, &key) == finalizer).then_some(key)
}

/// Returns whether a name ends as [`shorten`] ends it: in a dash and 16 hexadecimal digits.
fn ends_in_hash(name: &str) -> bool {
    let is_digit = |byte: &u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(byte);
    let start_of_end = name.len().checked_sub(HASH_LENGTH);
    let end = start_of_end.and_then(|start| name.as_bytes().get(start..)).and_then(<[u8]>::split_first);
    end.is_some_and(|(dash, digits)| *dash == b'-' && digits.iter().all(is_digit))
}

/// Returns a name of at most [`MAX_NAME_LENGTH`] bytes: a longer one is cut, and ends in a hash of the whole name.
fn shorten(name: &str) -> String {
    if name.len() <= MAX_NAME_LENGTH {
        return name.to_owned();
    }
    // FNV-1a from its offset basis: the finalizer is stored in the cluster, so its hash has to be stable across releases of Rust and opgen.
    let mut hash = Fnv(0xcbf2_9ce4_8422_2325);
    name.as_bytes().iter().for_each(|byte| byte.hash(&mut hash));
    let start: String = name.chars().take(MAX_NAME_LENGTH - HASH_LENGTH).collect();
    format!("{}-{:016x}", start.trim_end_matches(['-', '.']), hash.finish())
}

/// The hash function FNV-1a with 64 bits.
struct Fnv(u64);

impl Hasher for Fnv {
    fn finish(&self) -> u64 {
        self.0
    }

    /// Adds bytes to the hash by FNV-1a: an XOR with each byte, and then a multiplication by the FNV prime.
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
        let reference = finalizer_name(&kind_of::<Ingress>(), &key("shop", "foo"));
        assert_eq!(reference, "ingresses.networking.k8s.io/reference_shop_foo");
        assert_eq!(describe(&reference), "ingresses.networking.k8s.io shop/foo");
        assert_eq!(finalizer_name(&kind_of::<Namespace>(), &ObjectKey::cluster("shop")), "namespaces/reference_shop");
    }

    #[test]
    fn reference_ref4_other_finalizers_are_no_references() {
        for foreign in ["foregroundDeletion", "kubernetes.io/pvc-protection", "reference.example.com/webapp", "unikorn"]
        {
            assert!(!is_reference(foreign), "{foreign}");
        }
        assert!(is_reference(&finalizer_name(&kind_of::<ConfigMap>(), &key("a", "b"))));
    }

    #[test]
    fn reference_ref12_a_long_name_is_shortened_and_stays_unique() {
        let long = "n".repeat(250);
        let (of_long, of_longer) = (
            finalizer_name(&kind_of::<Ingress>(), &key("a", &long)),
            finalizer_name(&kind_of::<Ingress>(), &key("a", &format!("{long}x"))),
        );
        assert_ne!(of_long, of_longer);
        for reference in [of_long, of_longer] {
            let name = reference.split_once('/').map_or("", |(_, name)| name);
            assert!(name.len() <= 63 && name.ends_with(|c: char| c.is_ascii_alphanumeric()), "{name}");
        }
        assert_eq!(shorten(&"n".repeat(64)), format!("{}-{}", "n".repeat(46), "078b793dde92c425"));
    }

    #[test]
    fn the_key_of_a_referrer_is_decoded_exactly_or_not_at_all() {
        let kind = kind_of::<Ingress>();
        let mut decoded = 0;
        // Dashes at each position of names of each length, as a name is cut at dashes before its hash.
        for length in 1..=100 {
            for dashes in 0..4 {
                for position in 1..=length {
                    let name =
                        format!("{}{}{}y", "x".repeat(position), "-".repeat(dashes), "x".repeat(length - position));
                    let key = key("shop", &name);
                    let reference = finalizer_name(&kind, &key);
                    let found = referrer(&kind, &reference);
                    assert!(found.is_none() || found.as_ref() == Some(&key), "{key} as {reference} is {found:?}");
                    decoded += usize::from(found.is_some());
                    let is_whole = reference.ends_with(&format!("/{NAME_PREFIX}shop_{name}"));
                    assert!(!is_whole || found.is_some(), "{key} as {reference} is not decoded");
                }
            }
        }
        assert!(decoded > 1000, "{decoded}");
        // A name that looks as if it were shortened may be the name of the referrer or not.
        let reference = finalizer_name(&kind, &key("shop", "web-0123456789abcdef"));
        assert_eq!(referrer(&kind, &reference), None);
    }

    #[test]
    fn reference_ref14_equal_names_in_two_namespaces_have_different_finalizers() {
        let kind = kind_of::<Ingress>();
        assert_ne!(finalizer_name(&kind, &key("a", "web")), finalizer_name(&kind, &key("b", "web")));
    }
}
