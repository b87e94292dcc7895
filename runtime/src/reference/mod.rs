//! References: objects that a spec names, and that can't go while it does.
//!
//! A reference is a finalizer on the object that is named, [`id`]. Adding one before use, waiting until the object is ready,
//! and taking it away when it is no longer named is the loop's work; that of the field is to say which objects it names.

mod targets;

use crate::{cache::ObjectKey, kind::Kind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeSet,
    hash::{Hash, Hasher},
};

pub(crate) use targets::Targets;

/// A field of a spec that names objects of another kind; `#[managed(reference = Kind)]` makes it.
pub struct Reference<K: 'static> {
    /// The field by its JSON path, for messages.
    pub field: &'static str,
    /// The kind of the objects.
    pub kind: fn() -> Kind,
    /// The objects that the field names now.
    pub names: fn(&K) -> Vec<NamespacedName>,
}

impl<K> std::fmt::Debug for Reference<K> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reference").field("field", &self.field).finish_non_exhaustive()
    }
}

/// An object by its name, and by its namespace if that is another than the one of the object that names it.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub struct NamespacedName {
    /// The name.
    pub name: String,
    /// The namespace. Default: that of the object that names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
}

/// A type of a field that names objects: a name, an optional one, or several. An empty name names nothing.
#[diagnostic::on_unimplemented(
    message = "a field of type `{Self}` can't be a reference",
    label = "names no objects",
    note = "use `String`, `opgen::NamespacedName`, or an `Option`, `Vec` or `BTreeSet` of these"
)]
pub trait Names {
    /// The objects that it names.
    fn names(&self) -> Vec<NamespacedName>;
}

impl Names for String {
    fn names(&self) -> Vec<NamespacedName> {
        let name = || NamespacedName { name: self.clone(), namespace: None };
        if self.is_empty() { Vec::new() } else { vec![name()] }
    }
}

impl Names for NamespacedName {
    fn names(&self) -> Vec<NamespacedName> {
        if self.name.is_empty() { Vec::new() } else { vec![self.clone()] }
    }
}

impl<T: Names> Names for Option<T> {
    fn names(&self) -> Vec<NamespacedName> {
        self.iter().flat_map(Names::names).collect()
    }
}

impl<T: Names> Names for Vec<T> {
    fn names(&self) -> Vec<NamespacedName> {
        self.iter().flat_map(Names::names).collect()
    }
}

impl<T: Names> Names for BTreeSet<T> {
    fn names(&self) -> Vec<NamespacedName> {
        self.iter().flat_map(Names::names).collect()
    }
}

/// An object that a spec names, with the field that does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Named {
    pub(crate) field: &'static str,
    pub(crate) kind: Kind,
    pub(crate) key: ObjectKey,
}

impl Named {
    /// What the references of an object name, each once.
    pub(crate) fn all<K>(references: &[Reference<K>], object: &K, namespace: Option<&str>) -> Vec<Self> {
        let mut all = Vec::<Self>::new();
        for reference in references {
            let kind = (reference.kind)();
            for name in (reference.names)(object) {
                let namespace = name.namespace.as_deref().or(namespace).filter(|_| kind.namespaced);
                let named =
                    Self { field: reference.field, kind: kind.clone(), key: ObjectKey::new(namespace, &name.name) };
                if !all.iter().any(|known| known.kind == named.kind && known.key == named.key) {
                    all.push(named);
                }
            }
        }
        all
    }
}

/// What the name part of every reference begins with, so that one is known from any other finalizer (unikorn REF4, R9): names
/// of objects and namespaces have no underscores.
const MARK: &str = "reference_";

/// The API server's limit for the part of a finalizer after the slash (unikorn REF12).
const LONGEST: usize = 63;

/// The finalizer by which an object says that it names another: `<plural>.<group>/reference_<namespace>_<name>`.
///
/// Two objects never share one (unikorn REF14). What is longer than a finalizer may be ends in a hash (REF12); for a kind of the
/// core group the plural alone is before the slash.
pub(crate) fn id(kind: &Kind, key: &ObjectKey) -> String {
    let namespace = key.namespace().map(|namespace| format!("{namespace}_")).unwrap_or_default();
    format!("{}/{}", kind.full_name(), shortened(&format!("{MARK}{namespace}{}", key.name())))
}

/// The beginning of the references from objects of a kind, in one namespace or in all.
pub(crate) fn of_kind(kind: &Kind, namespace: Option<&str>) -> String {
    let namespace = namespace.map(|namespace| format!("{namespace}_")).unwrap_or_default();
    format!("{}/{MARK}{namespace}", kind.full_name())
}

/// Whether a finalizer is a reference.
pub(crate) fn is_reference(finalizer: &str) -> bool {
    finalizer.split_once('/').is_some_and(|(_, name)| name.starts_with(MARK))
}

/// A reference for people: `webapps.demo.example.com shop/blue`.
pub(crate) fn said(finalizer: &str) -> String {
    let (kind, name) = finalizer.split_once('/').unwrap_or((finalizer, ""));
    format!("{kind} {}", name.trim_start_matches(MARK).replacen('_', "/", 1))
}

fn shortened(name: &str) -> String {
    if name.len() <= LONGEST {
        return name.to_owned();
    }
    // Stable across releases of Rust and of opgen, as it is stored: FNV-1a.
    let mut hash = Fnv(0xcbf2_9ce4_8422_2325);
    name.as_bytes().iter().for_each(|byte| byte.hash(&mut hash));
    let kept: String = name.chars().take(LONGEST - 17).collect();
    format!("{}-{:016x}", kept.trim_end_matches(['-', '.']), hash.finish())
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
        assert_eq!(said(&reference), "ingresses.networking.k8s.io shop/foo");
        assert_eq!(id(&kind_of::<Namespace>(), &ObjectKey::cluster("shop")), "namespaces/reference_shop");
    }

    #[test]
    fn reference_ref4_other_finalizers_are_none() {
        for foreign in ["foregroundDeletion", "kubernetes.io/pvc-protection", "reference.example.com/webapp", "unikorn"]
        {
            assert!(!is_reference(foreign), "{foreign}");
        }
        assert!(is_reference(&id(&kind_of::<ConfigMap>(), &key("a", "b"))));
    }

    #[test]
    fn reference_ref12_a_long_name_fits_and_stays_apart() {
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
    fn reference_ref14_names_in_two_namespaces_stay_apart() {
        let kind = kind_of::<Ingress>();
        assert_ne!(id(&kind, &key("a", "web")), id(&kind, &key("b", "web")));
    }

    #[test]
    fn a_field_names_what_its_type_can() {
        let named = |name: &str| NamespacedName { name: name.into(), namespace: None };
        assert_eq!("a".to_owned().names(), [named("a")]);
        assert!(String::new().names().is_empty() && None::<String>.names().is_empty());
        assert_eq!(vec!["a".to_owned(), "b".to_owned()].names(), [named("a"), named("b")]);
        assert_eq!(Some(named("a")).names(), [named("a")]);
    }
}
